package pipeline

import (
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/device"
)

// search posts the updates of the window, which have no tasks, and takes them.
func search(t *testing.T, x *Device, base uint64) {
	t.Helper()
	if err := x.Post(t.Context(), base, x.g.Events(), nil); err != nil {
		t.Fatal(err)
	}
	if found, err := x.Take(t.Context(), true); err != nil || found.Version != x.g.Version() {
		t.Fatal(found, err)
	}
}

// TestLoads counts how often the graph is brought to the device: when there are new labels, more vertices than there is room for, no time is left
// for more updates, or a batch was not seen. The answers of all are the business of package host's law test.
func TestLoads(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		g := dynamic.New(true, false)
		x, err := NewDevice(d, g, Options{Idle: time.Hour, Flowing: Flowing{Blocks: 2, Dog: 5 * time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Bind(nest.NewWatches(g)); err != nil {
			t.Fatal(err)
		}
		batch := func(what string, loads uint64, seen bool, from, to uint64, label string) {
			t.Helper()
			g.Begin()
			base := g.Version()
			for v := from; v < to; v++ {
				if _, err := g.AddEdge(dynamic.Num(v), dynamic.Num(v+1), g.EdgeLabel(label)); err != nil {
					t.Fatal(err)
				}
			}
			if seen {
				search(t, x, base)
			}
			g.Settle()
			if w := x.Totals(); w.Loads != loads {
				t.Errorf("%s: %d loads, want %d", what, w.Loads, loads)
			}
		}
		batch("the first batch", 1, true, 0, 3, "")
		batch("another", 1, true, 10, 13, "")
		batch("one that is not seen", 1, false, 20, 21, "")
		batch("the next", 2, true, 30, 31, "")
		batch("a label", 3, true, 40, 41, "X")
		batch("many vertices", 4, true, 1000, 2000, "X")
		x.last = 1020
		batch("as many updates as there are times", 4, true, 1500, 1505, "")
		batch("more", 5, true, 1500, 1520, "Y")
		if err := x.flow.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = d.Do(func(c *cuda.Context) error {
			lists, err := x.flow.store.check(c)
			entries := 0
			for _, l := range lists {
				entries += len(l)
			}
			if want := 2 * int(g.NumEdges()); entries != want {
				t.Errorf("the device has %d entries, want %d", entries, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		x.Forget()
		batch("after Forget", 6, true, 5000, 5001, "Y")
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestIdle: a kernel ends when no batch comes, and begins again with the next.
func TestIdle(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		g := dynamic.New(false, false)
		x, err := NewDevice(d, g, Options{Idle: time.Nanosecond, Flowing: Flowing{Blocks: 2, Dog: 5 * time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Bind(nest.NewWatches(g)); err != nil {
			t.Fatal(err)
		}
		for v := range uint64(3) {
			g.Begin()
			base := g.Version()
			if _, err := g.AddEdge(dynamic.Num(v), dynamic.Num(v+1), dynamic.NoLabel); err != nil {
				t.Fatal(err)
			}
			search(t, x, base)
			g.Settle()
			for running := true; running; time.Sleep(time.Millisecond) {
				x.mu.Lock()
				running = x.flow.running
				x.mu.Unlock()
			}
		}
		if w := x.Totals(); w.Loads != 1 || x.flow.posted != 3 {
			t.Errorf("%+v and %d updates, want one load and 3 updates", w, x.flow.posted)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
