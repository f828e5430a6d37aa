package host

import (
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
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

// posted makes changes in a window, a portion at a time, and has the device search each portion while the next one is made. The window
// ends at version end. It opens even without changes, because the device must know of all versions.
//
// Why: changes of a graph wait for memory, so that a device which gets them one after the other waits for the host. Several workers make those of a
// portion, or one that reads lists ahead.
func (x *shared) posted(cs []dynamic.Change, end uint64, r *nest.Result) (err error) {
	m := x.m
	start := time.Now()
	m.g.Begin()
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
