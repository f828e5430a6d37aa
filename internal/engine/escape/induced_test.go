package escape

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/pattern"
)

// TestShapes: graphs of five vertices with a shape of a connected one are
// isomorphic to it.
func TestShapes(t *testing.T) {
	for k := 3; k <= 5; k++ {
		byShape := map[shape]string{}
		for _, p := range motifs(k) {
			byShape[shapeOf(k, p.Edges)] = p.Canonical()
		}
		if len(byShape) != len(motifs(k)) {
			t.Fatalf("%d shapes of %d patterns of %d vertices", len(byShape), len(motifs(k)), k)
		}
		clique := motifs(k)[len(motifs(k))-1]
		for set := range 1 << len(clique.Edges) {
			p := &pattern.Pattern{Vertices: clique.Vertices}
			for i, e := range clique.Edges {
				if set>>i&1 != 0 {
					p.Edges = append(p.Edges, e)
				}
			}
			if len(p.Edges) < k-1 {
				continue
			}
			want, known := byShape[shapeOf(k, p.Edges)]
			if known != p.Connected() || known && want != p.Canonical() {
				t.Fatalf("%s: taken for another pattern", pattern.Format(p))
			}
		}
	}
}

func motifs(k int) []*pattern.Pattern {
	ps, err := pattern.ByName(fmt.Sprintf("motifs(%d)", k))
	if err != nil {
		panic(err)
	}
	return ps
}
