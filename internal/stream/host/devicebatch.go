package host

import (
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// ask asks the device which edges it has.
func (x *shared) ask() {
	x.has = nil
	if d := x.m.device.Device; d != nil {
		if x.has = d.Has(); x.has == nil {
			x.has = func(dynamic.Label, dynamic.Class, dynamic.Class) bool { return true }
		}
	}
}

// onDevice reports whether the device's graph has edges with a label between vertices of two classes.
func (x *shared) onDevice(label dynamic.Label, u, v dynamic.Class) bool {
	return x.has != nil && x.has(label, u, v)
}

// deviceAlone reports whether the device finds all that the change of an edge does without the cores, which then read no lists: its searches begin at the edge,
// whatever the versions have besides, and their matches are changes.
func (m *Matcher) deviceAlone() bool {
	for _, w := range m.Watches.List {
		if w == nil {
			continue
		}
		for i := range w.Nests {
			n := &w.Nests[i]
			if n.Kind == delta.Vertex {
				continue // no edge is its anchor
			}
			if !n.ForDevice() || !n.Exact || n.Every || !w.Pairs[n.Pair].Simple || slices.ContainsFunc(n.Places, func(l nest.Level) bool { return len(l.Checks) > 0 }) {
				return false
			}
		}
	}
	return true
}

// posted makes changes in a window, a portion at a time, and has the device search each portion while the next one is made. The window
// ends at version end. It opens even without changes, because the device must know of all versions.
//
// If the device finds all by itself, and keeps the versions of its graph, the window has no marks.
//
// Why: changes of a graph wait for memory, so that a device which gets them one after the other waits for the host. Several workers make those of a
// portion, or one that reads lists ahead.
func (x *shared) posted(cs []dynamic.Change, end uint64, r *nest.Result) (err error) {
	m := x.m
	start := time.Now()
	if k, is := m.device.Device.(nest.Keeper); is && m.device.alone {
		err = k.Keep(m.run.ctx)
		m.g.Record()
	} else {
		m.g.Begin()
	}
	m.device.begin(m.g.Version())
	size := len(cs)
	if !m.device.Whole() {
		size = max(m.grain.portion, m.grain.run*m.n)
	}
	var matching time.Duration
	onward := func(all bool) {
		if err == nil {
			made := time.Now()
			err = m.onward(all)
			matching += time.Since(made)
		}
	}
	for len(cs) > 0 {
		n := min(size, len(cs))
		x.makeSome(cs[:n], r)
		m.g.Pass(cs[n-1].At)
		if cs = cs[n:]; len(cs) > 0 {
			onward(false)
		}
	}
	m.g.Pass(end)
	onward(true)
	m.g.SettleBy(x.all)
	if settled := m.settle(); err == nil {
		err = settled
	}
	r.Update += time.Since(start) - matching
	r.Match += matching
	return err
}
