package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/cached"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestLawOnDevice is TestLaw with a device. Its room for matches is small, and tasks are cut into parts.
func TestLawOnDevice(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		law(t, 1, func(t *rapid.T, g *dynamic.Graph) nest.Device {
			o := cached.Options{Threads: 64, Blocks: 2, Rows: rapid.IntRange(1, 100).Draw(t, "rows"), Split: rapid.IntRange(1, 3).Draw(t, "split")}
			o.Listed = rapid.SampledFrom([]int{0, 1, 10, 30}).Draw(t, "listed")
			o.Policy = cached.Policy(rapid.IntRange(0, 3).Draw(t, "policy"))
			if o.Policy != cached.Hops {
				o.Memory = int64(rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "memory"))
			}
			x, err := cached.New(d, g, o)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}, drawAny)
	})
}

// hubs is a graph of which two vertices have many neighbours, with others.
func hubs(t *testing.T, n uint64) *dynamic.Graph {
	g := dynamic.New(false, false)
	r := rand.New(rand.NewPCG(3, 5))
	for v := range n {
		for _, u := range []uint64{0, 1, r.Uint64N(n), r.Uint64N(n)} {
			if u != v && !(u < 2 && v%3 == 0) {
				if _, err := g.AddEdge(dynamic.Num(u), dynamic.Num(v), dynamic.NoLabel); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return g
}

// TestDeviceHubs: lists that are longer than a warp, and changed many times in a batch, give what the cores find.
func TestDeviceHubs(t *testing.T) {
	const n = 400
	texts := []string{"MATCH triangle", "MATCH cycle(4)", "MATCH clique(4)", "MATCH (a)--(b)--(c), NOT (a)--(c)"}
	run := func(t *testing.T, d *cuda.Device) []any {
		g := hubs(t, n)
		o := Options{Workers: 2}
		if d != nil {
			x, err := cached.New(d, g, cached.Options{Split: 64})
			if err != nil {
				t.Fatal(err)
			}
			o.Device = x
		}
		m := New(g, o)
		defer m.Close()
		for i, text := range texts {
			if _, err := m.Add(fmt.Sprint(i), parse(t, text), nest.WatchOptions{CountsOnly: i != 0}); err != nil {
				t.Fatal(err)
			}
		}
		for v := range uint64(50) { // as a service does with updates that it answered before it was stopped
			if _, err := g.AddEdge(dynamic.Num(v), dynamic.Num(n+v%7), dynamic.NoLabel); err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(7, 11))
		var out []any
		for _, size := range []int{1, 100, 3} {
			var batch []stream.Update
			for range size {
				op := stream.AddEdge
				if r.IntN(3) == 0 {
					op = stream.RemoveEdge
				}
				batch = append(batch, edge(op, r.Uint64N(2+n/20*r.Uint64N(2)), r.Uint64N(n)))
			}
			if size == 3 { // updates that are made without an answer, as the context ends
				ctx, cancel := context.WithCancel(t.Context())
				if _, err := m.Steps(ctx, func() (dynamic.Result, bool, error) {
					if ctx.Err() != nil {
						return 0, false, nil
					}
					cancel()
					done, err := g.AddEdge(dynamic.Num(5), dynamic.Num(7), dynamic.NoLabel)
					return done, true, err
				}, nil); d != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			found := &lines{}
			res, err := m.Apply(t.Context(), batch, found)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(found.out) // deltas of one update and watch have an order of their own
			out = append(out, res.Counts, found.out)
		}
		return out
	}
	want := run(t, nil)
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		if got := run(t, d); !reflect.DeepEqual(got, want) {
			t.Errorf("the device finds\n%v\nand the cores\n%v", got, want)
		}
	})
}

// TestDeviceFaults: a device that fails at any call gives an error, and never a wrong number. If it is not lost, later batches are right.
func TestDeviceFaults(t *testing.T) {
	batches := [][]stream.Update{
		{edge(stream.AddEdge, 5, 8), edge(stream.AddEdge, 0, 3), edge(stream.RemoveEdge, 1, 4)},
		{edge(stream.RemoveEdge, 5, 8), edge(stream.AddEdge, 2, 9)},
		{edge(stream.AddEdge, 5, 8)},
	}
	run := func(f *cuda.Faults) (out [][]nest.Count, errs []error) {
		g := hubs(t, 20)
		o := Options{Workers: 1}
		if f != nil {
			d, err := cuda.New(f, device.Objects().Images)
			if err != nil {
				return nil, []error{err}
			}
			defer d.Close()
			x, err := cached.New(d, g, cached.Options{Threads: 32, Blocks: 1})
			if err != nil {
				return nil, []error{err}
			}
			o.Device = x
		}
		m := New(g, o)
		defer m.Close()
		for i, text := range []string{"MATCH triangle", "MATCH cycle(4)"} {
			if _, err := m.Add(fmt.Sprint(i), parse(t, text), nest.WatchOptions{}); err != nil {
				errs = append(errs, err)
				if _, err := m.Add(fmt.Sprint(i), parse(t, text), nest.WatchOptions{}); err != nil {
					return nil, errs // the device is lost
				}
			}
		}
		for _, batch := range batches {
			res, err := m.Apply(t.Context(), batch, &lines{})
			out = append(out, res.Counts)
			if errs = append(errs, err); err != nil {
				out[len(out)-1] = nil
			}
		}
		return out, errs
	}
	want, _ := run(nil)
	check := func(what string, f *cuda.Faults) (failed bool) {
		t.Helper()
		f.Backend = device.Backend(t, emu.Options{})
		got, errs := run(f)
		for i, counts := range got {
			if counts != nil && !reflect.DeepEqual(counts, want[i]) {
				t.Errorf("%s: batch %d: %v and no error, want %v", what, i, counts, want[i])
			}
		}
		return errors.Join(errs...) != nil
	}
	none := &cuda.Faults{}
	if check("without faults", none) {
		t.Fatal("an error without faults")
	}
	calls := none.Calls()
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 1; n <= calls; n += step {
		check(fmt.Sprint("lost after ", n), &cuda.Faults{LoseAfter: n})
	}
	for _, k := range []struct {
		name string
		of   func(n int) *cuda.Faults
	}{
		{"alloc", func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} }},
		{"launch", func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} }},
		{"copy", func(n int) *cuda.Faults { return &cuda.Faults{FailCopy: n} }},
		{"work", func(n int) *cuda.Faults { return &cuda.Faults{FailWork: n} }},
		{"skipped kernel", func(n int) *cuda.Faults { return &cuda.Faults{SkipOne: n} }},
	} {
		some := false
		for n := 1; n < 40; n++ {
			failed := check(fmt.Sprint(k.name, " ", n), k.of(n))
			some = some || failed
			if !failed {
				break
			}
		}
		if !some {
			t.Errorf("%s: no fault is an error", k.name)
		}
	}
}
