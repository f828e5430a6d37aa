package host

import (
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// lookAway lets the graph put off changes that no watch looks at, until LookBack, and reports whether it may. It may not if the sink reads lists, and
// not with a device in a graph whose edges have rows, where all changes are made in windows.
func (m *Matcher) lookAway(sink nest.Sink) bool {
	if !m.late || m.g.Rowed() && m.device.Device != nil || readsLists(sink) {
		return false
	}
	m.g.LookAway(m.shared.all, m.grain.late)
	return true
}

// readsLists reports whether a sink may read any list of the graph.
func readsLists(sink nest.Sink) bool {
	x, ok := sink.(nest.Reading)
	return ok && x.ReadsLists()
}

// putOff leaves the changes of a run that no watch looks at to the graph, which makes them when something needs its lists, or when they are
// many.
func (x *shared) putOff(r *nest.Result) {
	x.m.g.PutOff(x.changes, x.seen)
	for i := range x.changes {
		if done := x.changes[i].Result; done != dynamic.Applied { // nobody has to look that up
			r.Outcomes.Add(done)
		}
	}
}

// Late implements nest.Batcher.
func (m *Matcher) Late() stream.Outcomes {
	if m.lookAway(nil) {
		defer m.g.LookBack()
	}
	r := m.g.TakeLate()
	return stream.Outcomes{Applied: r[dynamic.Applied], Duplicates: r[dynamic.Duplicate], Absent: r[dynamic.Absent], SelfLoops: r[dynamic.SelfLoop]}
}
