package lower_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestSiblings: siblings share the tests of the last level where it is walked, is next to a
// vertex before the level before it, and chooses no edges. Elsewhere there is nothing to share.
func TestSiblings(t *testing.T) {
	g := graph.FromEdges(4, [][2]uint32{{0, 1}, {1, 2}, {0, 2}, {2, 3}}, false)
	path, triangle := [][2]int{{0, 1}, {1, 2}}, [][2]int{{0, 1}, {1, 2}, {0, 2}}
	for name, c := range map[string]struct {
		edges [][2]int
		order []int
		tail  bool   // the last levels are closed
		edge  string // the name of the first edge
		want  bool
	}{
		"a triangle":             {edges: triangle, order: []int{0, 1, 2}, want: true},
		"a path from its middle": {edges: path, order: []int{1, 0, 2}, want: true},
		"a path from its end":    {edges: path, order: []int{0, 1, 2}},
		"an edge":                {edges: path[:1], order: []int{0, 1}},
		"a tail":                 {edges: path, order: []int{1, 0, 2}, tail: true},
		"an edge that is chosen": {edges: triangle, order: []int{0, 1, 2}, edge: "e"},
	} {
		p := &pattern.Pattern{Vertices: make([]pattern.Vertex, len(c.order))}
		for _, e := range c.edges {
			p.Edges = append(p.Edges, pattern.Edge{From: e[0], To: e[1], Min: 1, Max: 1})
		}
		p.Edges[0].Name = c.edge
		pl, err := nest(g, p, plan.Options{Root: plan.NoRoot, NoTail: !c.tail, Order: "given", Given: c.order})
		if err != nil {
			t.Fatal(err)
		}
		o := lower.Options{View: lower.Checks, Choices: true, Counting: c.tail, Siblings: true}
		if got := lower.ShapeOf(pl, o).Siblings; got != c.want {
			t.Errorf("%s: siblings share tests: %t, want %t", name, got, c.want)
		}
		code, err := lower.Plan(pl, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := code.Checks.Siblings; got != c.want {
			t.Errorf("%s: the program has tests for siblings: %t, want %t", name, got, c.want)
		}
	}
}
