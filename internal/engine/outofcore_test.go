package engine_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// outOfCore are ways of the engines of GPUs to search, which read neighbour lists by a cache.
var outOfCore = []search{
	{"stack, local", "clique(4)", "local", false, newStack, nil},
	{"stack", "triangle", "nest", false, newStack, map[string]string{"stack.threads": "64", "stack.slot": "20"}},
	{"stack, four levels", "cycle(4)", "nest", false, newStack, map[string]string{"stack.threads": "64"}},
	{"stack, edges as roots", "diamond", "nest", false, newStack, map[string]string{"stack.roots": "edge", "stack.threads": "64"}},
	{"stack, listing", "diamond", "nest", true, newStack, map[string]string{"stack.threads": "64"}},
	{"stack, local with a vertex outside", "cycle(4)", "local", false, newStack, nil},
	{"fine", "cycle(4)", "nest", false, newFine, map[string]string{"fine.lookup": "search"}},
	{"fine, hash tables", "diamond", "nest", false, newFine, map[string]string{"fine.lookup": "hash", "membership.short": "3"}},
	{"fine, pruned", "diamond", "nest", false, newFine, map[string]string{"fine.prune": "on"}},
	{"codegen", "cycle(4)", "nest", false, newCodegen, map[string]string{"codegen.lookup": "search"}},
	{"codegen, listing", "clique(4)", "nest", true, newCodegen, nil},
	{"codegen, local", "diamond", "local", false, newCodegen, nil},
}

// overColumns is the one that goes over blocks of columns.
var overColumns = outOfCore[5]

// TestBudgets: with less and less device memory every engine counts the same: with all arrays on the device, with lists in
// host memory and a cache that gets smaller, and without a cache. When there is too little, the error names
// the least memory that does, which does; a page less does not.
func TestBudgets(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		spec := gen.Spec{Model: "rmat", Scale: 10, M: 7000, Seed: 1}
		if !d.Info().Emulated {
			spec = gen.Spec{Model: "rmat", Scale: 13, M: 60_000, Seed: 1}
		}
		g, err := gen.Generate(t.Context(), spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		ways := outOfCore
		if !long.Asked() && d.Info().Emulated {
			ways = ways[:2]
			t.Log("without WEFT_LONG: two ways to search")
		}
		for i, x := range ways {
			// The order of lanes changes no sizes: one of the two emulated devices for each way.
			if long.Asked() && d.Info().Emulated && (i%2 == 0) == strings.HasSuffix(t.Name(), "/shuffled") {
				continue
			}
			t.Run(x.name, func(t *testing.T) { x.budgets(t, d, g) })
		}
	})
}

// rehearse prepares a run without a search.
func (x search) rehearse(t *testing.T, d *cuda.Device, g *graph.Graph, memory int64) (m engine.Memory) {
	t.Helper()
	s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory, Ring: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	goal := engine.Goal{Memory: &m}
	if x.listing {
		goal.Sink = new(rowCounter)
	}
	r, err := engine.Once(t.Context(), x.open(s), g, x.plan(t, g), engine.Options{Opt: x.opt}, goal)
	if err != nil || !r.Matches.IsZero() || r.Complete {
		t.Errorf("%d bytes, rehearsed: %v matches, complete %v: %v", memory, r.Matches, r.Complete, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return m
}

func (x search) budgets(t *testing.T, d *cuda.Device, g *graph.Graph) {
	p := x.plan(t, g)
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	own := x.opt
	// with runs the search with a number of bytes.
	with := func(memory int64, place, cache string) (engine.Result, error) {
		x.opt = map[string]string{gpu.Adjacency: place, "gpu.cache": cache}
		maps.Copy(x.opt, own)
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory, Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		got, rows, err := x.run(t, s, g, p)
		if err == nil && (got.Matches != want.Matches || !got.Complete || x.listing && engine.U64(uint64(rows)) != want.Matches) {
			t.Errorf("%d bytes, %s, %s: %v (complete %v, %d rows), the host says %v", memory, place, cache, got.Matches, got.Complete, rows, want.Matches)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return got, err
	}
	caches := map[string]bool{}
	whole := 4*int64(len(g.Out.Adj)) + 16*int64(len(g.Out.Off)) + 1<<20
	least := int64(0)
	step := int64(6)
	if !long.Asked() {
		step = 3
	}
	for memory := 2 * whole; least == 0; memory -= memory / step * 2 {
		for _, cache := range []string{"walks", "degree"} {
			r, err := with(memory, "cached", cache)
			switch {
			case errors.Is(err, session.ErrShort):
				if least = session.LeastOf(err); least <= memory {
					t.Fatalf("%d bytes: %v, and %d would do", memory, err, least)
				}
			case err != nil:
				t.Fatalf("%d bytes: %v", memory, err)
			}
			for _, s := range r.Stats {
				if _, text, ok := strings.Cut(s, "a cache of "); ok {
					caches[text] = true
				}
			}
		}
	}
	if len(caches) < 2 {
		t.Errorf("caches %v: want several", caches)
	}
	if _, err := with(least, "cached", "walks"); err != nil {
		t.Errorf("%d bytes are the least, and: %v", least, err)
	}
	if _, err := with(least-4096, "cached", "walks"); session.LeastOf(err) != least {
		t.Errorf("%d bytes are a page less than the least, and: %v", least-4096, err)
	}
	// A rehearsal says what the run does, except for the pages that a search takes once it has begun.
	const page = 4096
	for _, memory := range []int64{least, 2 * least, 4 * whole} {
		r, err := with(memory, "cached", "walks")
		if err != nil {
			t.Fatal(err)
		}
		m := x.rehearse(t, d, g, memory)
		var got gpu.Figures
		if !got.Read(r.Stats) || m.Least != least || m.Budget != min(memory, d.Info().Memory) {
			t.Errorf("%d bytes: %+v; %d are the least", memory, m, least)
		}
		if got.Host != m.Host() || got.Search < m.Search || got.Search >= m.Search+page || got.Lists > 0 && (m.Cache == nil || m.Cache.Lists != got.Lists || m.Cache.Bytes != got.Cache) {
			t.Errorf("%d bytes: rehearsed %+v %+v, and then %+v", memory, m, m.Cache, got)
		}
	}
	if _, err := with(least, "cached", "off"); err != nil {
		t.Errorf("%d bytes without a cache: %v", least, err)
	}
	t.Log(least, caches)
}

// TestFaultsOutOfCore: a search whose lists lie in host memory with a cache, with little memory, has the right number or an error of
// the fault's kind and no number, and nothing is left on the device: if any copy fails, if the device is lost after
// any call, and if the context ends at any call.
func TestFaultsOutOfCore(t *testing.T) {
	tries := 6
	if long.Asked() {
		tries = 60
	} else {
		t.Log("without WEFT_LONG: six places of each fault")
	}
	interrupted := errors.New("interrupted")
	for _, c := range []struct {
		search
		edges  uint64
		memory int64
	}{{outOfCore[0], 3000, 64 << 10}, {outOfCore[1], 3000, 64 << 10}, {overColumns, 12_000, 48 << 10}} {
		x := c.search
		g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: c.edges, Seed: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(x.name, func(t *testing.T) {
			x.opt = maps.Clone(x.opt)
			if x.opt == nil {
				x.opt = map[string]string{}
			}
			x.opt[gpu.Adjacency] = "cached"
			p := x.plan(t, g)
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			run := func(ctx context.Context, f *cuda.Faults) error {
				f.Backend = device.Backend(t, emu.Options{})
				d, err := cuda.New(f, device.Objects().Images)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory, Ring: 1 << 14})
				if err != nil {
					return err
				}
				got, err := engine.Once(ctx, x.open(s), g, p, engine.Options{Opt: x.opt}, engine.Goal{})
				switch {
				case err == nil && (got.Matches != want.Matches || !got.Complete):
					t.Errorf("%v matches, complete %v, and no error; want %v", got.Matches, got.Complete, want.Matches)
				case got.Complete && err != nil || err != nil && !errors.Is(err, interrupted) && !got.Matches.IsZero():
					t.Errorf("%v matches, complete %v, with error %v", got.Matches, got.Complete, err)
				}
				var memory gpu.Figures
				if memory.Read(got.Stats); err == nil && memory.Lists == 0 {
					t.Error("no list is in the cache")
				}
				if err == nil && x.name == overColumns.name && !strings.Contains(strings.Join(got.Stats, " "), inColumns) {
					t.Errorf("no sweep over columns: %s", got.Stats)
				}
				if closed := s.Close(); err == nil {
					err = closed
				}
				if n := d.InUse(); n != 0 && !errors.Is(err, cuda.ErrLost) {
					t.Errorf("%d bytes are in use after error %v", n, err)
				}
				return err
			}
			sound := &cuda.Faults{}
			if err := run(t.Context(), sound); err != nil {
				t.Fatal(err)
			}
			calls := sound.Calls()
			failed := map[string]int{}
			for k := range tries {
				at := 1 + k*calls/tries
				if err := run(t.Context(), &cuda.Faults{FailCopy: 1 + k}); err != nil {
					failed["copy"]++
				}
				switch err := run(t.Context(), &cuda.Faults{LoseAfter: at}); {
				case err == nil:
				case errors.Is(err, cuda.ErrLost):
					failed["loss"]++
				default:
					t.Errorf("lost after %d calls: %v", at, err)
				}
				ctx, end := context.WithCancelCause(t.Context())
				switch err := run(ctx, &cuda.Faults{CallAt: at, Call: func() { end(interrupted) }}); {
				case err == nil:
				case errors.Is(err, interrupted):
					failed["end"]++
				default:
					t.Errorf("ended at call %d: %v", at, err)
				}
				end(nil)
			}
			if len(failed) != 3 {
				t.Errorf("failures: %v of %d calls", failed, calls)
			}
		})
	}
}

// TestCacheKept: a query that is asked again finds its cache on the device; another query makes its own.
func TestCacheKept(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 3000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		tables := 2 * int64(4*(session.HeadIDs+g.NumVertices())) // the places in host memory, and then those of copies
		for i, c := range []struct {
			pattern string
			again   bool
		}{{"triangle", false}, {"triangle", true}, {"cycle(4)", false}, {"triangle", false}, {"triangle", true}} {
			x := search{"stack", c.pattern, "nest", false, newStack, map[string]string{gpu.Adjacency: "cached", "stack.threads": "64"}}
			p := x.plan(t, g)
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			r, _, err := x.run(t, s, g, p)
			var f gpu.Figures
			f.Read(r.Stats)
			if err != nil || r.Matches != want.Matches || f.Lists == 0 || (f.Copied == tables) != c.again {
				t.Errorf("run %d: %v, want %v, %+v: %v", i, r.Matches, want.Matches, f, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestSweeps: a search whose reads no small cache serves goes in sweeps over blocks of lists. It counts the same, again with the blocks
// of the run before, and a device that leaves out a kernel gives no number.
func TestSweeps(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 11, M: 60_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := search{"stack", "diamond", "local", false, newStack, map[string]string{gpu.Adjacency: "cached", "stack.local.whole": "off"}}
	p := x.plan(t, g)
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	const small = 220 << 10
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, c := range []struct {
			memory int64
			blocks bool
		}{{small, true}, {2 << 20, false}} {
			s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory, Ring: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				r, _, err := x.run(t, s, g, p)
				stats := strings.Join(r.Stats, "\n")
				if err != nil || r.Matches != want.Matches || !r.Complete || strings.Contains(stats, "blocks one after the other") != c.blocks {
					t.Errorf("%d bytes, run %d: %v (complete %v, %v), want %v: %s", c.memory, i, r.Matches, r.Complete, err, want.Matches, stats)
				}
				t.Log(stats)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			one := x
			one.opt = maps.Clone(x.opt)
			one.opt["gpu.sweeps"] = "off"
			if s, err = session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory, Ring: 1 << 14}); err != nil {
				t.Fatal(err)
			}
			for i, x := range []search{one, x, one} { // each makes its own cache
				r, _, err := x.run(t, s, g, p)
				if err != nil || r.Matches != want.Matches || strings.Contains(strings.Join(r.Stats, " "), "blocks one after") != (c.blocks && i == 1) {
					t.Errorf("%d bytes, with and without sweeps, run %d: %v, %v: %s", c.memory, i, r.Matches, err, r.Stats)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			m := x.rehearse(t, d, g, c.memory)
			if m.Cache == nil || c.blocks && m.Cache.Lists != g.NumVertices() {
				t.Errorf("%d bytes, rehearsed: %+v", c.memory, m.Cache)
			}
		}
	})
	tries := 0
	device.Skipping(t, func(d *cuda.Device) error {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: small, Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tries++
		r, _, err := x.run(t, s, g, p)
		if err == nil && (r.Matches != want.Matches || !r.Complete) || err != nil && (!r.Matches.IsZero() || r.Complete) {
			t.Errorf("%v, complete %v, %v; want %v", r.Matches, r.Complete, err, want.Matches)
		}
		return err
	})
	if tries < 3 {
		t.Errorf("%d devices that leave out a kernel", tries)
	}
}
