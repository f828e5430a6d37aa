package host_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// broom is a clique of core vertices with groups of further vertices: those of
// group i are joined to the core vertices in ends[i], and there are take[i].
type broom struct {
	core int
	ends []uint
	take []int
}

func (b broom) pattern() *pattern.Pattern {
	p := &pattern.Pattern{Name: fmt.Sprint(b), Vertices: make([]pattern.Vertex, b.core)}
	join := func(u, v int) { p.Edges = append(p.Edges, pattern.Edge{From: u, To: v, Min: 1, Max: 1}) }
	for u := range b.core {
		for v := range u {
			join(v, u)
		}
	}
	for i, ends := range b.ends {
		for range b.take[i] {
			v := len(p.Vertices)
			p.Vertices = append(p.Vertices, pattern.Vertex{})
			for u := range b.core {
				if ends>>u&1 != 0 {
					join(u, v)
				}
			}
		}
	}
	return p
}

// embeddings counts b in g vertex by vertex. For each place of the core, each other vertex goes
// to one of the groups that it is joined to as they ask, or to none.
func (b broom) embeddings(g *graph.Graph, mode pattern.Mode) *big.Int {
	sum := new(big.Int)
	m := make([]uint32, b.core)
	var place func(i int)
	place = func(i int) {
		if i == b.core {
			if mode == pattern.Hom {
				sum.Add(sum, b.products(g, m))
			} else {
				sum.Add(sum, b.choices(g, m))
			}
			return
		}
	next:
		for v := range uint32(g.NumVertices()) {
			for _, u := range m[:i] {
				if !g.Has(u, v) {
					continue next
				}
			}
			m[i] = v
			place(i + 1)
		}
	}
	place(0)
	return sum
}

func (b broom) joined(g *graph.Graph, m []uint32, v uint32, group int) bool {
	for u, x := range m {
		if b.ends[group]>>u&1 != 0 && !g.Has(x, v) {
			return false
		}
	}
	return true
}

func (b broom) products(g *graph.Graph, m []uint32) *big.Int {
	n := big.NewInt(1)
	for i, k := range b.take {
		size := int64(0)
		for v := range uint32(g.NumVertices()) {
			if b.joined(g, m, v, i) {
				size++
			}
		}
		n.Mul(n, new(big.Int).Exp(big.NewInt(size), big.NewInt(int64(k)), nil))
	}
	return n
}

func (b broom) choices(g *graph.Graph, m []uint32) *big.Int {
	ways := map[string]*big.Int{}
	taken := map[string][]int{}
	start := make([]int, len(b.take))
	ways[fmt.Sprint(start)], taken[fmt.Sprint(start)] = big.NewInt(1), start
	for v := range uint32(g.NumVertices()) {
		inCore := false
		for _, x := range m {
			inCore = inCore || x == v
		}
		if inCore {
			continue
		}
		next := map[string]*big.Int{}
		add := func(to []int, n *big.Int) {
			key := fmt.Sprint(to)
			if next[key] == nil {
				next[key] = new(big.Int)
			}
			next[key].Add(next[key], n)
			taken[key] = to
		}
		for key, n := range ways {
			add(taken[key], n)
			for i := range b.take {
				if taken[key][i] < b.take[i] && b.joined(g, m, v, i) {
					to := append([]int(nil), taken[key]...)
					to[i]++
					add(to, n)
				}
			}
		}
		ways = next
	}
	n := ways[fmt.Sprint(b.take)]
	if n == nil {
		return new(big.Int)
	}
	n = new(big.Int).Set(n)
	for _, k := range b.take {
		n.Mul(n, new(big.Int).MulRange(1, int64(k)))
	}
	return n
}

// TestBrooms: groups of interchangeable vertices of any number, on top of other
// structure, against counting vertex by vertex.
func TestBrooms(t *testing.T) {
	long := 0
	rapid.Check(t, func(t *rapid.T) {
		g, err := gen.Generate(context.Background(), gen.Spec{
			Model: "er", N: uint64(rapid.IntRange(4, 14).Draw(t, "n")), P: rapid.Float64Range(0.4, 1).Draw(t, "p"), Seed: rapid.Uint64().Draw(t, "seed"),
		}, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := broom{core: rapid.IntRange(1, 3).Draw(t, "core")}
		used := map[uint]bool{}
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			ends := rapid.UintRange(1, 1<<b.core-1).Draw(t, "ends")
			if !used[ends] {
				used[ends] = true
				b.ends = append(b.ends, ends)
				b.take = append(b.take, rapid.IntRange(1, 8).Draw(t, "take"))
			}
		}
		p := b.pattern()
		p.Mode = rapid.SampledFrom([]pattern.Mode{pattern.Iso, pattern.Iso, pattern.Hom}).Draw(t, "mode")
		want := b.embeddings(g, p.Mode)
		for _, o := range []plan.Options{{Method: "nest"}, {Method: "local"}, {}, {Embeddings: true}} {
			o.Root = plan.NoRoot
			pl, err := planner.Compile(g, p, o)
			if err != nil {
				continue // no local plan
			}
			if pl.Tail.K > 5 {
				long++
			}
			r, err := engine.Once(context.Background(), host.New(), g, pl, engine.Options{Threads: 2}, engine.Goal{})
			got := r.Matches.Big()
			if pl.Restricted {
				got.Mul(got, pl.Aut)
			}
			if err != nil && !errors.Is(err, engine.ErrOverflow) || err == nil && got.Cmp(want) != 0 {
				t.Fatalf("%v under %v by %q: %v embeddings, want %v; %v", b, p.Mode, o.Method, got, want, err)
			}
			if err != nil && want.BitLen() <= 128 {
				t.Fatalf("%v: %v for %v embeddings", b, err, want)
			}
		}
	})
	if long == 0 {
		t.Error("no plan closed more than five levels")
	}
}

// TestStars: a star of k leaves occurs Σ_v C(deg v, k) times, and where that
// passes 128 bits the count says so.
func TestStars(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 10, M: 40000, Seed: 3})
	for _, k := range []int{5, 6, 8, 20, 31} {
		ps, err := pattern.ByName(fmt.Sprintf("star(%d)", k))
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Int)
		for v := range uint32(g.NumVertices()) {
			want.Add(want, new(big.Int).Binomial(int64(g.Out.Degree(v)), int64(k)))
		}
		pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Once(context.Background(), host.New(), g, pl, engine.Options{Threads: 2}, engine.Goal{})
		switch {
		case want.BitLen() > 128:
			if !errors.Is(err, engine.ErrOverflow) || r.Complete {
				t.Errorf("star(%d) occurs %v times: error %v", k, want, err)
			}
		case err != nil:
			t.Errorf("star(%d): %v", k, err)
		case r.Matches.Big().Cmp(want) != 0:
			t.Errorf("star(%d): %v, want %v", k, r.Matches, want)
		}
	}
}

// TestManyCommonNeighbours: two vertices with 5 000 common neighbours choose ten
// of them in more ways than 64 bits hold.
func TestManyCommonNeighbours(t *testing.T) {
	var pairs [][2]uint32
	const n = 5000
	for v := range uint32(n) {
		pairs = append(pairs, [2]uint32{n, v}, [2]uint32{n + 1, v})
	}
	g := graph.FromEdges(n+2, pairs, false)
	for _, k := range []int64{5, 6, 10} {
		ps, err := pattern.ByName(fmt.Sprintf("bipartite(2,%d)", k))
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Int).Binomial(n, k)
		for _, method := range []string{"nest", "local"} {
			pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if got := count(t, g, pl, engine.Options{Threads: 2}); got.Big().Cmp(want) != 0 {
				t.Errorf("bipartite(2,%d) by %s: %v, want %v", k, method, got, want)
			}
		}
	}
}
