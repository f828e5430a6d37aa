package join_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// calls counts the calls of a device.
type calls struct {
	cuda.Backend
	mu    sync.Mutex
	count map[string]int
}

func (c *calls) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[name]++
}

func (c *calls) Launch(f cuda.Handle, blocks, threads, shared int, stream cuda.Handle, params unsafe.Pointer, bytes int) error {
	c.note("launch")
	return c.Backend.Launch(f, blocks, threads, shared, stream, params, bytes)
}

func (c *calls) Alloc(bytes int64) (uint64, error) {
	c.note("alloc")
	return c.Backend.Alloc(bytes)
}

func (c *calls) Fill(dst uint64, value byte, bytes int64, stream cuda.Handle) error {
	c.note("fill")
	return c.Backend.Fill(dst, value, bytes, stream)
}

func (c *calls) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream cuda.Handle) error {
	c.note("copy in")
	return c.Backend.CopyIn(dst, src, bytes, stream)
}

func (c *calls) CopyOut(dst unsafe.Pointer, src uint64, bytes int64, stream cuda.Handle) error {
	c.note("copy out")
	return c.Backend.CopyOut(dst, src, bytes, stream)
}

func (c *calls) Wait(stream cuda.Handle) error {
	c.note("wait")
	return c.Backend.Wait(stream)
}

// TestGPUFewCalls: a query of four vertices whose tables are not full has a launch for each phase and for each filter,
// and the host waits for all of them at once. Its second run finds all arrays and all memory on the device.
func TestGPUFewCalls(t *testing.T) {
	g, _ := labelledCycle(t)
	q, err := gql.Parse("MATCH (a:A)-[:X]->(b WHERE deg(b) > 5)-[:Y]->(c)<-[:X]-(d)")
	if err != nil {
		t.Fatal(err)
	}
	count := &calls{Backend: device.Backend(t, emu.Options{Seed: device.Seed()})}
	d, err := cuda.New(count, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 28, Ring: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		filter string
		order  string
		batch  string
		launch int
	}{
		{"off", "gsi", "0", 4}, {"off", "join", "0", 4}, {"signature", "gsi", "0", 8},
		{"auto", "gsi", "0", 4},      // signatures do not pay here
		{"signature", "ri", "90", 0}, // 264 vertices may be roots, and 83 are: one launch finds them
	} {
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: c.order, NoTail: true})
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatalf("%v, %v", want.Matches, err)
		}
		run, err := join.NewGPU(s).Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"join.extend": "single", "join.filter": c.filter, "join.batch": c.batch}})
		if err != nil {
			t.Fatal(err)
		}
		var got engine.Result
		for range 2 {
			count.count = nil
			if got, err = run.Run(t.Context(), engine.Goal{}); err != nil || got.Matches != want.Matches {
				t.Fatalf("%v, %v; want %v", got.Matches, err, want.Matches)
			}
		}
		if !strings.Contains(fmt.Sprint(got.Stats), "join_roots_rows 1 times") {
			t.Errorf("filter %s, order %s: %v", c.filter, c.order, got.Stats)
		}
		if c.launch == 0 {
			continue
		}
		most := map[string]int{"launch": c.launch, "alloc": 1, "copy in": 2, "copy out": 2, "wait": 5}
		for name, n := range maps.All(count.count) {
			if n > most[name] {
				t.Errorf("filter %s, order %s: %d calls of %s, want %d", c.filter, c.order, n, name, most[name])
			}
		}
		if count.count["launch"] != c.launch {
			t.Errorf("filter %s, order %s: %d launches, want %d", c.filter, c.order, count.count["launch"], c.launch)
		}
	}
}

// TestGPUTwoDevices: devices that share the roots find what the host engine counts, in tables that are full and in
// others, and a device that gets its roots later than the first launch goes on.
func TestGPUTwoDevices(t *testing.T) {
	g := skewed(t)
	two := []*cuda.Device{device.Emulated(t, emu.Options{Seed: device.Seed()}), device.Emulated(t, emu.Options{})}
	s, err := session.Open(two, session.Options{Memory: 1 << 28, Ring: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, batch := range []string{"0", "50"} {
		p := planned(t, g, "diamond", plan.Options{Order: "gsi", NoTail: true})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.Once(t.Context(), join.NewGPU(s), g, p, engine.Options{Opt: map[string]string{"join.batch": batch}}, engine.Goal{})
		if err != nil || got.Matches != want.Matches || !got.Complete {
			t.Errorf("batch %s: %v (complete %v, %v), want %v", batch, got.Matches, got.Complete, err, want.Matches)
		}
	}
}

// TestGPUManyRoots: warps take many roots at a time where there are many. Those that find no room wait, and none is lost.
func TestGPUManyRoots(t *testing.T) {
	long.Only(t, "tables of many roots take seconds")
	const n = 2 << 16 // of which warps take 64 at a time
	s := &nodiff.Spec{N: n, Directed: true}
	for v := range n {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v ^ 1})
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (a)-->(b)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1}, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		o := engine.Options{Opt: map[string]string{"join.batch": "29990", "join.filter": "off"}}
		got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
		if err != nil || got.Matches != engine.U64(n) || !got.Complete {
			t.Errorf("%v (complete %v, %v), want %d", got.Matches, got.Complete, err, n)
		}
		if !strings.Contains(fmt.Sprint(got.Stats), "join_roots_rows 5 times") {
			t.Error(got.Stats)
		}
	})
}
