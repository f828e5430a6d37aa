package host

import (
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// putOff leaves changes that no watch looks at to the graph, which makes them when something needs its lists, or when they are many.
func (x *shared) putOff(cs []dynamic.Change, r *nest.Result) {
	for i := range cs {
		if cs[i].Result != dynamic.Applied { // this is known
			r.Outcomes.Add(cs[i].Result)
		}
	}
	x.m.g.PutOff(cs)
}

// Late implements nest.Batcher.
func (m *Matcher) Late() stream.Outcomes {
	m.g.LookAway(m.shared.all, m.grain.late)
	defer m.g.LookBack()
	r := m.g.TakeLate()
	return stream.Outcomes{Applied: r[dynamic.Applied], Duplicates: r[dynamic.Duplicate], Absent: r[dynamic.Absent], SelfLoops: r[dynamic.SelfLoop]}
}
