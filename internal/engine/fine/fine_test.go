package fine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestMain lowers the number of random plans unless it is given: each costs a run
// of the compiler.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		n := "12"
		if !long.Asked() {
			n = "5"
		}
		flag.Set("rapid.checks", n)
	}
	os.Exit(m.Run())
}

// onDevice runs f with the engine over each kind of device that there is.
func onDevice(t *testing.T, f func(t *testing.T, e engine.Engine)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{}, func(s *session.Session) { f(t, fine.New(s)) }, d)
	})
}

// onEmulated is the engine on the emulated device.
func onEmulated(t *testing.T) engine.Engine {
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{})}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return fine.New(s)
}

// nest makes plans of loops.
func nest(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Method = "nest"
	return planner.Compile(g, p, o)
}

// TestAgreesWithOracle compares random plans with the oracle, with each switch on
// and off and pools of a few rows.
func TestAgreesWithOracle(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		nodiff.Check(t, nodiff.Config{Engine: hashed(e), Compile: nest, MaxVertices: 9, Techniques: techniques, LeastRuns: 1, Opt: map[string]string{
			"fine.batch": "off", "fine.steal": "block", "fine.pool": "8", "fine.lookup": "hash|search", "fine.prune": "on", "fine.siblings": "off|on", "gpu.adjacency": "host|cached",
		}})
	})
}

// TestSwitches counts patterns on graphs with work for many warps, in all ways,
// and compares with the host engine.
func TestSwitches(t *testing.T) {
	g := denseGraph(t)
	onDevice(t, func(t *testing.T, e engine.Engine) {
		if !long.Asked() {
			t.Log("without WEFT_LONG: two of four patterns, each with every other set of options, since each is compiled")
		}
		for i, name := range []string{"clique(4)", "cycle(4)", "diamond", "star(3)"} {
			if !long.Asked() && i%2 == 1 {
				continue
			}
			ps, err := pattern.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri"})
			if err != nil {
				t.Fatal(err)
			}
			walked, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri", NoTail: true})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			for nth, opt := range []string{
				"", "fine.batch=off", "plan.tail=off", "fine.lookup=hash", "fine.lookup=search", "fine.prune=on", "fine.prune=on fine.lookup=hash", "fine.prune=on fine.lookup=search plan.tail=off", "fine.pool=0", "fine.pool=50",
				"fine.steal=off", "fine.steal=block", "fine.steal=grid fine.pool=0", "plan.tail=off fine.pool=0 fine.batch=off",
				"plan.tail=off fine.pool=0 fine.siblings=off", "plan.tail=off fine.pool=0", "plan.tail=off fine.pool=50 fine.siblings=on fine.lookup=hash", "plan.tail=off fine.pool=0 fine.prune=on fine.steal=block",
			} {
				if !long.Asked() && nth%2 != i/2%2 {
					continue
				}
				o := engine.Options{Levels: true, Opt: map[string]string{}}
				for kv := range strings.FieldsSeq(opt) {
					k, v, _ := strings.Cut(kv, "=")
					o.Opt[k] = v
				}
				p := p
				if o.Opt["plan.tail"] == "off" {
					p = walked
				}
				got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
				if err != nil {
					t.Fatalf("%s %s: %v", name, opt, err)
				}
				if got.Matches != want.Matches || !got.Complete {
					t.Errorf("%s %s: %v (complete: %v), the host says %v", name, opt, got.Matches, got.Complete, want.Matches)
				}
				// A star is counted by degrees: no thread tests a candidate.
				if idle := fmt.Sprint(got.Stats); name != "star(3)" && !strings.Contains(idle, "idle rate") {
					t.Errorf("%s %s: no idle rate in %v", name, opt, idle)
				}
				if len(got.Notes) != 0 {
					t.Errorf("%s %s: %v is said without being asked for", name, opt, got.Notes)
				}
			}
		}
	})
}

func TestOptions(t *testing.T) {
	e := onEmulated(t)
	g := denseGraph(t)
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	for opt, ok := range map[string]bool{"fine.batch=on": true, "fine.batch=1": true, "fine.batch=2": false, "fine.steal=warp": false, "fine.pool=-1": false, "fine.pool=7": true,
		"fine.index=hash": true, "fine.index=none": true, "fine.index=list": false,
		"fine.lookup=bits": true, "fine.siblings=off": true, "fine.siblings=yes": false, "fine.lookup=search": true, "fine.lookup=tree": false, "fine.prune=on": true, "fine.prune=yes": false,
		"fine.stael=off": false, "stack.unroll=4": true,
	} {
		k, v, _ := strings.Cut(opt, "=")
		if err := engines.Refusal(e, g, p, engine.Options{Opt: map[string]string{k: v}}); (err == nil) != ok || err != nil && !errors.Is(err, engine.ErrOption) {
			t.Errorf("%s: %v", opt, err)
		}
	}
}

// TestMethods: fine runs nests, and searches a candidate graph for the large method,
// also where that is not worthwhile; other methods are refused, and not run as nests.
func TestMethods(t *testing.T) {
	g, emulated := denseGraph(t), onEmulated(t)
	for _, c := range []struct {
		pattern, method, index string
		mode                   pattern.Mode
		runs                   bool
	}{
		{"diamond", "nest", "auto", pattern.Iso, true}, {"diamond", "large", "auto", pattern.Iso, true}, {"diamond", "large", "none", pattern.Iso, false},
		{"diamond", "local", "auto", pattern.Iso, false}, {"diamond", "formula", "auto", pattern.Iso, false}, {"cycle(5)", "walks", "auto", pattern.Hom, false},
		{"diamond", "large", "auto", pattern.Trail, false},
	} {
		ps, err := pattern.ByName(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		ps[0].Mode = c.mode
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: c.method})
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Opt: map[string]string{"fine.index": c.index}}
		if err := engines.Refusal(emulated, g, p, o); (err == nil) != c.runs {
			t.Errorf("%+v: %v", c, err)
		}
		if !c.runs || c.method != "large" {
			continue
		}
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		onDevice(t, func(t *testing.T, e engine.Engine) {
			got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
			if err != nil || got.Matches != want.Matches || !strings.Contains(strings.Join(got.Stats, "; "), "candidate graph") {
				t.Errorf("%v, %v, %v; want %v", got.Matches, got.Stats, err, want.Matches)
			}
		})
	}
}

// denseGraph has hubs and enough edges that warps run out of work at different
// times.
func denseGraph(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 7, M: 700, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStops lets a long search be stopped by its context, soon, with a
// part of the count.
func TestStops(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 400, P: 0.5, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("cycle(6)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri", Quick: true, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		// The kernel is compiled before the clock runs.
		if _, err := engine.Once(t.Context(), e, g, p, engine.Options{}, engine.Goal{Limit: 1}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		start := time.Now()
		got, err := engine.Once(ctx, e, g, p, engine.Options{}, engine.Goal{})
		took := time.Since(start)
		t.Logf("stopped after %v", took)
		if !errors.Is(err, context.DeadlineExceeded) || got.Complete {
			t.Errorf("%v, complete: %v", err, got.Complete)
		}
	})
}

// TestStopsAtStart: a limit is reached while blocks of the kernel are still to
// begin, so that some of their threads could see it and others not.
func TestStopsAtStart(t *testing.T) {
	d := device.Emulated(t, emu.Options{SMs: 8, Threads: 4, Seed: device.Seed()})
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := denseGraph(t)
	p, err := nest(g, &pattern.Pattern{Vertices: []pattern.Vertex{{Name: "a"}}}, plan.Options{Root: plan.NoRoot, Listing: true})
	if err != nil {
		t.Fatal(err)
	}
	runs := 200
	if !long.Asked() {
		runs = 40
		t.Log("without WEFT_LONG: 40 of 200 runs, of which one in a few meets the end at the start")
	}
	for range runs {
		var rows rowCounter
		if _, err := engine.Once(t.Context(), fine.New(s), g, p, engine.Options{}, engine.Goal{Sink: &rows, Limit: 1}); err != nil || rows != 1 {
			t.Fatalf("%d rows, %v", rows, err)
		}
	}
}

// rowCounter counts the rows that it is given.
type rowCounter int

func (c *rowCounter) Emit(_ int, b *engine.Batch) error {
	*c += rowCounter(b.Rows)
	return nil
}

// TestTwoDevices shares the candidates of level 0 between two devices.
func TestTwoDevices(t *testing.T) {
	devices := []*cuda.Device{device.Emulated(t, emu.Options{SMs: 2}), device.Emulated(t, emu.Options{SMs: 2})}
	s, err := session.Open(devices, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := denseGraph(t)
	ps, err := pattern.ByName("cycle(5)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []map[string]string{nil, {"fine.prune": "on"}, {"fine.index": "bitmap"}, {"fine.index": "hash", "fine.pool": "200"}} {
		got, err := engine.Once(t.Context(), fine.New(s), g, p, engine.Options{Opt: opt}, engine.Goal{})
		if err != nil || got.Matches != want.Matches || !got.Complete {
			t.Errorf("%v: %v (complete: %v, %v), the host says %v", opt, got.Matches, got.Complete, err, want.Matches)
		}
		notes := fmt.Sprint(got.Notes)
		if index := opt["fine.index"] != ""; strings.Contains(notes, "on the first of 2 devices") != index || strings.Contains(notes, "no pool") == index {
			t.Errorf("%v: %s", opt, notes)
		}
	}
}

// TestTablesStay: hash tables and bits of lists stay on the device with the
// graph, and those of pruned lists do not; bits are what a small graph gets.
func TestTablesStay(t *testing.T) {
	g := denseGraph(t)
	ps, err := pattern.ByName("clique(3)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	d := device.Emulated(t, emu.Options{SMs: 2})
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var held []int64
	for _, opt := range []map[string]string{
		{"fine.lookup": "search"}, {"fine.prune": "on", "fine.lookup": "hash"}, {"fine.lookup": "hash"}, {"fine.lookup": "hash"},
		{"fine.prune": "on"}, nil, {"fine.lookup": "bits"},
	} {
		if _, err := engine.Once(t.Context(), fine.New(s), g, p, engine.Options{Opt: opt}, engine.Goal{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Free(t.Context()); err != nil { // gives back what is kept for scratch memory
			t.Fatal(err)
		}
		held = append(held, d.InUse())
	}
	tables := int64(12 * (g.NumVertices() + len(g.Out.Adj))) // with their filters
	if grown := held[2] - held[1]; held[1] != held[0] || grown < tables || grown > tables+320 || held[3] != held[2] {
		t.Errorf("%d bytes are held; tables take %d", held, tables)
	}
	bits := int64(4 * g.NumVertices() * ((g.NumVertices() + 31) / 32))
	if grown := held[5] - held[4]; held[4] != held[3] || grown < bits || grown > bits+64 || held[6] != held[5] {
		t.Errorf("%d bytes are held; bits take %d", held, bits)
	}
}
