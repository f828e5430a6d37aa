package host

import (
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// sift puts off the changes at the beginning of a batch that no watch looks at, up to an update that is not plain, and returns its place. The
// others are in x.some. It is for one worker: the changes are not written down in between.
func (x *shared) sift(batch []stream.Update) int {
	g := x.m.g
	base := g.Version()
	x.some = x.some[:0]
	for i := range batch {
		c, ok := x.change(&batch[i], base+uint64(i)+1)
		switch {
		case !ok:
			return i
		case c.Result != dynamic.Applied:
			x.known.Add(c.Result)
		case x.looks(&c):
			x.some = append(x.some, c)
		default:
			g.PutOff(&c)
		}
	}
	return len(batch)
}

// putOff leaves changes that no watch looks at to the graph, which makes them when something needs its lists, or when they are many.
func (x *shared) putOff(cs []dynamic.Change, r *nest.Result) {
	for i := range cs {
		if cs[i].Result == dynamic.Applied {
			x.m.g.PutOff(&cs[i])
		} else {
			r.Outcomes.Add(cs[i].Result)
		}
	}
}

// Late implements nest.Batcher.
func (m *Matcher) Late() stream.Outcomes {
	m.g.LookAway(m.shared.all, m.grain.late)
	defer m.g.LookBack()
	r := m.g.TakeLate()
	return stream.Outcomes{Applied: r[dynamic.Applied], Duplicates: r[dynamic.Duplicate], Absent: r[dynamic.Absent], SelfLoops: r[dynamic.SelfLoop]}
}
