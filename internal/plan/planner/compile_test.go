package planner_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/checks"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/golden"
)

// ring is a graph with structure: a ring with chords.
func ring(n int) *graph.Graph {
	var pairs [][2]uint32
	for i := range n {
		for _, d := range []int{1, 2, 5} {
			pairs = append(pairs, [2]uint32{uint32(i), uint32((i + d) % n)})
		}
		if i%4 == 0 {
			pairs = append(pairs, [2]uint32{0, uint32(i)})
		}
	}
	return graph.FromEdges(n, pairs, false)
}

// TestOrbits compares the orbits that restrictions are made of with the
// definition, for patterns on both sides of the size where they are computed
// differently.
func TestOrbits(t *testing.T) {
	g := ring(10)
	r := rand.New(rand.NewSource(1))
	for _, name := range []string{"triangle", "cycle(6)", "bowtie", "clique(7)", "cycle(8)", "bipartite(4,5)", "star(9)", "clique(10)", "gather_scatter(5)", "stmatch:q24", "path(9)"} {
		p := named(t, name)
		for range 5 {
			order := r.Perm(len(p.Vertices))
			b, err := bind.Bind(g, p, plan.Options{Root: plan.NoRoot})
			if err != nil {
				t.Fatal(err)
			}
			var want []uint32
			group := p.Automorphisms()
			for _, v := range order {
				want = append(want, pattern.SetOf(group.OrbitUnder(nil, v)))
				group = group.Stabilizer([]int{v})
			}
			if got := b.Orbits(order); !slices.Equal(got, want) {
				t.Errorf("%s in order %v: orbits %b, want %b", name, order, got, want)
			}
		}
	}
}

// TestCatalogue plans everything in the catalogue by every rule, quickly.
func TestCatalogue(t *testing.T) {
	g := ring(40)
	for _, e := range pattern.Catalogue() {
		args := make([]int, len(e.Params))
		for i := range args {
			args[i] = 4
		}
		if e.Name == "tetrad" {
			args[0] = 3 // 4 is not connected
		}
		ps, err := pattern.Named(e.Name, args)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			for _, order := range []string{"ri", "gsi", "geneva", "cost"} {
				pl := compile(t, g, p, plan.Options{Root: plan.NoRoot, Order: order, Method: "nest"})
				if pl.OrderName != order {
					t.Errorf("%s: order %s instead of %s", p.Name, pl.OrderName, order)
				}
				checkShape(t, pl)
			}
		}
	}
}

// checkShape checks what plan.go promises of the parts.
func checkShape(t *testing.T, pl *plan.Plan) {
	t.Helper()
	for l := range pl.Levels {
		lv := &pl.Levels[l]
		if pl.Order[l] != lv.Vertex || pl.LevelOf[lv.Vertex] != l {
			t.Fatalf("%s: level %d is vertex %d in one place and not in another", pl.Pattern.Name, l, lv.Vertex)
		}
		positive := slices.ContainsFunc(lv.Back, func(b plan.Back) bool { return !b.Neg })
		if l > 0 && (!positive || lv.Set < 0) {
			t.Errorf("%s: level %d is not connected", pl.Pattern.Name, l)
		}
		if lv.Set >= 0 && pl.Sets[lv.Set].At >= l {
			t.Errorf("%s: the set of level %d is known at level %d only", pl.Pattern.Name, l, pl.Sets[lv.Set].At)
		}
	}
	for i, s := range pl.Sets {
		if i > 0 && s.At < pl.Sets[i-1].At || s.Base >= i || s.Of > s.At {
			t.Errorf("%s: set %d is out of order", pl.Pattern.Name, i)
		}
		for _, j := range append(slices.Clone(s.Below), s.Above...) {
			if j > s.At {
				t.Errorf("%s: set %d has a bound that is not known", pl.Pattern.Name, i)
			}
		}
	}
	for l := len(pl.Levels) - pl.Tail.K; l < len(pl.Levels); l++ {
		if s := pl.Levels[l].Set; pl.Sets[s].At >= len(pl.Levels)-pl.Tail.K {
			t.Errorf("%s: the set of tail level %d depends on the tail", pl.Pattern.Name, l)
		}
	}
}

var largePatterns = []string{"path(32)", "cycle(32)", "star(31)", "clique(32)", "bipartite(16,16)"}

func TestLargePatterns(t *testing.T) {
	g := ring(2000)
	for _, name := range largePatterns {
		for _, induced := range []bool{false, true} {
			p := named(t, name)
			p.Induced = induced
			checkShape(t, compile(t, g, p, plan.Options{Root: plan.NoRoot, Method: "nest"}))
		}
	}
}

// BenchmarkLargePatterns: 50 ms is the aim.
func BenchmarkLargePatterns(b *testing.B) {
	g := ring(2000)
	for _, name := range largePatterns {
		ps, err := pattern.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestEstimates: random walks come close to the count with enough of them.
func TestEstimates(t *testing.T) {
	g := ring(60)
	for _, name := range []string{"triangle", "path(4)", "cycle(4)", "tailed_triangle", "house"} {
		for _, mode := range []pattern.Mode{pattern.Iso, pattern.Hom, pattern.Trail} {
			p := named(t, name)
			p.Mode = mode
			pl := compile(t, g, p, plan.Options{Root: plan.NoRoot, Listing: true})
			exact := 0.0
			checks.NewSearch(pl, 0).Each(func([]uint32, []uint64) bool { exact++; return true })
			cost.Walk(pl, &plan.Options{Seed: 7}, 20000)
			if got := pl.Levels[len(pl.Levels)-1].Estimate; math.Abs(got-exact) > 0.1*exact {
				t.Errorf("%s under %v: estimate %.0f, exactly %.0f", name, mode, got, exact)
			}
		}
	}
}

func TestSeedDecides(t *testing.T) {
	g := ring(60)
	p := named(t, "house")
	text := func() string {
		var b strings.Builder
		if err := explain.Text(compile(t, g, p, plan.Options{Root: plan.NoRoot, Seed: 5}), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if a, b := text(), text(); a != b {
		t.Errorf("two plans differ:\n%s\n%s", a, b)
	}
}

func TestErrors(t *testing.T) {
	g := ring(12)
	alone := named(t, "temporal_cycle(3)")
	alone.Order = &pattern.Order{Within: 5}
	alone.Edges[0].Name, alone.Edges[1].Name = "", ""
	plain := named(t, "temporal_cycle(3)")
	plain.Order.On, plain.Order.Within, plain.Order.Duration = "w", 3600e9, true
	far := named(t, "path(2)")
	far.Edges[0].Max = 3
	apart := &pattern.Pattern{Vertices: make([]pattern.Vertex, 2)}
	param := named(t, "path(2)")
	param.Where = []pattern.Expr{pattern.Binary{Op: pattern.OpEq, X: pattern.ID{Vertex: 0}, Y: pattern.Param{Name: "x"}}}
	not := named(t, "wedge")
	not.Edges = append(not.Edges, pattern.Edge{Name: "e", From: 0, To: 2, Negated: true, Min: 1, Max: 1})
	not.Where = []pattern.Expr{pattern.Unary{Op: pattern.OpIsNull, X: pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef, Index: 2}, Key: "w"}}}
	unnamed := named(t, "wedge")
	edge := func(i int) pattern.Expr {
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef, Index: i}, Key: "w"}
	}
	unnamed.Where = []pattern.Expr{pattern.Binary{Op: pattern.OpLt, X: edge(0), Y: edge(1)}}
	none := plan.Options{Root: plan.NoRoot}
	for i, c := range []struct {
		p    *pattern.Pattern
		o    plan.Options
		want string
	}{
		{alone, none, "fewer than two"},
		{far, none, "variable-length"},
		{apart, none, "not connected"},
		{not, none, "NOT edge"},
		{unnamed, none, "needs a named edge"},
		{named(t, "wedge"), plan.Options{Root: 3}, "root 3"},
		{named(t, "wedge"), plan.Options{Root: -1, Order: "fast"}, `unknown order "fast"`},
		{named(t, "wedge"), plan.Options{Root: -1, Method: "fast"}, `unknown method "fast"`},
		{named(t, "wedge"), plan.Options{Root: -1, Order: "given", Given: []int{0, 0, 1}}, "twice"},
		{named(t, "wedge"), plan.Options{Root: -1, Order: "given", Given: []int{0, 1, 7}}, "vertex 7"},
		{named(t, "wedge"), plan.Options{Root: 1, Order: "given", Given: []int{0, 1, 2}}, "begins at"},
		{named(t, "cycle(5)"), plan.Options{Root: -1, Method: "local"}, "local method"},
		{named(t, "cycle(4)"), plan.Options{Root: -1, Method: "walks"}, "walks method"},
	} {
		_, err := planner.Compile(g, c.p, c.o)
		var q *plan.QueryError
		if !errors.As(err, &q) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("case %d: %v, want a QueryError that says %q", i, err, c.want)
		}
	}
	var missing *pattern.MissingParam
	if _, err := planner.Compile(g, param, none); !errors.As(err, &missing) {
		t.Errorf("missing parameter: %v", err)
	}
	param = named(t, "path(2)")
	param.Where = []pattern.Expr{pattern.Binary{Op: pattern.OpIn, X: pattern.ID{Vertex: 0}, Y: pattern.Param{Name: "x"}}}
	pl := compile(t, g, param, plan.Options{Root: plan.NoRoot, Params: map[string]any{"x": []int{3, 4, 99}}})
	n := 0
	checks.NewSearch(pl, 0).Each(func([]uint32, []uint64) bool { n++; return true })
	if want := g.Out.Degree(at(g, 3)) + g.Out.Degree(at(g, 4)); n != want {
		t.Errorf("id(v0) IN $x: %d matches, want %d", n, want)
	}
}

func at(g *graph.Graph, id int64) uint32 {
	v, ok := g.LookupInt(id)
	if !ok {
		panic(fmt.Sprint("no vertex ", id))
	}
	return v
}

// TestLocalOrders: where the local method applies its order makes it possible.
func TestLocalOrders(t *testing.T) {
	g := ring(20)
	for name, want := range map[string]bool{
		"triangle": true, "cycle(4)": true, "diamond": true, "clique(6)": true, "gmatch:P5": true, "star(3)": true,
		"path(4)": true, "path(5)": false, "cycle(5)": false, "bowtie": true, "house": true,
	} {
		pl, err := planner.Compile(g, named(t, name), plan.Options{Root: plan.NoRoot, Method: "local"})
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && plan.LocalOK(pl) != nil {
			t.Errorf("%s: %v", name, plan.LocalOK(pl))
		}
	}
}

// TestThreads: a plan does not depend on how many threads walk for it, which ask
// conditions at the same time.
func TestThreads(t *testing.T) {
	g := dense(200)
	var patterns []*pattern.Pattern
	for _, name := range []string{"gmatch:P3", "gmatch:P6", "cycle(5)"} {
		patterns = append(patterns, named(t, name))
	}
	for _, text := range []string{
		"MATCH (a)--(b)--(c)--(d), (b)--(d) WHERE deg(a) > deg(c) + 1 AND id(b) IN [id(a) - 1, id(a) + 1, 7]",
		"MATCH (a)--(b)--(c)--(a) WHERE EXISTS { (a)--(x)--(b) WHERE deg(x) < deg(c) } AND deg(a) % 3 < 2",
		"MATCH DIFFERENT EDGES (a)-[e]-(b)-[f]-(c)-[g]-(d) WHERE e <> g AND deg(d) > 20",
	} {
		patterns = append(patterns, golden.Pattern(t, text))
	}
	for _, p := range patterns {
		for _, order := range []string{"cost", "tests"} {
			for _, induced := range []bool{false, true} {
				p.Induced = induced && p.Mode == pattern.Iso
				text := func(threads int) string {
					var b strings.Builder
					if err := explain.JSON(compile(t, g, p, plan.Options{Root: plan.NoRoot, Order: order, Seed: 3, Threads: threads}), &b); err != nil {
						t.Fatal(err)
					}
					return b.String()
				}
				if one, more := text(1), text(5); one != more {
					t.Errorf("%s, induced %v, order %s: by one thread\n%s\nby five\n%s", pattern.Format(p), induced, order, one, more)
				}
			}
		}
	}
}

// dense is a graph of hubs, in which comparing orders by walks pays.
func dense(n int) *graph.Graph {
	r := rand.New(rand.NewSource(2))
	var pairs [][2]uint32
	for u := range uint32(n) {
		for v := range u {
			if r.Intn(1+int(u*v)/n) < 5 {
				pairs = append(pairs, [2]uint32{v, u})
			}
		}
	}
	return graph.FromEdges(n, pairs, false)
}

// TestGivenRulesStay: where the caller names the rule of the order, or switches a part of
// plans off, no other plan takes the nest's place, however much cheaper it is.
func TestGivenRulesStay(t *testing.T) {
	var pairs [][2]uint32
	for u := range uint32(60) {
		for v := range u {
			pairs = append(pairs, [2]uint32{v, u})
		}
	}
	g := graph.FromEdges(60, pairs, false)
	ps, err := pattern.ByName("clique(5)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    plan.Options
		nest bool
	}{
		{plan.Options{}, false},
		{plan.Options{Order: "cost"}, false},
		{plan.Options{Order: "ri"}, true},
		{plan.Options{NoTail: true}, true},
		{plan.Options{NoRestrictions: true}, true},
	} {
		c.o.Root = plan.NoRoot
		pl, err := planner.Compile(g, ps[0], c.o)
		if err != nil {
			t.Fatal(err)
		}
		if (pl.Method == plan.Nest) != c.nest {
			t.Errorf("%+v: method %v", c.o, pl.Method)
		}
	}
}

// TestLocalFits: a hub of any class has a neighbourhood that is too large for a bit matrix.
func TestLocalFits(t *testing.T) {
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	for _, labels := range [][2]string{{"A", "B"}, {"B", "A"}, {"A", "A"}} {
		for _, most := range []int{plan.MaxUniverse, plan.MaxUniverse + 1} {
			b := graph.NewBuilder(graph.BuildOptions{})
			ec, vc := &graph.EdgeChunk{}, &graph.VertexChunk{ID: []uint64{0}, Labels: [][]string{{labels[0]}}}
			for v := range uint64(most) {
				ec.Src, ec.Dst = append(ec.Src, 0), append(ec.Dst, v+1)
				vc.ID, vc.Labels = append(vc.ID, v+1), append(vc.Labels, []string{labels[1]})
			}
			if err := errors.Join(b.AddEdges(ec), b.AddVertices(vc)); err != nil {
				t.Fatal(err)
			}
			g, err := b.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local"})
			if err != nil {
				t.Fatal(err)
			}
			if got := plan.LocalFits(pl); !got && most <= plan.MaxUniverse || got && labels == [2]string{"B", "A"} && most > plan.MaxUniverse {
				t.Errorf("a hub of class %s with %d neighbours of class %s fits: %t", labels[0], most, labels[1], got)
			}
		}
	}
}

// TestSearchesLast: conditions that search are tested after those that do not.
func TestSearchesLast(t *testing.T) {
	p := golden.Pattern(t, "MATCH (a)--(b)--(c) WHERE NOT EXISTS { (a)--(x)--(c) } AND deg(a) > deg(c) + 1")
	checks := compile(t, dense(20), p, plan.Options{Root: plan.NoRoot}).Levels[2].Checks
	if len(checks) != 2 || strings.Contains(checks[0].Text, "EXISTS") {
		t.Errorf("%d checks, of which the first is %+v", len(checks), checks)
	}
}
