package cached

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

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

// TestCompare: a comparison does for each kind of cache what the device does with it alone, and finds the same. Where the copy of all lists
// has no room, it says so.
func TestCompare(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		post := func(o Options) (*Device, []uint64) {
			x, base, tasks := searched(t, d, o, walked...)
			if err := x.Post(t.Context(), base, x.g.Events(), tasks); err != nil {
				t.Fatal(err)
			}
			counts := append([]uint64(nil), x.found.Counts...)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			return x, counts
		}
		for _, memory := range []int64{2500, 1 << 20} {
			all, counts := post(Options{Compare: true, Memory: memory})
			for p := Walks; p <= None; p++ {
				got := all.Compared(p)
				if p == Hops && memory < 1<<20 {
					if got.Refused != 1 || got.Wanted <= uint64(memory) || !strings.Contains(all.Work(), fmt.Sprint("1 batches were left out, whose lists need ", got.Wanted, " bytes")) {
						t.Errorf("with %d bytes, cache %v: %+v", memory, p, got)
					}
					continue
				}
				one, alone := post(Options{Policy: p, Memory: memory})
				want := one.Totals()
				for _, w := range []*Work{&got, &want} {
					w.Estimate, w.Copy, w.Match = 0, 0, 0
				}
				if got != want || !slices.Equal(alone, counts) {
					t.Errorf("with %d bytes, cache %v: %+v, want %+v; %v, want %v", memory, p, got, want, counts, alone)
				}
			}
		}
	})
}

// TestNoRoom: a copy of all lists near the changed edges says how many bytes it needs, and as many are enough.
func TestNoRoom(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		post := func(memory int64) error {
			x, base, tasks := searched(t, d, Options{Policy: Hops, Memory: memory}, walked...)
			defer x.Close()
			return x.Post(t.Context(), base, x.g.Events(), tasks)
		}
		err := post(1000)
		var lists, bytes, room int64
		if !errors.Is(err, cuda.ErrMemory) {
			t.Fatalf("%v, want %v", err, cuda.ErrMemory)
		}
		_, cut, _ := strings.Cut(err.Error(), "the ")
		if _, err := fmt.Sscanf(cut, "%d lists near the changed edges need %d bytes, and there are %d for them", &lists, &bytes, &room); err != nil || room != 1000 || bytes <= room {
			t.Fatalf("%q: %v", cut, err)
		}
		if err := post(bytes - 1); !errors.Is(err, cuda.ErrMemory) {
			t.Errorf("%v with a byte less than %d, want %v", err, bytes, cuda.ErrMemory)
		}
		if err := post(bytes); err != nil {
			t.Errorf("%v with %d bytes", err, bytes)
		}
	})
}

// TestWatchdog: a search that does not get on is told to leave, and ends with an error. The next one is right. The context ends a search, too.
func TestWatchdog(t *testing.T) {
	hung := &hanging{Backend: device.Backend(t, emu.Options{})}
	d, err := cuda.New(hung, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the search that uses it
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	x, base, tasks := searched(t, d, Options{Dog: 50 * time.Millisecond}, walked...)
	hung.control = x.control
	hung.on.Store(true)
	if err := x.Post(t.Context(), base, x.g.Events(), tasks); !errors.Is(err, ErrStuck) {
		t.Errorf("%v, want %v", err, ErrStuck)
	}
	ctx, cancel := context.WithCancel(t.Context())
	x.o.Dog = time.Minute
	time.AfterFunc(20*time.Millisecond, cancel)
	x.Forget()
	if err := x.Post(ctx, base, x.g.Events(), tasks); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	hung.on.Store(false)
	x.Forget()
	if err := x.Post(t.Context(), base, x.g.Events(), tasks); err != nil {
		t.Error(err)
	}
}

// hanging is a device whose kernels do not begin until they are told to stop.
type hanging struct {
	cuda.Backend
	control *control
	on      atomic.Bool
	held    func() error // the launch
}

func (h *hanging) Launch(function cuda.Handle, blocks, threads, shared int, stream cuda.Handle, params unsafe.Pointer, bytes int) error {
	if !h.on.Load() {
		return h.Backend.Launch(function, blocks, threads, shared, stream, params, bytes)
	}
	kept := append([]byte(nil), unsafe.Slice((*byte)(params), bytes)...)
	h.held = func() error {
		return h.Backend.Launch(function, blocks, threads, shared, stream, unsafe.Pointer(&kept[0]), bytes)
	}
	return nil
}

func (h *hanging) Done(stream cuda.Handle) (bool, error) {
	if h.held != nil {
		if atomic.LoadUint32(&h.control.Stop) == 0 {
			return false, nil
		}
		launch := h.held
		h.held = nil
		if err := launch(); err != nil {
			return false, err
		}
	}
	return h.Backend.Done(stream)
}
