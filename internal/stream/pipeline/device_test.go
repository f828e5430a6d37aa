package pipeline

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/gql"
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

// watches returns watches of patterns.
func watches(t *testing.T, g *dynamic.Graph, texts ...string) *nest.Watches {
	t.Helper()
	ws := nest.NewWatches(g)
	for _, text := range texts {
		add(t, ws, text)
	}
	return ws
}

// add adds a watch, whose name is its text.
func add(t *testing.T, ws *nest.Watches, text string) {
	t.Helper()
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Add(text, q.Pattern, nest.WatchOptions{CountsOnly: true}); err != nil {
		t.Fatal(err)
	}
}

// bind does what a matcher does with watches whose graph or patterns changed.
func bind(t *testing.T, x *Device, ws *nest.Watches) {
	t.Helper()
	if ws.Bind() {
		if err := x.Bind(ws); err != nil {
			t.Fatal(err)
		}
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
		ws := watches(t, g, "MATCH (a)-->(b)-->(c)") // bound with the first batch
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
				bind(t, x, ws)
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
		ws := watches(t, g, "MATCH (a)--(b)--(c)")
		for v := range uint64(3) {
			g.Begin()
			bind(t, x, ws)
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

// TestUses: the device has the edges that some watch may look at, and no others. A watch that needs more has the graph brought there once more, and one
// that needs less does not.
func TestUses(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, directed := range []bool{false, true} {
			g := dynamic.New(directed, false)
			for v := range uint64(10000) { // so that the device has room for more
				if _, err := g.AddVertex(dynamic.Num(1<<20+v), g.Class("A")); err != nil {
					t.Fatal(err)
				}
			}
			x, err := NewDevice(d, g, Options{Idle: time.Hour, Memory: 1 << 20, Flowing: Flowing{Threads: 64, Blocks: 2, Wait: -1, Dog: 5 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			number, loads := uint64(0), uint64(1)
			// edges adds edges of each label between vertices of each two classes, some of which go again.
			edges := func(ws *nest.Watches, vertexLabels, edgeLabels []string) {
				t.Helper()
				g.Begin()
				base := g.Version()
				for _, a := range vertexLabels {
					for _, b := range vertexLabels {
						for _, l := range edgeLabels {
							number += 2
							u, v := dynamic.Num(number), dynamic.Num(number+1)
							_, err1 := g.AddVertex(u, g.Class(a))
							_, err2 := g.AddVertex(v, g.Class(b))
							_, err3 := g.AddEdge(u, v, g.EdgeLabel(l))
							err4 := error(nil)
							if number%10 == 0 {
								_, err4 = g.RemoveEdge(u, v, g.EdgeLabel(l))
							}
							if err := errors.Join(err1, err2, err3, err4); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				bind(t, x, ws)
				search(t, x, base)
				g.Settle()
			}
			// check compares the edges on the device with those of which used says so.
			check := func(what string, used func(from, to, label string) bool) {
				t.Helper()
				if w := x.Totals(); w.Loads != loads {
					t.Errorf("%s: %d loads, want %d", what, w.Loads, loads)
				}
				if err := x.flow.finish(t.Context()); err != nil {
					t.Fatal(err)
				}
				all := viewLists{g: g, has: &uses{all: true}, view: g.Now(), lists: int(g.Layout() >> 32), directed: directed, labels: true}
				if directed {
					all.lists *= 2
				}
				err := d.Do(func(c *cuda.Context) error {
					lists, err := x.flow.store.check(c)
					for i := range all.lists {
						v, in := uint32(i), false
						if directed {
							v, in = v/2, i%2 == 1
						}
						var want []entry
						for _, e := range all.Append(nil, i) {
							name := func(v uint32) string { return g.Labels(g.ClassOf(v))[0] }
							from, to, label := name(v), name(e.ID), g.EdgeLabelName(dynamic.Label(e.Label))
							if in {
								from, to = to, from
							}
							if used(from, to, label) || !directed && used(to, from, label) {
								want = append(want, e)
							}
						}
						if !slices.Equal(lists[i], want) {
							t.Errorf("directed %v, %s: list %d is %v, want %v", directed, what, i, lists[i], want)
						}
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			ws := watches(t, g, "MATCH (a:A)-[:X]->(b:B)-[:Y]->(c:A)")
			if !directed {
				ws = watches(t, g, "MATCH (a:A)-[:X]-(b:B)-[:Y]-(c:A)")
			}
			// A change of one edge of the path is found by the other one.
			path := func(from, to, label string) bool {
				return label == "X" && from == "A" && to == "B" || label == "Y" && from == "B" && to == "A"
			}
			edges(ws, []string{"A", "B"}, []string{"X", "Y"})
			check("the first watch", path)
			edges(ws, []string{"A", "B", "C"}, []string{"X", "Y", "Z"})
			check("new classes and labels", path)
			add(t, ws, "MATCH (a:A)-[:X]-(b:B)-[:Y]-(c:A), NOT (a)-[:Z]-(c)")
			loads++
			bind(t, x, ws)
			not := func(from, to, label string) bool {
				return path(from, to, label) || path(to, from, label) || label == "Z" && from == "A" && to == "A"
			}
			check("NOT", not)
			edges(ws, []string{"A", "B", "C"}, []string{"X", "Y", "Z"})
			check("NOT, after updates", not)
			for _, w := range ws.List {
				if err := ws.Drop(w.Name); err != nil {
					t.Fatal(err)
				}
			}
			add(t, ws, "MATCH (a:A)-[:X]-(b:B)-[:X]-(c:A)")
			bind(t, x, ws)
			check("a watch that needs less", not)
			add(t, ws, "MATCH (a:C)--(b)--(c:C)")
			loads++
			bind(t, x, ws)
			edges(ws, []string{"A", "D"}, []string{"Y", "W"})
			check("a watch that needs more", func(from, to, label string) bool {
				return from == "C" || to == "C" || label == "X" && (path(from, to, label) || path(to, from, label))
			})
			if w := x.Totals(); w.Unused == 0 {
				t.Error("no change was left out")
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestUsage: samples say how busy warps were and what memory lists take, over the whole time, and there are never many of them.
func TestUsage(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		g := dynamic.New(false, false)
		x, err := NewDevice(d, g, Options{Idle: time.Hour, Memory: 1 << 20, Sample: 1, Flowing: Flowing{Threads: 64, Blocks: 2, Wait: -1, Dog: 5 * time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		if u := x.Usage(); u.Busy != 0 || u.Most != 0 || len(u.Over) != 0 {
			t.Errorf("before the first updates: %+v", u)
		}
		ws := watches(t, g, "MATCH (a)--(b)--(c)")
		for i := range uint64(20) {
			g.Begin()
			base := g.Version()
			for v := range uint64(10) {
				if _, err := g.AddEdge(dynamic.Num(i), dynamic.Num(100+10*i+v), dynamic.NoLabel); err != nil {
					t.Fatal(err)
				}
			}
			bind(t, x, ws)
			x.mu.Lock()
			places := x.program.at // of one nest, at any place
			x.mu.Unlock()
			var tasks []nest.Task
			for n := range places {
				for _, e := range g.Events() {
					if e.Kind == dynamic.EdgeAdded {
						tasks = append(tasks, nest.Task{Nest: n, Update: e.Version, Version: e.Version, First: [2]uint32{e.U, e.V}})
					}
				}
				break
			}
			if err := x.Post(t.Context(), base, g.Events(), tasks); err != nil {
				t.Fatal(err)
			}
			for found := (nest.Found{}); found.Version != g.Version(); {
				if found, err = x.Take(t.Context(), true); err != nil {
					t.Fatal(err)
				}
			}
			g.Settle()
		}
		if err := x.flow.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, p, err := x.flow.state()
		if err != nil {
			t.Fatal(err)
		}
		u := x.Usage()
		if u.Lists != int64(p.Used)*unit || u.Most != int64(p.Most)*unit || u.Most < u.Lists || u.Lists <= unit || u.Room != 1<<20 {
			t.Errorf("%d bytes of lists, %d at most, of %d; the pool has %d and %d units", u.Lists, u.Most, u.Room, p.Used, p.Most)
		}
		if w := x.Totals(); w.Busy <= 0 || u.Busy <= 0 || u.Busy > 1 {
			t.Errorf("warps searched for %v, a share of %v", w.Busy, u.Busy)
		}
		if n := len(u.Over); n < 2 || n >= mostSamples {
			t.Errorf("%d samples", n)
		}
		total := 0.0
		begin := time.Duration(0)
		for _, s := range u.Over {
			if s.Until <= begin || s.Busy < 0 || s.Busy > 1 || s.Lists < 0 || s.Lists > u.Most {
				t.Fatalf("a sample after %v is %+v", begin, s)
			}
			total += s.Busy * float64(s.Until-begin)
			begin = s.Until
		}
		if mean := total / float64(begin); mean > u.Busy*1.001 { // a sample is cut to 1
			t.Errorf("samples are busy for %v in the mean, and the whole for %v", mean, u.Busy)
		}
		x.drop()
		if v := x.Usage(); v.Most != u.Most || v.Lists != 0 {
			t.Errorf("without a graph on the device: %+v, want at most %d bytes", v, u.Most)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestManySamples: the samples of a long time are of longer times.
func TestManySamples(t *testing.T) {
	x := &Device{flow: &Flow{ctl: &control{}, warps: 2}}
	x.gauge = gauge{every: time.Nanosecond, began: time.Now(), last: time.Now()}
	for range 5 * mostSamples {
		x.flow.ctl.Busy += 100
		time.Sleep(time.Nanosecond)
		x.sample(false)
		if n := len(x.gauge.over); n >= mostSamples {
			t.Fatalf("%d samples", n)
		}
	}
	if x.gauge.every < 4*time.Nanosecond {
		t.Errorf("the last samples are of %v", x.gauge.every)
	}
	sum, begin := 0.0, time.Duration(0)
	for _, s := range x.gauge.over {
		sum += s.Busy * float64(s.Until-begin) * 2
		begin = s.Until
	}
	if want := float64(x.gauge.busy); sum > want*1.001 || sum < want*0.9 {
		t.Errorf("samples have %v ns of work, want %v", sum, want)
	}
}

// TestExtend: a switch asks for an extension edge by edge, which finds the same.
func TestExtend(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		counts := map[string][]uint64{}
		for _, extend := range []string{"vertex", "edge"} {
			o, err := Read(map[string]string{"pipeline.extend": extend, "pipeline.wait": "0", "pipeline.blocks": "2", "pipeline.threads": "64", "pipeline.share": "off"})
			if err != nil {
				t.Fatal(err)
			}
			o.Dog, o.Idle = 5*time.Minute, time.Hour
			g := dynamic.New(false, false)
			for v := range uint64(40) { // two hubs with the same neighbours
				_, err1 := g.AddEdge(dynamic.Num(1000), dynamic.Num(v), dynamic.NoLabel)
				_, err2 := g.AddEdge(dynamic.Num(1001), dynamic.Num(v), dynamic.NoLabel)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
			}
			x, err := NewDevice(d, g, o)
			if err != nil {
				t.Fatal(err)
			}
			bind(t, x, watches(t, g, "MATCH triangle"))
			g.Begin()
			base := g.Version()
			if _, err := g.AddEdge(dynamic.Num(1000), dynamic.Num(1001), dynamic.NoLabel); err != nil {
				t.Fatal(err)
			}
			var tasks []nest.Task
			for n := range x.program.at {
				e := g.Events()[0]
				tasks = append(tasks, nest.Task{Nest: n, Update: g.Version(), Version: g.Version(), First: [2]uint32{e.U, e.V}})
			}
			if err := x.Post(t.Context(), base, g.Events(), tasks); err != nil {
				t.Fatal(err)
			}
			found, err := x.Take(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			counts[extend] = slices.Clone(found.Counts)
			g.Settle()
			if by := x.raw.ByEdge == 1; by != (extend == "edge") {
				t.Errorf("pipeline.extend=%s: edge by edge is %v", extend, by)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := counts["edge"]; !slices.Equal(got, counts["vertex"]) || slices.Max(got) != 40 {
			t.Errorf("%v", counts)
		}
	})
}

// TestThreads: blocks of each size have room on the device, with the registers that the compiler gives a thread.
func TestThreads(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, threads := range []int{64, 256, 512} {
			g := dynamic.New(false, false)
			x, err := NewDevice(d, g, Options{Idle: time.Hour, Flowing: Flowing{Blocks: 2, Threads: threads, Dog: 5 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			ws := watches(t, g, "MATCH (a)--(b)--(c)")
			g.Begin()
			base := g.Version()
			for v := range uint64(3) {
				if _, err := g.AddEdge(dynamic.Num(v), dynamic.Num(v+1), dynamic.NoLabel); err != nil {
					t.Fatal(err)
				}
			}
			bind(t, x, ws)
			search(t, x, base)
			g.Settle()
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
