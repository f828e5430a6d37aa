package partition_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/partition"
)

// generated makes a graph.
func generated(t testing.TB, s gen.Spec) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// graphs are small graphs of many kinds.
func graphs(t testing.TB) map[string]*graph.Graph {
	t.Helper()
	out := map[string]*graph.Graph{}
	for i, s := range []gen.Spec{
		{Model: "er", N: 1, M: 0},
		{Model: "er", N: 50, M: 0}, // isolated vertices only
		{Model: "er", N: 400, M: 200, Seed: 1},
		{Model: "er", N: 300, M: 1500, Seed: 2, Directed: true},
		{Model: "star", N: 500},
		{Model: "grid", Dims: []uint64{60, 50}},
		{Model: "cliques", N: 30, K: 8, Ring: true},
		{Model: "cliques", N: 30, K: 8},
		{Model: "rmat", Scale: 11, M: 6000, Seed: 3},
		{Model: "rmat", Scale: 10, M: 4000, Seed: 4, Directed: true},
		{Model: "rgg", Scale: 10, Degree: 12, Seed: 5},
	} {
		out[fmt.Sprintf("%d %s", i, s.Model)] = generated(t, s)
	}
	empty, err := graph.NewBuilder(graph.BuildOptions{}).Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out["empty"] = empty
	return out
}

// methods are those that this machine has.
func methods() []partition.Method {
	if _, err := partition.FindMETIS(); err != nil {
		return []partition.Method{partition.Builtin}
	}
	return []partition.Method{partition.Builtin, partition.METIS}
}

// needMETIS skips a test where METIS is not installed, unless WEFT_REQUIRE_METIS asks for it.
func needMETIS(t testing.TB) {
	t.Helper()
	if _, err := partition.FindMETIS(); err != nil {
		if os.Getenv("WEFT_REQUIRE_METIS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// TestMake: each vertex has a part, and sizes and cut are those that follow. No part of the built-in method has
// more bytes than the limit, or than the mean and one vertex.
func TestMake(t *testing.T) {
	for name, g := range graphs(t) {
		for _, method := range methods() {
			n := g.NumVertices()
			for _, k := range []int{1, 5, max(n, 1), n + 5} {
				if method == partition.METIS && k > 8 {
					continue // it makes few parts of many vertices
				}
				p, err := partition.Make(t.Context(), g, partition.Options{Method: method, Parts: k, Slack: 0.05, Threads: 2})
				if err != nil {
					t.Fatalf("%s, %v, %d parts: %v", name, method, k, err)
				}
				want := measured(g, p.Of, k)
				if len(p.Of) != n || p.Cut != want.Cut || !slices.Equal(p.Parts, want.Parts) {
					t.Fatalf("%s, %v, %d parts: cut %d and %+v, want %d and %+v", name, method, k, p.Cut, p.Parts, want.Cut, want.Parts)
				}
				var sum, most, vertex uint64
				for _, x := range p.Parts {
					sum, most = sum+x.Bytes, max(most, x.Bytes)
				}
				for v := range n {
					vertex = max(vertex, bytesOf(g, uint32(v)))
				}
				mean := float64(sum) / float64(k)
				if limit := max(1.05*mean, mean+float64(vertex)); method == partition.Builtin && float64(most) > limit {
					t.Errorf("%s, %d parts: one has %d bytes of %d, more than %.0f", name, k, most, sum, limit)
				}
				if b := p.Balance(); sum > 0 && math.Abs(b-float64(most)/mean) > 1e-9 || sum == 0 && b != 1 {
					t.Errorf("%s, %v, %d parts: balance %v", name, method, k, b)
				}
			}
		}
	}
}

func bytesOf(g *graph.Graph, v uint32) uint64 {
	b := uint64(8 + 4*g.Out.Degree(v))
	if g.Directed {
		b += uint64(8 + 4*g.In.Degree(v))
	}
	return b
}

// measured finds the sizes of parts by looking at each pair of vertices' lists.
func measured(g *graph.Graph, of []uint32, k int) *partition.Partition {
	p := &partition.Partition{Parts: make([]partition.Part, k)}
	pairs := map[[2]uint32]bool{}
	for v, part := range of {
		x := &p.Parts[part]
		x.Vertices++
		x.Bytes += bytesOf(g, uint32(v))
		for _, u := range g.Out.List(uint32(v)) {
			pairs[[2]uint32{min(u, uint32(v)), max(u, uint32(v))}] = true
		}
	}
	for e := range pairs {
		a, b := &p.Parts[of[e[0]]], &p.Parts[of[e[1]]]
		if a == b {
			a.Inside++
			continue
		}
		a.Cross++
		b.Cross++
		p.Cut++
	}
	return p
}

// TestSame: a seed gives the same partition with any number of threads, and the seed matters.
func TestSame(t *testing.T) {
	g := generated(t, gen.Spec{Model: "rmat", Scale: 12, M: 6000, Seed: 7})
	of := func(seed uint64, threads int) []uint32 {
		p, err := partition.Make(t.Context(), g, partition.Options{Parts: 6, Slack: 0.03, Seed: seed, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		return p.Of
	}
	first := of(1, 1)
	for _, threads := range []int{3} {
		if !slices.Equal(of(1, threads), first) {
			t.Errorf("%d threads give another partition", threads)
		}
	}
	if slices.Equal(of(2, 2), first) {
		t.Error("another seed gives the same partition")
	}
}

// TestObvious: where the least cut is plain, it is found.
func TestObvious(t *testing.T) {
	for _, c := range []struct {
		spec gen.Spec
		k    int
		most uint64
	}{
		{gen.Spec{Model: "cliques", N: 16, K: 12, Ring: true}, 4, 4},
		{gen.Spec{Model: "cliques", N: 16, K: 12}, 8, 0},
		{gen.Spec{Model: "grid", Dims: []uint64{64, 16}}, 4, 3 * 18},
		{gen.Spec{Model: "star", N: 100}, 2, 100}, // half of the leaves at least stay with the hub
	} {
		p, err := partition.Make(t.Context(), generated(t, c.spec), partition.Options{Parts: c.k, Slack: 0.03})
		if err != nil {
			t.Fatal(err)
		}
		if p.Cut > c.most {
			t.Errorf("%s in %d parts: %d edges are cut, want at most %d", c.spec.Model, c.k, p.Cut, c.most)
		}
	}
}

// TestHub: a hub that has more than a part's share is alone in its part.
func TestHub(t *testing.T) {
	p, err := partition.Make(t.Context(), generated(t, gen.Spec{Model: "star", N: 3000}), partition.Options{Parts: 6, Slack: 0.03})
	if err != nil {
		t.Fatal(err)
	}
	hub := p.Parts[p.Of[0]]
	if hub.Vertices != 1 {
		t.Errorf("the hub's part has %d vertices", hub.Vertices)
	}
	for i, x := range p.Parts {
		if x.Vertices == 0 {
			t.Errorf("part %d is empty", i)
		}
	}
}

// TestOptions: values that make no sense are errors.
func TestOptions(t *testing.T) {
	g := generated(t, gen.Spec{Model: "star", N: 3})
	for _, c := range []struct {
		o    partition.Options
		want string
	}{
		{partition.Options{}, "0 parts: want a number from 1 to 1048576"},
		{partition.Options{Parts: -1}, "-1 parts"},
		{partition.Options{Parts: 1<<20 + 1}, "1048577 parts"},
		{partition.Options{Parts: 2, Slack: -0.1}, "an imbalance of -0.1: want a number from 0 to 10"},
		{partition.Options{Parts: 2, Slack: math.NaN()}, "an imbalance of NaN"},
	} {
		if _, err := partition.Make(t.Context(), g, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
		if _, _, err := partition.Open(t.Context(), nil, "", g, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	for name, want := range map[string]partition.Method{"": partition.Builtin, "auto": partition.Builtin, "builtin": partition.Builtin, "metis": partition.METIS} {
		if m, err := partition.ParseMethod(name); m != want || err != nil {
			t.Errorf("%q: %v, %v", name, m, err)
		}
	}
	if _, err := partition.ParseMethod("scotch"); err == nil || !strings.Contains(err.Error(), `"scotch"`) {
		t.Error(err)
	}
}

// ending is a context that ends when it has been looked at a number of times.
type ending struct {
	context.Context
	left atomic.Int64
}

func (c *ending) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestEnds: wherever the context ends, the error is the context's.
func TestEnds(t *testing.T) {
	g := generated(t, gen.Spec{Model: "rgg", Scale: 12, Degree: 4, Seed: 5})
	make := func(looks int64) (int64, error) {
		ctx := &ending{Context: t.Context()}
		ctx.left.Store(looks)
		_, err := partition.Make(ctx, g, partition.Options{Parts: 4, Slack: 0.03, Threads: 1})
		return looks - ctx.left.Load(), err
	}
	all, err := make(math.MaxInt32)
	if err != nil || all < 50 {
		t.Fatalf("%d looks: %v", all, err)
	}
	for looks := int64(0); looks < all; looks += 1 + all/8 {
		if _, err := make(looks); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks of %d: %v", looks, all, err)
		}
	}
}
