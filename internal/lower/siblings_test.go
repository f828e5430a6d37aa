package lower_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
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

// TestSiblingsAgree: the candidates of the last level, as siblings find them, are those that the last level
// finds alone. For siblings the vertex of the level before is not known until each is tested with it.
func TestSiblingsAgree(t *testing.T) {
	g := graph.FromEdges(8, [][2]uint32{
		{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 5}, {4, 6}, {5, 6}, {5, 7}, {6, 7},
	}, false)
	for _, name := range []string{"clique(4)", "cycle(4)", "diamond", "star(3)"} {
		for _, induced := range []bool{false, true} {
			ps, err := pattern.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			ps[0].Induced = induced
			pl, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot, NoTail: true})
			if err != nil {
				t.Fatal(err)
			}
			code, err := lower.Plan(pl, lower.Options{View: lower.Checks, Choices: true, Siblings: true})
			if err != nil {
				t.Fatal(err)
			}
			if !code.Checks.Siblings {
				t.Fatalf("%s, induced %v: no tests for siblings", name, induced)
			}
			last := len(pl.Levels) - 1
			level, siblings := newCandidates(code.Program, "Level", last), newCandidates(code.Program, "Siblings", last)
			m, err := interp.New(code.Program, nil)
			if err != nil {
				t.Fatal(err)
			}
			together := code.Program.Func("Siblings", last, "together")
			some, tuples := 0, 1
			for range last {
				tuples *= g.NumVertices()
			}
			for k := range tuples {
				at := make([]uint32, last+1)
				for i, rest := 0, k; i < last; i, rest = i+1, rest/g.NumVertices() {
					at[i] = uint32(rest % g.NumVertices())
				}
				u := at[last-1]
				want := level.of(m, at)
				at[last-1] = ^uint32(0) // not known
				var got []uint32
				for _, v := range siblings.of(m, at) {
					if m.Call(together, interp.U32(u), interp.U32(v)).N != 0 {
						got = append(got, v)
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s, induced %v, %v and %d: candidates %d, want %d", name, induced, at, u, got, want)
				}
				some += len(got)
			}
			if some == 0 {
				t.Errorf("%s, induced %v: no candidates", name, induced)
			}
		}
	}
}

// candidates are functions of one owner in the Checks view.
type candidates struct{ pivot, which, valid *kir.Func }

// newCandidates finds the functions, and adds one to the program that says which list the pivot is.
func newCandidates(p *kir.Program, owner string, level int) candidates {
	c := candidates{pivot: p.Func(owner, level, "pivot"), valid: p.Func(owner, level, "valid")}
	m, which, list := &kir.Var{Name: "m", T: kir.ArrayOf(kir.U32, 0)}, &kir.Var{Name: "which", T: kir.T(kir.U32)}, &kir.Var{Name: "list", T: kir.T(kir.Set)}
	c.which = &kir.Func{Family: owner, Index: level, Name: "which", Params: []*kir.Var{m}, Result: kir.T(kir.U32), Body: []kir.Stmt{
		&kir.Let{Var: which, Init: kir.C(0)},
		&kir.Let{Var: list, Init: kir.Invoke{Fn: c.pivot, Args: []kir.Expr{kir.R(m), kir.R(which)}}},
		&kir.Return{X: kir.R(which)},
	}}
	p.Funcs = append(p.Funcs, c.which)
	return c
}

// of are the candidates for a partial match, ascending.
func (c candidates) of(m *interp.Machine, at []uint32) (out []uint32) {
	match := interp.Array(at)
	which := m.Call(c.which, match)
	for _, v := range m.Call(c.pivot, match, interp.U32(0)).List {
		if m.Call(c.valid, match, which, interp.U32(v)).N != 0 {
			out = append(out, v)
		}
	}
	return out
}
