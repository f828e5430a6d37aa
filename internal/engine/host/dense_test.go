package host_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// dense draws graphs whose neighbourhoods have rows of several words, and patterns
// that the local method counts in them.
type dense struct {
	*rand.Rand
	wide bool // rows of more words than cutSet goes over itself
}

// graph has a vertex R that is next to all others, and a property x.
func (d dense) graph() *graph.Graph {
	s := &nodiff.Spec{N: 66 + d.IntN(80)}
	p := 0.15 + 0.75*d.Float64()
	if d.wide {
		s.N, p = 710+d.IntN(90), 0.1+0.1*d.Float64()
	}
	for v := range s.N {
		x, label := d.Int64N(20), []string{"A", "A", "B", "C"}[d.IntN(4)]
		if v == 0 {
			label = "R"
		}
		s.X, s.Labels = append(s.X, &x), append(s.Labels, []string{label})
		for u := range v {
			if u == 0 || d.Float64() < p {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v})
			}
		}
	}
	return s.Build()
}

// pattern has a vertex that is next to all others but perhaps one, and random edges,
// labels and conditions; order begins with these two.
func (d dense) pattern() (p *pattern.Pattern, order []int) {
	n := 3 + d.IntN(3)
	if d.wide {
		n = 3 + d.IntN(2)
	}
	p = &pattern.Pattern{Vertices: make([]pattern.Vertex, n), Induced: d.IntN(3) == 0}
	order = d.Perm(n)
	join := func(u, v int, not bool) {
		p.Edges = append(p.Edges, pattern.Edge{From: order[u], To: order[v], Min: 1, Max: 1, Negated: not})
	}
	first := 1 + d.IntN(2)
	if first == 2 {
		for v, shared := 2, 2+d.IntN(n-2); v < n; v++ {
			if v == shared || d.IntN(2) == 0 {
				join(1, v, false)
			}
		}
	}
	many := d.IntN(4)
	for v := first; v < n; v++ {
		join(0, v, false)
		for u := first; u < v; u++ {
			if d.IntN(5) < many {
				join(u, v, false)
			} else if !p.Induced && d.IntN(8) == 0 {
				join(u, v, true)
			}
		}
	}
	name := func(v int, name string) {
		p.Vertices[v].Label = &pattern.Label{Op: pattern.LabelName, Name: name}
	}
	where := func(v int, op pattern.Op, x int64) {
		p.Where = append(p.Where, pattern.Binary{
			Op: op, X: pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}, Key: "x"}, Y: pattern.Lit{Value: x},
		})
	}
	for v := range n {
		switch d.IntN(12) {
		case 0: // one range of ids, of which that of C begins in a later word
			name(v, []string{"A", "C", "C"}[d.IntN(3)])
		case 1: // two ranges of ids, or a mask
			name(v, "B")
			p.Vertices[v].Label = &pattern.Label{Op: pattern.LabelNot, X: p.Vertices[v].Label}
		case 2:
			where(v, pattern.OpNe, d.Int64N(20))
		case 3:
			where(v, pattern.OpLt, 5+d.Int64N(15))
		}
	}
	switch { // few roots where the search would be long
	case d.wide || d.IntN(3) == 0:
		name(order[0], "R")
	case n > 4:
		where(order[0], pattern.OpLt, 1)
	}
	rest := order[first:]
	d.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return p, order
}

// TestLocalInDenseGraphs: random patterns by the local method against the nest, whose
// orders are others, in all and for each root.
func TestLocalInDenseGraphs(t *testing.T) {
	graphs := uint64(24)
	if testing.Short() {
		graphs = 4
		t.Log("-short: 4 graphs instead of 24, and not every kind of tail is among their plans")
	}
	tails := map[string]int{}
	for seed := range graphs {
		d := dense{rand.New(rand.NewPCG(seed, 0)), seed%4 == 3}
		g := d.graph()
		for range 12 {
			p, order := d.pattern()
			o := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "local", NoMotion: d.IntN(6) == 0}
			if len(order) < 5 {
				o.Embeddings, o.NoTail = d.IntN(3) == 0, d.IntN(6) == 0
			}
			if d.IntN(3) == 0 {
				o.Root = order[0]
			}
			if d.IntN(3) > 0 {
				o.Order, o.Given = "given", order
			}
			threads := 1 + d.IntN(3)
			run := func() (*plan.Plan, *big.Int, []engine.Uint128) {
				pl, err := planner.Compile(g, p, o)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, pattern.Format(p), err)
				}
				opt := engine.Options{Threads: threads}
				var goal engine.Goal
				if o.Root >= 0 {
					goal.PerRoot = make([]engine.Uint128, g.NumVertices())
				}
				r, err := engine.Once(t.Context(), host.New(), g, pl, opt, goal)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, pattern.Format(p), err)
				}
				n := r.Matches.Big()
				if pl.Restricted {
					n.Mul(n, pl.Aut)
				}
				return pl, n, goal.PerRoot
			}
			pl, got, roots := run()
			o.Method, o.Order, o.Given = "nest", "", nil
			_, want, wantRoots := run()
			if got.Cmp(want) != 0 {
				t.Errorf("seed %d: %s, order %v: %v embeddings, by the nest %v", seed, pattern.Format(p), pl.Order, got, want)
			}
			for v := range roots {
				if roots[v] != wantRoots[v] {
					t.Errorf("seed %d: %s, order %v: %v matches at %d, by the nest %v", seed, pattern.Format(p), pl.Order, roots[v], v, wantRoots[v])
					break
				}
			}
			tails[fmt.Sprintf("%d in %d", pl.Tail.K, len(pl.Tail.Groups))]++
		}
	}
	for _, want := range []string{"1 in 1", "2 in 1", "2 in 2", "3 in 3"} {
		if !testing.Short() && tails[want] == 0 {
			t.Errorf("no plan has a tail of %s sets: %v", want, tails)
		}
	}
	t.Log(tails)
}

// TestLocalBoundsTails: one leaf of a hub is matched before the vertices that close in the tail
// with the other. It so bounds the other's candidates, and not the set that they come from. A
// second case is the same next to a vertex that is not a neighbour of the hub.
func TestLocalBoundsTails(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 72, P: 0.95, Seed: 2})
	tails := [][][2]int{
		{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {2, 3}},
		{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {2, 3}, {5, 1}, {5, 4}},
	}
	if testing.Short() {
		tails = tails[:1] // the nest visits billions of the other's partial matches
	}
	for _, edges := range tails {
		p := &pattern.Pattern{Vertices: make([]pattern.Vertex, 5)}
		order := []int{0, 1, 2, 3, 4}
		for _, e := range edges {
			if e[0] == 5 && len(p.Vertices) == 5 {
				p.Vertices, order = make([]pattern.Vertex, 6), []int{0, 5, 1, 2, 3, 4}
			}
			p.Edges = append(p.Edges, pattern.Edge{From: e[0], To: e[1], Min: 1, Max: 1})
		}
		pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "local", Order: "given", Given: order})
		if err != nil {
			t.Fatal(err)
		}
		last := &pl.Levels[len(pl.Levels)-1]
		if own := &pl.Sets[last.Set]; pl.Tail.K != 2 || len(last.Below) == len(own.Below) && len(last.Above) == len(own.Above) {
			t.Errorf("%s: a tail of %d, bounds %v %v, those of its set %v %v", pattern.Format(p), pl.Tail.K, last.Below, last.Above, own.Below, own.Above)
		}
		got := count(t, g, pl, engine.Options{Threads: 2}).Big()
		got.Mul(got, pl.Aut)
		if want := embeddings(t, g, p, "nest"); got.Cmp(want) != 0 {
			t.Errorf("%s: %v embeddings, by the nest %v", pattern.Format(p), got, want)
		}
	}
}

// TestLocalBoundsPairs: the last two vertices are next to each other, and a vertex before them
// bounds the last. It does so from above or, in the plan turned round, from below.
// Neighbourhoods take more than one word.
func TestLocalBoundsPairs(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 72, P: 0.95, Seed: 2})
	ps, err := pattern.ByName("wheel(4)")
	if err != nil {
		t.Fatal(err)
	}
	want := embeddings(t, g, ps[0], "")
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {0, 1, 2, 4, 3}, {0, 1, 3, 2, 4}, {0, 1, 4, 3, 2}} {
		pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Order: "given", Given: order})
		if err != nil {
			t.Fatal(err)
		}
		for _, pl := range []*plan.Plan{pl, pl.Turned()} {
			got := count(t, g, pl, engine.Options{Threads: 2}).Big()
			if got.Mul(got, pl.Aut).Cmp(want) != 0 {
				t.Errorf("in the order %v, the last below %v and above %v: %v embeddings, want %v", order, pl.Levels[4].Below, pl.Levels[4].Above, got, want)
			}
		}
	}
}
