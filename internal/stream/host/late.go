package host

import (
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// putsOff reports whether changes may be put off. Edges with times have rows, which are made at once.
func (m *Matcher) putsOff() bool { return m.late && !m.g.Timed() }

// putOff leaves the changes of a run that no watch looks at to the graph, which makes them when something needs its lists, or when they are
// many.
func (x *shared) putOff(r *nest.Result) {
	for i := range x.changes {
		switch c := &x.changes[i]; {
		case c.Result != dynamic.Applied: // nobody has to look that up
			r.Outcomes.Add(c.Result)
		case !x.seen[i]:
			x.m.g.PutOff(c)
		}
	}
}

// Late implements nest.Batcher.
func (m *Matcher) Late() stream.Outcomes {
	if m.putsOff() {
		m.g.LookAway(m.shared.all, m.grain.late)
		defer m.g.LookBack()
	}
	r := m.g.TakeLate()
	return stream.Outcomes{Applied: r[dynamic.Applied], Duplicates: r[dynamic.Duplicate], Absent: r[dynamic.Absent], SelfLoops: r[dynamic.SelfLoop]}
}
