package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/cached"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/stream/pipeline"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestDeviceBatches: long runs of plain changes beside a device, with watches that come and go while the device keeps its graph, give what the cores
// find that make each change at once. Changes that no watch looks at are put off and do not reach the device, unless it has edges like them.
func TestDeviceBatches(t *testing.T) {
	const n, classes = 60, 4
	type outcome struct {
		found   [][]string
		counts  [][]nest.Count
		results stream.Outcomes
	}
	// run returns what a matcher finds, with a device by its maker or nil.
	run := func(t *testing.T, o Options, directed bool, of func(g *dynamic.Graph) nest.Device) (out outcome) {
		g := dynamic.New(directed, false)
		for v := range uint64(n) {
			if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint("L", v%classes))); err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(5, 9))
		draw := func() stream.Update {
			u := edge(stream.AddEdge, r.Uint64N(n), r.Uint64N(n))
			if r.IntN(3) == 0 {
				u.Op = stream.RemoveEdge
			}
			return u
		}
		for range 4 * n {
			u := draw()
			if _, err := stream.Apply(g, &u); err != nil {
				t.Fatal(err)
			}
		}
		if of != nil {
			o.Device = of(g)
		}
		m := New(g, o)
		m.grain.run, m.grain.late = 16, 8
		m.SetSeq(0)
		defer func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}()
		add := func(name, text string) {
			if _, err := m.Add(name, parse(t, text), nest.WatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		const b = "MATCH (a:L1)--(b:L1)--(c:L2), (c)--(a)"
		add("a", "MATCH (a:L0)--(b:L1)--(c:L0), (c)--(a)")
		add("b", b)
		for step := range 8 {
			switch step {
			case 2, 5:
				m.Drop("b")
			case 4, 7:
				add("b", b)
			}
			var batch []stream.Update
			for k := range 300 {
				u := draw()
				if step%2 == 1 && k%100 == 50 { // what is not plain ends a run
					u = stream.Update{Op: stream.SetLabels, U: dynamic.Num(r.Uint64N(n)), Labels: []string{fmt.Sprint("L", r.IntN(classes))}}
				}
				batch = append(batch, u)
			}
			found := &reader{g: g, sets: true} // in windows vertices have other numbers, by which one of those that symmetries make alike is chosen
			res, err := m.Apply(t.Context(), batch, found)
			if err != nil || res.Updates != len(batch) {
				t.Fatal(res.Updates, err)
			}
			slices.Sort(found.lines)
			out.found, out.counts = append(out.found, found.lines), append(out.counts, res.Counts)
			out.results.Join(res.Outcomes)
		}
		out.results.Join(m.Late())
		return out
	}
	late := func(o stream.Outcomes) bool {
		return o.Applied > 0 && o.Duplicates > 0 && o.Absent > 0 && o.SelfLoops > 0
	}
	for _, directed := range []bool{false, true} {
		want := run(t, Options{Workers: 1, AtOnce: true}, directed, nil)
		if !late(want.results) || !slices.ContainsFunc(want.found, func(l []string) bool { return len(l) > 0 }) {
			t.Fatalf("the stream is too easy: %+v", want.results)
		}
		device.Each(t, func(t *testing.T, d *cuda.Device) {
			for _, c := range []struct {
				name    string
				o       Options
				entire  bool
				told    bool
				batched bool
			}{
				{"late", Options{Workers: 1}, false, false, false}, {"late, several workers", Options{Workers: 3}, false, false, false},
				{"at once", Options{Workers: 2, AtOnce: true}, false, false, false}, {"all edges", Options{Workers: 2}, true, false, false},
				{"all changes", Options{Workers: 2}, false, true, false}, {"cached", Options{Workers: 2}, false, false, true},
			} {
				var p *pipeline.Device
				got := run(t, c.o, directed, func(g *dynamic.Graph) nest.Device {
					var x nest.Device
					var err error
					if c.batched {
						x, err = cached.New(d, g, cached.Options{Threads: 64, Blocks: 2})
					} else {
						p, err = pipeline.NewDevice(d, g, pipeline.Options{Entire: c.entire, Told: c.told, Flowing: pipeline.Flowing{Threads: 64, Blocks: 2, Wait: -1, Dog: 5 * time.Minute}})
						x = p
					}
					if err != nil {
						t.Fatal(err)
					}
					return x
				})
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, directed %v: the device finds\n%v\nand the cores\n%v", c.name, directed, got, want)
				}
				if c.batched {
					continue
				}
				loads := uint64(2) // the graph for the first watch, and more of it for the second one
				if c.entire {
					loads = 1
				}
				if w := p.Totals(); w.Loads != loads {
					t.Errorf("%s: %+v, want %d loads", c.name, w, loads)
				} else if all := want.results.Applied; w.Updates < all/10 || w.Updates > all*9/10 != (c.entire || c.told) {
					t.Errorf("%s: the device has %d of %d changes", c.name, w.Updates, all)
				}
			}
		})
	}
}

// TestDeviceBatchStops: a run beside a device whose sink refuses deltas or whose context ends in the midst makes all updates, and one with an update that
// cannot be made makes those before it. The next batch finds what the cores find.
func TestDeviceBatchStops(t *testing.T) {
	const n = 100
	refused := errors.New("the sink is full")
	run := func(t *testing.T, how string, d *cuda.Device) (edges uint64, next []string) {
		g := dynamic.New(false, false)
		for v := range uint64(n) {
			if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint("L", v%2))); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Workers: 2}
		if d != nil {
			x, err := pipeline.NewDevice(d, g, pipeline.Options{Flowing: pipeline.Flowing{Threads: 64, Blocks: 2, Wait: -1, Dog: 5 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			o.Device = x
		}
		m := New(g, o)
		defer func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}()
		m.grain.run = 8
		m.SetSeq(0)
		if _, err := m.Add("q", parse(t, "MATCH (a:L0)--(b:L0)--(c:L0)"), nest.WatchOptions{}); err != nil {
			t.Fatal(err)
		}
		var batch []stream.Update
		for i := range uint64(3 * n) {
			batch = append(batch, stream.Update{U: dynamic.Num(i % n), V: dynamic.Num((i%n + 1 + i/n) % n)})
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sink, made := &lines{}, len(batch)
		var want error
		switch how {
		case "refused":
			sink.stop, want = func(int) error { return refused }, refused
		case "cancelled":
			sink.stop, want = func(int) error {
				cancel()
				return nil
			}, context.Canceled
		case "wrong":
			made = 250
			batch[made].U, want = dynamic.Text("a"), dynamic.ErrID
		}
		res, err := m.Apply(ctx, batch, sink)
		ended := how == "cancelled" && err == nil // all was matched before anybody looked at the context
		if !errors.Is(err, want) && !ended || res.Updates != made {
			t.Fatalf("%s: %d of %d updates, %v", how, res.Updates, made, err)
		}
		if at := (*nest.UpdateError)(nil); how == "wrong" && (!errors.As(err, &at) || at.Index != made) {
			t.Errorf("%v, which is not about update %d", err, made)
		}
		found := &lines{}
		if _, err := m.Apply(t.Context(), reversed(batch[:made]), found); err != nil {
			t.Fatalf("%s, and the batch after it: %v", how, err)
		}
		m.Late()
		slices.Sort(found.out)
		return g.NumEdges(), found.out
	}
	for _, how := range []string{"", "refused", "cancelled", "wrong"} {
		edges, want := run(t, how, nil)
		if edges != 0 || len(want) == 0 {
			t.Fatalf("%q: %d edges, %d deltas", how, edges, len(want))
		}
		device.Each(t, func(t *testing.T, d *cuda.Device) {
			if edges, got := run(t, how, d); edges != 0 || !slices.Equal(got, want) {
				t.Errorf("%q: %d edges, and the device finds\n%v\nand the cores\n%v", how, edges, got, want)
			}
		})
	}
}

// TestDeviceShortRuns: a batch without long runs of plain changes has few windows, because the host waits for the device at the end of each.
func TestDeviceShortRuns(t *testing.T) {
	const n = 8 << 10
	for name, of := range map[string]func(i int) stream.Update{
		"new vertices": func(i int) stream.Update {
			return stream.Update{U: dynamic.Num(uint64(i)), V: dynamic.Num(uint64(i + 1))}
		},
		"properties": func(i int) stream.Update {
			return stream.Update{U: dynamic.Num(uint64(i % 10)), V: dynamic.Num(uint64(10 + i%7)), Properties: []stream.Property{{Name: "w", Value: dynamic.OfInt(int64(i))}}}
		},
	} {
		g := dynamic.New(false, false)
		d := &prompt{g: g}
		m := New(g, Options{Workers: 2, Device: d})
		if _, err := m.Add("q", parse(t, "MATCH (a)--(b)"), nest.WatchOptions{CountsOnly: true}); err != nil {
			t.Fatal(err)
		}
		var batch []stream.Update
		for i := range n {
			batch = append(batch, of(i))
		}
		res, err := m.Apply(t.Context(), batch, nil)
		if err != nil || res.Updates != n || res.Outcomes.Applied == 0 {
			t.Fatal(name, res.Updates, res.Outcomes, err)
		}
		if d.windows < 2 || d.windows > 8 {
			t.Errorf("%s: %d windows for %d updates", name, d.windows, n)
		}
	}
}

// TestDeviceWindow: a device that wants all updates of a window by one Post has one window for a batch, whatever is in it, because it chooses what it
// keeps for all searches of a window.
func TestDeviceWindow(t *testing.T) {
	const n = 4 << 10
	for _, odd := range []int{-1, 0, n / 2, n - 1} { // the update that is not plain
		g := dynamic.New(false, false)
		for v := range uint64(n) {
			if _, err := g.AddVertex(dynamic.Num(v), g.Class()); err != nil {
				t.Fatal(err)
			}
		}
		d := &prompt{g: g, whole: true}
		m := New(g, Options{Workers: 2, Device: d})
		if _, err := m.Add("q", parse(t, "MATCH (a)--(b)"), nest.WatchOptions{CountsOnly: true}); err != nil {
			t.Fatal(err)
		}
		var batch []stream.Update
		for i := range uint64(n) {
			batch = append(batch, stream.Update{U: dynamic.Num(i), V: dynamic.Num((i + 1) % n)})
		}
		if odd >= 0 {
			batch[odd].V = dynamic.Num(n)
		}
		res, err := m.Apply(t.Context(), batch, nil)
		if err != nil || res.Updates != n || res.Outcomes.Applied != n || d.windows != 1 {
			t.Errorf("update %d is not plain: %d windows for %d updates, %+v, %v", odd, d.windows, res.Updates, res.Outcomes, err)
		}
	}
}
