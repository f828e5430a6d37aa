package interp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/view"
)

// TestEdgeInfo: of an input with a property, neighbor and edge_info have an item for
// each data edge at a vertex, by the property, then by the other ends; edges has as
// many. That is what mk_graph makes of the same edges.
func TestEdgeInfo(t *testing.T) {
	const text = `input D: Graph[int, 'time']
input E: List[Tuple[int, 2]]
input I: List[int]
let M = mk_graph(E, einfo=I)
def f(v):
    apply(lambda w, t: emit(mk_tuple(val=[v, w, t])), None, neighbor(D, v), edge_info(D, v))
    apply(lambda w, t: emit(mk_tuple(val=[v - 100, w, t])), None, neighbor(M, v), edge_info(M, v))
apply(f, None, vertices(D))
apply(lambda e: emit(mk_tuple(val=[1000, get(e, 0), get(e, 1)])), None, edges(D))
apply(lambda e: emit(mk_tuple(val=[2000, get(e, 0), get(e, 1)])), None, edges(M))
`
	p := matchatest.Build(t, text)
	rapid.Check(t, func(t *rapid.T) {
		columns := nodiff.Spec{Directed: rapid.Bool().Draw(t, "directed"), EdgeLabels: true, Times: true}
		g := columns.Like(6).Draw(t, "D").Build()
		var edges [][3]types.Word
		for i, v := range edgesOf(g) {
			u, x := types.Word(g.Edges.Src[i]), types.Word(g.Edges.Time[i])
			edges = append(edges, [3]types.Word{u, types.Word(v), x})
			if !g.Directed {
				edges = append(edges, [3]types.Word{types.Word(v), u, x})
			}
		}
		slices.SortFunc(edges, func(a, b [3]types.Word) int { return byInfo(a[:], b[:]) })
		in := map[string]data.Input{"D": {Graph: g, View: view.Of{Graph: g}}}
		var pairs, infos []types.Word
		want := map[types.Word][][]types.Word{}
		for _, e := range edges {
			pairs, infos = append(pairs, e[0], e[1]), append(infos, e[2])
			want[0] = append(want[0], e[:])
			want[-100] = append(want[-100], []types.Word{e[0] - 100, e[1], e[2]})
			for _, of := range []types.Word{1000, 2000} {
				want[of] = append(want[of], []types.Word{of, e[0], e[1]})
			}
		}
		in["E"], in["I"] = data.Input{Items: pairs}, data.Input{Items: infos}
		set, err := data.Bind(p, in)
		if err != nil {
			t.Fatal(err)
		}
		got := map[types.Word][][]types.Word{}
		if _, err := Run(context.Background(), p, set, Options{Emit: func(row []types.Word) bool {
			of := types.Word(0)
			if row[0] >= 1000 {
				of = row[0]
			} else if row[0] < 0 {
				of = -100
			}
			got[of] = append(got[of], slices.Clone(row))
			return true
		}}); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		// The bounds that memory is laid out by.
		degree := map[types.Word]int{}
		most := 0
		for _, e := range edges {
			degree[e[0]]++
			most = max(most, degree[e[0]])
		}
		facts := p.Inputs[0].Type.Facts
		if set.Most(facts.Edges) != int64(len(edges)) || set.Most(facts.Degree) != int64(most) {
			t.Fatalf("bounds %d and %d of %d edges, at most %d at a vertex", set.Most(facts.Edges), set.Most(facts.Degree), len(edges), most)
		}
	})
}

// TestSubgraphInfo: a subgraph has the property of the data edges that it has, each for
// itself, in the direction of its text.
func TestSubgraphInfo(t *testing.T) {
	for _, c := range []struct {
		text        string
		along, back bool
		accepts     func(label string, time int64) bool
	}{
		{"(a)-->(b)", true, false, func(string, int64) bool { return true }},
		{"(a)-[:X]->(b)", true, false, func(l string, _ int64) bool { return l == "X" }},
		{"(a)<-[:X]-(b)", false, true, func(l string, _ int64) bool { return l == "X" }},
		{"(a)-[e WHERE e.time > 2]-(b)", true, true, func(_ string, x int64) bool { return x > 2 }},
		{"(a)-[:Nothing]-(b)", true, true, func(string, int64) bool { return false }},
	} {
		p := matchatest.Build(t, `input D: Graph[int, 'time']
let S = subgraph(D, '`+c.text+`')
def f(v):
    apply(lambda w, t: emit(mk_tuple(val=[v, w, t])), None, neighbor(S, v), edge_info(S, v))
apply(f, None, vertices(S))
return size(edges(S))
`)
		rapid.Check(t, func(t *rapid.T) {
			columns := nodiff.Spec{Directed: rapid.Bool().Draw(t, "directed"), EdgeLabels: true, Times: true}
			g := columns.Like(6).Draw(t, "D").Build()
			var want [][]types.Word
			for i := range edgesOf(g) {
				label := ""
				if l := g.Edges.Label; l != nil && l[i] != graph.NoLabel {
					label = g.EdgeLabels[l[i]]
				}
				u, v, x := types.Word(g.Edges.Src[i]), types.Word(g.Edges.Dst[i]), g.Edges.Time[i]
				if !c.accepts(label, x) {
					continue
				}
				if c.along || !g.Directed {
					want = append(want, []types.Word{u, v, types.Word(x)})
				}
				if c.back || !g.Directed {
					want = append(want, []types.Word{v, u, types.Word(x)})
				}
			}
			slices.SortFunc(want, byInfo)
			set, err := data.Bind(p, map[string]data.Input{"D": {Graph: g, View: view.Of{Graph: g}}})
			if err != nil {
				t.Fatal(err)
			}
			var got [][]types.Word
			r, err := Run(context.Background(), p, set, Options{Emit: func(row []types.Word) bool {
				got = append(got, slices.Clone(row))
				return true
			}})
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || r.Words[0] != types.Word(len(want)) {
				t.Fatalf("%s: %v %v (%v), want %v", c.text, got, r.Words, err, want)
			}
		})
	}
}

// byInfo compares edges (from, to, information): by from, then by the information.
func byInfo(a, b []types.Word) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]))
}

// edgesOf are the rows of a graph's table of edges.
func edgesOf(g *graph.Graph) []uint32 {
	if g.Edges == nil {
		return nil
	}
	return g.Edges.Dst
}

// TestEdgeInfoKinds: a declaration that is not the property's type is a mistake at the
// property, but ints are floats where these are declared.
func TestEdgeInfoKinds(t *testing.T) {
	one, two := int64(1), int64(2)
	all := nodiff.Spec{N: 3, Directed: true, Times: true, Weights: true, EdgeLabels: true,
		Edges: []nodiff.SpecEdge{{U: 0, V: 1, Time: 7, W: &one}, {U: 1, V: 2, Time: 5, W: &two}}}
	some := all
	some.Edges = []nodiff.SpecEdge{{U: 0, V: 1, Time: 7, W: &one}, {U: 1, V: 2, Time: 5}}
	none := nodiff.Spec{N: 3, Directed: true, Times: true}
	for _, c := range []struct {
		declared, want string
		spec           nodiff.Spec
	}{
		{"int, 'time'", "= 12\n", all},
		{"float, 'time'", "= 12\n", all},
		{"int, 'w'", "= 3\n", all},
		{"int in 1..2, 'w'", "= 3\n", all},
		{"float, 'w'", "= 3\n", all},
		{"int, 'w'", "= 0\n", none},
		{"int, 'w'", "before: line 1, column 21: the edge from 10 to 20 has no value of the property w, and every edge needs one", some},
		{"int in 2..3, 'w'", "before: line 1, column 29: the property w of an edge: 1 is outside of 2..3", all},
		{"int, 'x'", "before: line 1, column 21: no edge has the property x: they have w, time", all},
	} {
		p := matchatest.Build(t, "input D: Graph["+c.declared+"]\nreturn sum(apply(lambda v: sum(edge_info(D, v)), None, vertices(D)))\n")
		g := c.spec.Build()
		got := run(p, map[string]data.Input{"D": {Graph: g, View: view.Of{Graph: g}}}, Options{})
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.declared, got, c.want)
		}
	}
	p := matchatest.Build(t, "input D: Graph[bool, 'w']\nreturn size(apply(lambda x: x, lambda x: x, edge_info(D, 0)))\n")
	g := all.Build()
	const want = "before: line 1, column 22: the property w of edges is int, and the program declares bool\n  input D: Graph[bool, 'w']\n                       ^\nhint: input D: Graph[int, …]"
	if got := run(p, map[string]data.Input{"D": {Graph: g, View: view.Of{Graph: g}}}, Options{}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
