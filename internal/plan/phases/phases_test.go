package phases_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// data is a graph with the vertex labels A and B and the edge labels X and Y.
func data() *graph.Graph {
	s := nodiff.Spec{N: 12, EdgeLabels: true}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{[]string{"A", "B"}[v%2]})
		for u := range v {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v, Label: []string{"X", "Y"}[(u+v)%3%2]})
		}
	}
	return s.Build()
}

// kinds are the patterns of phases; e is an elimination.
func kinds(all []phases.Phase) string {
	var kinds []string
	for _, x := range all {
		kind := strings.TrimPrefix(x.Kind(), "pattern ")
		if x.Pattern == phases.Eliminate {
			kind = "e"
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}

// TestPhases: which phases plans in GENEVA's order have, for trees with each of its matching
// patterns, and for cycles, which are closed while rows are made or by eliminations.
func TestPhases(t *testing.T) {
	g := data()
	for _, c := range []struct{ pattern, order, want string }{
		{"(a:A)-[:X]-(b:B)", "", "0 0"},
		{"(a:A)-[:X]-(b:B), (a)-[:X]-(c:B)", "a,b,c", "0 1"},
		{"(a:A)-[:X]-(b:B), (a)-[:X]-(c:A)", "a,b,c", "0 3"},
		{"(a:A)-[:X]-(b:B), (a)-[:Y]-(c:A)", "a,b,c", "0 0 0"}, // two relations
		{"(a:A)-[:Y]-(b:B), (a)-[:X]-(c:A), (b)-[:X]-(d:B)", "a,b,c,d", "0 0 4"},
		{"(a:A)-[:Y]-(b:B), (a)-[:X]-(c:A), (b)-[:X]-(d:A)", "a,b,c,d", "0 0 2"},
		{"(a:A)-[:X]-(b:B), (a)-[:X]-(c:B), (a)-[:X]-(d:B), (a)-[:X]-(e:B)", "a,b,c,d,e", "0 5"},
		{"(a:A)-[:X]-(b:B), (a)-[:X]-(c:B), (a)-[:X]-(d:A), (a)-[:X]-(e:A)", "a,b,c,d,e", "0 6"},
		{"(a:A)-[:Y]-(b:B), (a)-[:X]-(c:B), (a)-[:X]-(d:B), (b)-[:X]-(e:A)", "a,b,c,d,e", "0 0 7"},
		// Cycles: at most two vertices of the core in a phase; edges inside a phase are looked for
		// after it, those of one relation together.
		{"(a:A)-[:X]-(b:B)-[:X]-(c:B)-[:X]-(a)", "a,b,c", "0 1 e"},
		{"(a:A)-[:X]-(b:B)-[:Y]-(c:B)-[:X]-(a)", "a,b,c", "0 1 e"},
		{"(a:A)-[:X]-(b:B)-[:X]-(c:A)-[:X]-(d:B)-[:X]-(a)", "a,b,d,c", "0 1 0"},
		{"(a:A)-[:X]-(b:B), (a)-[:X]-(c:B), (a)-[:X]-(d:B), (b)-[:X]-(c)-[:X]-(d)-[:X]-(b)", "a,b,c,d", "0 1 e 0"},
	} {
		q, err := gql.Parse("MATCH " + c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		p := q.Pattern
		o := plan.Options{Root: plan.NoRoot, Order: "geneva", Listing: true}
		if c.order != "" {
			if o.Given, err = plan.GivenOrder(c.order, p, false); err != nil {
				t.Fatal(err)
			}
			o.Order = "given"
		}
		pl, err := planner.Compile(g, p, o)
		if err != nil {
			t.Fatal(err)
		}
		n := len(pl.Levels)
		multi, after := phases.Multi(pl, n), phases.MultiAfter(pl, n)
		auto := phases.Auto(pl, n, func(int, int) bool { return true })
		one := phases.Auto(pl, n, func(int, int) bool { return false })
		if got := kinds(after); got != c.want {
			t.Errorf("%s in the order %s: phases %s, want %s", c.pattern, c.order, got, c.want)
		}
		// With edges looked for inside, the phases are the same without eliminations.
		if got, want := kinds(multi), strings.ReplaceAll(c.want, " e", ""); got != want {
			t.Errorf("%s in the order %s: phases %s, want %s", c.pattern, c.order, got, want)
		}
		if len(one) != n || kinds(one) != kinds(phases.Single(pl, n)) {
			t.Errorf("%s in the order %s: %s where no phase of several vertices pays", c.pattern, c.order, kinds(one))
		}
		if len(auto) > len(multi) {
			t.Errorf("%s in the order %s: auto has the phases %s", c.pattern, c.order, kinds(auto))
		}
		// Each level once, and each backward neighbour once, whichever phases there are.
		for _, all := range [][]phases.Phase{multi, after, auto, one, phases.Single(pl, n)} {
			levels, backs, want := 0, 0, 0
			for _, x := range all {
				levels += len(x.Levels())
				backs += len(x.Close)
				for _, group := range x.Groups {
					n := len(group.With) + len(group.Inside)
					if !group.Free() {
						n++
					}
					backs += n * len(group.Levels)
				}
			}
			for l := range pl.Levels {
				want += len(pl.Levels[l].Back)
			}
			if levels != len(pl.Levels) || backs != want {
				t.Errorf("%s: %d levels of %d, %d backward neighbours of %d", c.pattern, levels, len(pl.Levels), backs, want)
			}
		}
	}
}

// TestWhy: a phase says why it ends where it does.
func TestWhy(t *testing.T) {
	g := data()
	const closed = "(a:A)-[:X]-(b:B), (a)-[:X]-(c:B), (a)-[:X]-(d:B), (b)-[:X]-(c)-[:X]-(d)-[:X]-(b)"
	for _, c := range []struct{ pattern, order, multi, auto, single string }{
		{"(a:A)-[:X]-(b:B), (a)-[:Y]-(c:A)", "a,b,c", "pattern 0, without c: it is in no list N[:X] of an earlier phase", "(pattern 3)", "without c: one vertex at a time is expected to be faster"},
		{"(a:A)-[:X]-(b:B), (b)-[:X]-(c:A)", "a,b,c", "pattern 0, without c: it is in no list N[:X] of an earlier phase", "without c: it is in no list of an earlier phase", ""},
		{"(a:A)-[:X]-(b:B), (a)-[:X]-(c:B)", "a,b,c", "(pattern 1)", "(pattern 1)", ""},
		{closed, "a,b,c,d", "c in N[:X](a) ∩ N[:X](b) (pattern 1, without d: of vertices in cycles, a phase has at most two", "without c: tables are expected to be smaller", ""},
		{"(a:A)-[:X]-(b:A WHERE id(b) > 3), (a)-[:X]-(c:B), (a)-[:X]-(d:A)", "a,b,c,d", "pattern 3, without d: a phase has at most two sets of candidates", "", ""},
		{"INDUCED (a:A)-[:X]-(b:B), (a)-[:X]-(c:B), (a)-[:X]-(d:B)", "a,b,c,d", "pattern 1, without d: with an edge inside, a phase has two vertices", "", ""},
	} {
		q, err := gql.Parse("MATCH " + c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		given, err := plan.GivenOrder(c.order, q.Pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		pl, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: given, Listing: true})
		if err != nil {
			t.Fatal(err)
		}
		pays := true
		auto := func() []phases.Phase { return phases.Auto(pl, len(pl.Levels), func(int, int) bool { return pays }) }
		if got := phases.Multi(pl, len(pl.Levels))[1].String(pl); !strings.Contains(got, c.multi) {
			t.Errorf("%s: %q, want %q", c.pattern, got, c.multi)
		}
		if got := auto()[1].String(pl); !strings.Contains(got, c.auto) {
			t.Errorf("%s: auto: %q, want %q", c.pattern, got, c.auto)
		}
		pays = false
		if got := auto()[1].String(pl); !strings.Contains(got, c.single) {
			t.Errorf("%s: auto, where none pays: %q, want %q", c.pattern, got, c.single)
		}
	}
}
