package weft

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/plan"
)

// TestArrowsGuessed: if it is only a guess that edges have no direction, a query with arrows has a warning, and no
// other query has it. A graph in weft's own form keeps the fact.
func TestArrowsGuessed(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, c := range []struct {
		text    string
		options []Option
		guessed bool
	}{
		{"1 2\n2 3\n3 1\n", nil, true},
		{"node1,node2\n1,2\n2,3\n3,1\n", nil, true},
		{"source,target\n1,2\n2,3\n3,1\n", nil, false},
		{"1 2\n2 3\n3 1\n", []Option{WithDirected(true)}, false},
		{"1 2\n2 3\n3 1\n", []Option{WithDirected(false)}, false},
		{"% sym unweighted\n1 2\n2 3\n3 1\n", nil, false},
	} {
		g, err := Read(ctx, strings.NewReader(c.text), c.options...)
		if err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(dir, "g.weft")
		if err := g.Write(ctx, own, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		h, err := Open(ctx, own)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*Graph{g, h} {
			if g.Read().DirectionGuessed != c.guessed {
				t.Errorf("%q: guessed: %v", c.text, !c.guessed)
			}
			for query, arrows := range map[string]bool{
				"MATCH (a)-->(b)-->(c)": true, "MATCH (a)--(b)--(c)": false, "MATCH (a)--(b) WHERE EXISTS { (b)-->(c) }": true, "feed_forward_loop": true, "triangle": false,
			} {
				q, err := Parse(query)
				if !strings.Contains(query, " ") {
					q, err = PatternByName(query)
				}
				if err != nil {
					t.Fatal(err)
				}
				r, err := g.Count(ctx, q)
				if err != nil || slices.Contains(r.Notes, plan.ArrowsGuessed) != (arrows && c.guessed) {
					t.Errorf("%q, %s: %v, %q", c.text, query, err, r.Notes)
				}
			}
			m := matchaProgram(t, "input G: Graph\nreturn size(edges(subgraph(G, '(a)-->(b)')))\n")
			if r, err := m.Run(ctx, map[string]any{"G": g}, nil); err != nil || slices.Contains(r.Notes, plan.ArrowsGuessed) != c.guessed {
				t.Errorf("%q, a program: %v, %q", c.text, err, r.Notes)
			}
		}
		_ = h.Close()
		if h, err = Open(ctx, own, WithDirected(g.Directed())); err != nil || h.Read().DirectionGuessed {
			t.Errorf("%q: %v, and the direction that was asked for is a guess", c.text, err)
		}
		_ = h.Close()
	}
}
