package format

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// isOwn reports whether a file begins as weft's own form does.
func isOwn(head []byte) bool { return graph.IsFile(head) }

// readOwn maps a file in weft's own form. A compressed one, or one from a pipe,
// cannot be mapped: it is unpacked into a temporary file first.
func (r *reading) readOwn() (*graph.Graph, error) {
	switch {
	case len(r.o.Columns) > 0 || r.o.Skip > 0 || r.o.Header != GuessHeader:
		return nil, r.errorf(ErrColumns, "a .weft file has no columns to name and no lines to skip")
	case r.o.KeepDuplicates:
		return nil, r.errorf(ErrColumns, "duplicates were kept or merged when the graph was converted; convert the original again")
	case r.o.Labels != "" || r.o.Vertices != "" || r.o.VertexTable != nil || r.o.VertexRows != nil:
		return nil, r.errorf(ErrColumns, "a .weft file holds its vertices; side files go with the formats that lack them")
	}
	path := r.src.name
	if !r.src.plainFile() {
		if !isOwn(r.head) { // it may have no end
			return nil, &Error{File: r.src.name, Offset: 0, Cause: wrapf(ErrHeader, "a .weft file begins with weft's mark")}
		}
		tmp, err := r.unpack()
		if err != nil {
			return nil, err
		}
		path = tmp.Path()
		defer tmp.Remove() // the mapping stays valid where the system can map
	}
	g, err := graph.Open(r.ctx, path, graph.OpenOptions{Threads: r.o.Threads, Name: r.src.name, Cache: r.o.Cache, Files: r.o.Files})
	if err != nil {
		return nil, &Error{File: r.src.name, Offset: -1, Cause: unnamed{err, r.src.name}}
	}
	if d := r.o.Direction; d == Directed && !g.Directed || d == Undirected && g.Directed {
		is := map[bool]string{true: "directed", false: "undirected"}[g.Directed]
		_ = g.Close()
		return nil, r.errorf(ErrHeader, "the graph was converted as %s; convert the original again", is)
	}
	g.Read.DirectionGuessed = g.Read.DirectionGuessed && r.o.Direction == FileDirection
	return g, nil
}

// unnamed is an error without the name of the file before it, which may be a
// temporary one's.
type unnamed struct {
	err  error
	name string
}

func (e unnamed) Error() string { return strings.TrimPrefix(e.err.Error(), e.name+": ") }
func (e unnamed) Unwrap() error { return e.err }

func (r *reading) unpack() (*disk.Temp, error) {
	in, err := r.src.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := disk.NewTempFile(vfs.Or(r.o.Files), "unpacked")
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, ctxReader{r.ctx, in})
	var full *disk.TempError
	if err != nil && !errors.As(err, &full) {
		err = r.src.readError(err, n)
	}
	if err != nil {
		f.Remove()
		return nil, err
	}
	return f, nil
}

// ctxReader ends a copy when the context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
