package irgen

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestBuckets: workers make graphs of any list, with chunks of vertices and long lists of edges, and nothing of
// them is made before.
func TestBuckets(t *testing.T) {
	for _, b := range matchatest.Buckets {
		in := matchatest.BucketInputs(b.Text, 1500)
		for _, debug := range []bool{false, true} {
			if !compare(t, b.Text, in, nil, debug) {
				t.Errorf("it fails:\n%s", b.Text)
			}
		}
		p := matchatest.Build(t, b.Text)
		passes.Optimize(p)
		set, err := data.Bind(p, in)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Lower(context.Background(), p, set)
		if err != nil {
			t.Fatal(err)
		}
		parallel := 0
		for _, ph := range c.Phases {
			if ph.Item != nil {
				parallel++
			}
		}
		for _, g := range c.Program.Globals {
			if g.Kind != kir.U32 && g.Name != "E" && g.Name != "T" {
				t.Errorf("%s is made before:\n%s", g.Name, b.Text)
			}
		}
		if parallel != b.Parallel {
			t.Errorf("%d parallel phases, want %d:\n%s", parallel, b.Parallel, b.Text)
		}
	}
}

// TestNoBuckets: lists of which nothing is known, or that may fail, are made into graphs before.
func TestNoBuckets(t *testing.T) {
	for _, text := range []string{
		"input E: List[Tuple[int, 3]]\nlet D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0) * 7, get(e, 1)]), None, E))\nreturn size(neighbor(D, 7))\n",
		"input E: List[Tuple[int, 3]]\nlet D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0), 9 / get(e, 2)]), lambda e: get(e, 2) > 0, E))\nreturn size(neighbor(D, 7))\n",
		"input E: List[Tuple[int, 3]]\nlet D = mk_graph(apply(lambda e: mk_tuple(val=[1000000000000 - get(e, 0), 1]), None, E))\nreturn size(neighbor(D, 1000000000000))\n",
	} {
		if !compare(t, text, matchatest.BucketInputs(text, 40), nil, false) {
			t.Errorf("it fails:\n%s", text)
		}
	}
}
