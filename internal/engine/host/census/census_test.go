package census

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestMotifs compares with the oracle on random graphs, dense ones and ones with
// hubs among them.
func TestMotifs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]gen.Spec{
			{Model: "er", N: 9, P: 0.3}, {Model: "er", N: 9, P: 0.7}, {Model: "er", N: 8, P: 1},
			{Model: "ba", N: 16, K: 2}, {Model: "rmat", Scale: 4, M: 40},
		}).Draw(t, "spec")
		spec.Seed = rapid.Uint64().Draw(t, "seed")
		g, err := gen.Generate(context.Background(), spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		k := rapid.IntRange(3, 5).Draw(t, "k")
		induced := rapid.Bool().Draw(t, "induced")
		got, err := Motifs(context.Background(), &g.Out, motifs(k, induced), engine.Options{Threads: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range motifs(k, induced) {
			if want := oracleCount(t, g, p); got[i].Cmp(want) != 0 {
				t.Fatalf("%v: %s, induced %v: %v, want %v", spec, p.Name, induced, got[i], want)
			}
		}
	})
}

func motifs(k int, induced bool) []*pattern.Pattern {
	ps, err := pattern.ByName(fmt.Sprintf("motifs(%d)", k))
	if err != nil {
		panic(err)
	}
	for _, p := range ps {
		p.Induced = induced
	}
	return ps
}

func oracleCount(t *rapid.T, g *graph.Graph, p *pattern.Pattern) *big.Int {
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "nest", Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Once(context.Background(), oracle.New(), g, pl, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Matches.Big()
}

// TestWideRows: neighbourhoods of several words; a complete graph of 150
// vertices holds each pattern C(150,k)·k!/|Aut| times, and nothing but cliques
// induced.
func TestWideRows(t *testing.T) {
	const n = 150
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "cliques", N: 1, K: n}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := 3; k <= 5; k++ {
		plain, err := Motifs(context.Background(), &g.Out, motifs(k, false), engine.Options{Threads: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		induced, err := Motifs(context.Background(), &g.Out, motifs(k, true), engine.Options{Threads: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range motifs(k, false) {
			want := new(big.Int).MulRange(n-int64(k)+1, n)
			want.Quo(want, p.Automorphisms().Order())
			if plain[i].Cmp(want) != 0 {
				t.Errorf("%s: %v, want %v", p.Name, plain[i], want)
			}
			if i < len(plain)-1 {
				want = new(big.Int)
			}
			if induced[i].Cmp(want) != 0 {
				t.Errorf("%s induced: %v, want %v", p.Name, induced[i], want)
			}
		}
	}
}

// TestBatches: the rows of vertices that share neighbours with a root are made
// in several batches where they are many, with one row at least.
func TestBatches(t *testing.T) {
	old := batchWords
	defer func() { batchWords = old }()
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "er", N: 90, P: 0.8, Seed: 4}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Motifs(context.Background(), &g.Out, motifs(5, true), engine.Options{Threads: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, batchWords = range []int{7, 1} {
		got, err := Motifs(context.Background(), &g.Out, motifs(5, true), engine.Options{Threads: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range motifs(5, false) {
			if got[i].Cmp(want[i]) != 0 {
				t.Errorf("%s: %v in batches, %v at once", p.Name, got[i], want[i])
			}
		}
	}
}

// TestStops: cancelling ends the count though one root takes minutes, and one
// goroutine alone tells the progress.
func TestStops(t *testing.T) {
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "cliques", N: 1, K: 1500}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for k := 4; k <= 5; k++ {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		told := 0 // the race detector sees a second goroutine
		start := time.Now()
		_, err = Motifs(ctx, &g.Out, motifs(k, true), engine.Options{Threads: 2}, func(uint64, uint64) { told++ })
		cancel()
		if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || d > 3*time.Minute {
			t.Errorf("%d vertices: after %s: error %v", k, d, err)
		}
	}
}

// TestPanic: a worker's panic, over a corrupt file, comes out where it can be
// recovered.
func TestPanic(t *testing.T) {
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "cliques", N: 300, K: 60}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Out.Adj {
		g.Out.Adj[i] = 1 << 30
	}
	defer func() {
		if _, ok := recover().(runtime.Error); !ok {
			t.Error("no panic")
		}
	}()
	_, _ = Count(context.Background(), &g.Out, 5, engine.Options{Threads: 4}, nil)
}

// TestSuits: the matrices of all workers fit into what is allowed together.
func TestSuits(t *testing.T) {
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "star", N: 20000}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !Suits(&g.Out, 5, 4) || Suits(&g.Out, 5, 64) {
		t.Error("a hub of 20000 neighbours suits 4 workers, and not 64")
	}
}

func TestCancelled(t *testing.T) {
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "er", N: 100, P: 0.5, Seed: 4}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Motifs(ctx, &g.Out, motifs(5, true), engine.Options{Threads: 2}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
