package census

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	host "github.com/weftgraph/weft/internal/engine/host/census"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// motifs are the patterns of k vertices.
func motifs(t testing.TB, k int, induced bool) []*pattern.Pattern {
	t.Helper()
	ps, err := pattern.ByName(fmt.Sprintf("motifs(%d)", k))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		p.Induced = induced
	}
	return ps
}

func generate(t testing.TB, spec gen.Spec) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// same compares the counts of a graph with those of the processor's census.
func same(t *testing.T, s *session.Session, name string, g *graph.Graph, k int, induced bool, o Options) {
	t.Helper()
	want, err := host.Motifs(t.Context(), &g.Out, motifs(t, k, induced), engine.Options{Threads: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ps := motifs(t, k, induced)
	got, err := Motifs(t.Context(), s, g, &g.Out, ps, o)
	if err != nil {
		t.Fatalf("%s, %d vertices: %v", name, k, err)
	}
	for i, p := range ps {
		if got.Counts[i].Cmp(want[i]) != 0 {
			t.Errorf("%s: %s, induced %v: %v, want %v", name, p.Name, induced, got.Counts[i], want[i])
		}
	}
}

// onDevice runs f with a session on each kind of device.
func onDevice(t *testing.T, f func(t *testing.T, s *session.Session)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{}, func(s *session.Session) { f(t, s) }, d)
	})
}

// graphs are those of the comparison: sparse and dense ones, with hubs and without, and the smallest.
var graphs = []gen.Spec{
	{Model: "er", N: 40, P: 0.15}, {Model: "er", N: 30, P: 0.6}, {Model: "er", N: 70, P: 0.9}, {Model: "er", N: 300, P: 0.03},
	{Model: "ba", N: 400, K: 5}, {Model: "rmat", Scale: 8, M: 1500}, {Model: "rmat", Scale: 6, M: 900},
	{Model: "star", N: 50}, {Model: "star", N: 700}, {Model: "cliques", N: 3, K: 9}, {Model: "cliques", N: 1, K: 45},
	{Model: "er", N: 1, P: 0}, {Model: "er", N: 2, P: 1}, {Model: "er", N: 60, P: 0.01}, {Model: "er", N: 50, P: 0},
}

// TestMotifs compares with the processor's census, on graphs of many kinds.
func TestMotifs(t *testing.T) {
	onDevice(t, func(t *testing.T, s *session.Session) {
		for i, spec := range graphs {
			spec.Seed = device.Seed() + uint64(i)
			g := generate(t, spec)
			for k := 3; k <= 5; k++ {
				same(t, s, fmt.Sprint(spec), g, k, i%2 == 0, Options{})
			}
		}
	})
}

var _ = []any{context.Background, errors.Is, big.NewInt, time.Second}
