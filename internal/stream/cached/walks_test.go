package cached

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/device"
)

// searched is a window of a random graph with changed edges, and the tasks of some watches there. Vertex 0 is a hub.
func searched(t *testing.T, d *cuda.Device, o Options, texts ...string) (x *Device, base uint64, tasks []nest.Task) {
	t.Helper()
	g := dynamic.New(false, false)
	r := rand.New(rand.NewPCG(1, 2))
	edge := func() (u, v dynamic.ID) {
		a, b := r.Uint64N(80), r.Uint64N(80)
		if r.IntN(4) == 0 {
			a = 0
		}
		return dynamic.Num(a), dynamic.Num(b)
	}
	for range 400 {
		u, v := edge()
		if _, err := g.AddEdge(u, v, dynamic.NoLabel); err != nil {
			t.Fatal(err)
		}
	}
	x, err := New(d, g, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	ws := nest.NewWatches(g)
	for _, text := range texts {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ws.Add(text, q.Pattern, nest.WatchOptions{CountsOnly: true}); err != nil {
			t.Fatal(err)
		}
	}
	base = g.Version()
	g.Begin()
	for range 8 {
		u, v := edge()
		if _, err := g.AddEdge(u, v, dynamic.NoLabel); err != nil {
			t.Fatal(err)
		}
		u, v = edge()
		if _, err := g.RemoveEdge(u, v, dynamic.NoLabel); err != nil {
			t.Fatal(err)
		}
	}
	ws.Bind()
	if err := x.Bind(ws); err != nil {
		t.Fatal(err)
	}
	for _, e := range g.Events() {
		if e.Kind != dynamic.EdgeAdded {
			continue
		}
		for _, y := range ws.Table.Of(e.Label, g.ClassOf(e.U), g.ClassOf(e.V)) {
			u, v := e.U, e.V
			if y.Swap || y.Nest.Turns && u < v {
				u, v = v, u
			}
			tasks = append(tasks, nest.Task{Nest: y.Nest, Version: e.Version, First: [2]uint32{u, v}})
		}
	}
	return x, base, tasks
}

var walked = []string{"MATCH cycle(4)", "MATCH clique(4)", "MATCH (a)--(b)--(c)--(d)"}

// TestWalks: the estimates are without bias. The mean of many runs differs from how often the search reads a list by at most five times the
// standard error of the mean that the runs show.
func TestWalks(t *testing.T) {
	x, base, tasks := searched(t, device.Emulated(t, emu.Options{}), Options{Policy: None, Split: 16}, walked...)
	if err := x.Post(t.Context(), base, x.g.Events(), tasks); err != nil {
		t.Fatal(err)
	}
	exact := newWalker(&x.lists, x.walks, 0)
	exact.all()
	total := 0.0
	for _, n := range exact.sums {
		total += n
	}
	if w := x.Totals(); uint64(total) != w.Hits+w.Misses || total == 0 {
		t.Errorf("walks that visit all nodes count %v lists that are read, and the kernel %d", total, w.Hits+w.Misses)
	}
	const rounds = 1000
	sum, square := map[uint64]float64{}, map[uint64]float64{}
	for i := range uint64(rounds) {
		w := newWalker(&x.lists, x.walks, i)
		w.run(1000)
		w.run(200)
		for key := range w.sums {
			f := w.frequency(key)
			sum[key] += f
			square[key] += f * f
		}
	}
	for key := range sum {
		if exact.sums[key] == 0 {
			t.Errorf("list %x is never read, and expected to be", key)
		}
	}
	for key, want := range exact.sums {
		mean := sum[key] / rounds
		wrong := math.Sqrt((square[key]/rounds - mean*mean) / rounds)
		if math.Abs(mean-want) > 5*wrong+1e-9 {
			t.Errorf("list %x is read %v times, and expected %v ± %v times", key, want, mean, wrong)
		}
	}
}

// TestCache: a cache with room for some lists has those that are read most, and a cache of all lists has no miss. The longest lists, and
// all near the changed edges, are other choices. All find the same.
func TestCache(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		var want []uint64
		work := func(o Options) Work {
			x, base, tasks := searched(t, d, o, walked...)
			defer x.Close()
			if err := x.Post(t.Context(), base, x.g.Events(), tasks); err != nil {
				t.Fatal(err)
			}
			found, err := x.Take(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = append(want, found.Counts...)
			}
			for i := range want {
				if found.Counts[i] != want[i] {
					t.Errorf("%+v: task %d has %d matches, and then %d", o, i, want[i], found.Counts[i])
				}
			}
			return x.Totals()
		}
		none := work(Options{Policy: None})
		if none.Hits != 0 || none.Copied != 0 || none.Misses == 0 || none.HostBytes == 0 {
			t.Errorf("without a cache: %+v", none)
		}
		all := work(Options{Policy: Hops})
		if all.Misses != 0 || all.HostBytes != 0 || all.Hits != none.Misses || all.Copied == 0 {
			t.Errorf("with all lists in the cache: %+v", all)
		}
		walks := work(Options{Walks: 2000, Memory: 2500})
		degree := work(Options{Policy: Degree, Memory: 2500})
		for _, w := range []Work{walks, degree} {
			if w.Hits == 0 || w.Misses == 0 || w.Hits+w.Misses != none.Misses || w.HostBytes >= none.HostBytes || w.Copied > 2500 || w.Copied == 0 {
				t.Errorf("with some lists in the cache: %+v", w)
			}
		}
		if walks.Hits <= none.Misses/3 {
			t.Errorf("walks find %d of %d lists in the cache", walks.Hits, none.Misses)
		}
	})
}
