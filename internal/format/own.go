package format

import "github.com/weftgraph/weft/internal/graph"

// isOwn reports whether a file begins as weft's own form does.
func isOwn(head []byte) bool { return false }

func (r *reading) readOwn() (*graph.Graph, error) { return nil, nil }

func (w *writing) own(path string, o WriteOptions) error {
	return wrapf(ErrUnknown, "weft's own form cannot be written yet")
}
