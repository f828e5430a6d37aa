package census

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

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
			for k := 4; k <= 5; k++ {
				for _, limit := range []int{0, -1, 20} { // small teams' roots, large teams', both
					same(t, s, fmt.Sprint(spec, limit), g, k, i%2 == 0, Options{limit: limit})
				}
			}
		}
	})
}

// TestRooms: neighbourhoods too large for a matrix, and rows in several batches, have the same counts, with one team or several.
func TestRooms(t *testing.T) {
	onDevice(t, func(t *testing.T, s *session.Session) {
		for i, spec := range []gen.Spec{{Model: "er", N: 70, P: 0.5}, {Model: "rmat", Scale: 6, M: 700}} {
			spec.Seed = device.Seed() + uint64(i)
			g := generate(t, spec)
			for _, o := range []Options{{room: 1, near: -1}, {room: 1, near: 20, teams: 2}, {room: 500, near: -1, teams: 1}, {near: -1, limit: -1}, {limit: 20}} {
				for k := 4; k <= 5; k++ {
					same(t, s, fmt.Sprint(spec, o.room, o.near, o.limit), g, k, true, o)
				}
			}
		}
	})
}

// TestSeveral: several devices share the roots.
func TestSeveral(t *testing.T) {
	device.Several(t, func(t *testing.T, devices []*cuda.Device) {
		engines.WithSession(t, session.Options{}, func(s *session.Session) {
			for i, spec := range []gen.Spec{{Model: "rmat", Scale: 8, M: 2000}, {Model: "er", N: 1, P: 0}, {Model: "er", N: 2, P: 1}} {
				g := generate(t, spec)
				for k := 4; k <= 5; k++ {
					same(t, s, fmt.Sprint(spec), g, k, i == 0, Options{})
				}
			}
		}, devices...)
	})
}

// TestMemory: a run with little memory has fewer teams, and one with too little is refused.
func TestMemory(t *testing.T) {
	g := generate(t, gen.Spec{Model: "ba", N: 1000, K: 4, Seed: 5})
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		taken, refused := 0, 0
		for _, memory := range []int64{60 << 10, 120 << 10, 300 << 10, 500 << 10} {
			engines.WithSession(t, session.Options{Memory: memory}, func(s *session.Session) {
				for k := 4; k <= 5; k++ {
					if _, err := Motifs(t.Context(), s, g, &g.Out, motifs(t, k, true), Options{}); errors.Is(err, session.ErrShort) {
						refused++
						continue
					}
					taken++
					same(t, s, fmt.Sprint(memory), g, k, true, Options{})
				}
			}, d)
		}
		if taken < 4 || refused < 3 {
			t.Errorf("%d runs were taken, and %d refused", taken, refused)
		}
	})
}

// TestSums: sums that pass 64 bits are added exactly. A star has large numbers of stars and paths, and a complete bipartite
// graph of cycles.
func TestSums(t *testing.T) {
	onDevice(t, func(t *testing.T, s *session.Session) {
		const leaves = 150000 // C(leaves, 4) passes 2^64
		g := generate(t, gen.Spec{Model: "star", N: leaves})
		ps := motifs(t, 5, false)
		got, err := Motifs(t.Context(), s, g, &g.Out, ps, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range ps {
			want := new(big.Int)
			if p.Name == "star(4)" {
				want.Binomial(int64(g.NumVertices()-1), 4)
			}
			if got.Counts[i].Cmp(want) != 0 {
				t.Errorf("%s: %v, want %v", p.Name, got.Counts[i], want)
			}
		}
		if n, _ := new(big.Int).SetString("18446744073709551616", 10); got.Counts[starOf(ps)].Cmp(n) <= 0 {
			t.Errorf("%v stars fit 64 bits", got.Counts[starOf(ps)])
		}
	})
}

func starOf(ps []*pattern.Pattern) int {
	return slices.IndexFunc(ps, func(p *pattern.Pattern) bool { return p.Name == "star(4)" })
}

// TestOrder: no count depends on ids that ascend as degrees fall. It is also the test under sanitizers.
func TestOrder(t *testing.T) {
	onDevice(t, func(t *testing.T, s *session.Session) {
		b := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 700, Seed: 2})
		g := reversed(b)
		for k := 4; k <= 5; k++ {
			for _, limit := range []int{0, -1, 20} {
				same(t, s, fmt.Sprint("reversed", limit), g, k, false, Options{limit: limit})
			}
		}
	})
}

// reversed is a graph with the ids in the other order.
func reversed(g *graph.Graph) *graph.Graph {
	n := uint32(g.NumVertices())
	var out graph.CSR
	out.Off = append(out.Off, 0)
	for v := range n {
		list := slices.Clone(g.Out.List(n - 1 - v))
		for i := range list {
			list[i] = n - 1 - list[i]
		}
		slices.Sort(list)
		out.Adj = append(out.Adj, list...)
		out.Off = append(out.Off, uint64(len(out.Adj)))
	}
	return &graph.Graph{Out: out}
}
