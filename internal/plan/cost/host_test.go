package cost_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestOnHost: a join is expected to be faster where matches go through many levels, and a nest where a level reads many
// elements or has lists to intersect for each match. Times grow with each part of a search.
func TestOnHost(t *testing.T) {
	level := func(matches, elements float64) plan.Level {
		return plan.Level{Estimate: matches, Cost: cost.RowCost*matches + elements}
	}
	tail := func(elements float64) plan.Level { return plan.Level{Estimate: 1e6, Cost: elements} }
	deep := []plan.Level{level(10, 0), level(1e4, 0), level(1e5, 0), level(2e5, 0), tail(0)}
	for _, c := range []struct {
		name   string
		levels []plan.Level
		join   bool
	}{
		{"many levels", deep, true},
		{"one level for all", []plan.Level{level(1e5, 0), tail(0)}, false},
		{"lists to intersect", []plan.Level{level(10, 0), level(1e4, 0), level(1e5, 1e6), level(2e5, 2e6), tail(0)}, false},
		{"long lists at the end", []plan.Level{level(10, 0), level(1e4, 0), level(1e5, 0), level(2e5, 0), tail(1e8)}, false},
		{"next to nothing", []plan.Level{level(1, 0), tail(0)}, false},
	} {
		p := &plan.Plan{Levels: c.levels}
		p.Tail.K = 1
		got := cost.OnHost(p)
		if got.Nest <= 0 || got.Join <= 0 || (got.Join < got.Nest) != c.join {
			t.Errorf("%s: %+v, want a faster join: %v", c.name, *got, c.join)
		}
	}
	least := cost.OnHost(&plan.Plan{Levels: deep, Tail: plan.Tail{K: 1}})
	for l := range deep {
		more := append([]plan.Level(nil), deep...)
		if more[l].Cost += 1e6; l < len(deep)-1 { // matches and their visits, and then elements alone
			more[l].Estimate += 1e6 / cost.RowCost
		}
		got := cost.OnHost(&plan.Plan{Levels: more, Tail: plan.Tail{K: 1}})
		if got.Nest <= least.Nest || got.Join <= least.Join {
			t.Errorf("more work at level %d: %+v, and %+v without", l, *got, *least)
		}
	}
}

// bound binds a pattern to a graph.
func bound(t *testing.T, g *graph.Graph, text string) *bind.Binding {
	t.Helper()
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWalksFromFewRoots: walks begin at vertices that have the neighbours of a root, where few have. A few walks then
// know a search that most vertices of the graph say nothing about.
func TestWalksFromFewRoots(t *testing.T) {
	s := nodiff.Spec{N: 20000, Directed: true, EdgeLabels: true}
	for v := range 20 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: 100 * v, V: 100*v + 1, Label: "X"})
		for k := range 5 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: 100*v + 1, V: 100*v + 2 + k, Label: "Y"}, nodiff.SpecEdge{U: 100*v + 2 + k, V: 100*v + 10, Label: "Z"})
		}
	}
	q, err := gql.Parse("MATCH (a)-[:X]->(b)-[:Y]->(c)-[:Z]->(d)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	o := plan.Options{}
	cost.Walk(p, &o, 5)
	for l, want := range []float64{0, 20, 100, 100} {
		if got := p.Levels[l].Estimate; l > 0 && (got < want*0.99 || got > want*1.01) {
			t.Errorf("level %d: %g matches expected by five walks, there are %g", l, got, want)
		}
	}
}

// TestRefine: the degrees of a few candidates do for a short search. For a long one those of more are read, once.
func TestRefine(t *testing.T) {
	s := nodiff.Spec{N: 4000, Directed: true, EdgeLabels: true}
	for v := range 2000 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: 2000 + v, Label: "X"}, nodiff.SpecEdge{U: v, V: 2000 + (v+1)%2000, Label: "Y"})
		if v%10 == 7 { // an even sample of few candidates meets other vertices
			for k := range 20 {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: 2000 + (v+2+k)%2000, Label: "Y"})
			}
		}
	}
	b := bound(t, s.Build(), "MATCH (a)-[:X]->(b), (a)-[:Y]->(c)")
	b.Reduce()
	stats := cost.NewStatistics(b)
	if few := stats.Card(7); stats.Refine(1) || stats.Card(7) != few {
		t.Error("a short search reads more degrees")
	}
	if !stats.Refine(1e9) {
		t.Error("a long search reads no more degrees")
	}
	if got := stats.Card(7); got < 5500 || got > 6500 {
		t.Errorf("%g matches expected, there are 6000", got)
	}
	if stats.Refine(1e9) {
		t.Error("more degrees are read twice")
	}
}

// TestSemijoinsOnHost: semijoins take longer the more entries they read, and some time for none.
func TestSemijoinsOnHost(t *testing.T) {
	none, some, many := cost.SemijoinsOnHost(0), cost.SemijoinsOnHost(1e4), cost.SemijoinsOnHost(1e6)
	if none <= 0 || some <= none || many < 10*some {
		t.Errorf("%v, %v and %v for 0, 10^4 and 10^6 entries", none, some, many)
	}
	if endless := cost.SemijoinsOnHost(1e300); endless < 1000*many {
		t.Errorf("%v for 10^300 entries", endless)
	}
}
