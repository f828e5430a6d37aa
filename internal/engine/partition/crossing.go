package partition

import (
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// block is how many vertices a device takes at a time to make rows of their cross edges.
const block = 1 << 12

// crossing makes the first rows of a search: the cross edges, with their ends as the first two vertices. Devices share it.
type crossing struct {
	g    *graph.Graph
	of   []uint32
	s    *search
	next atomic.Int64 // the first vertex that no device has taken
}

// edges is one device's way through a crossing.
type edges struct {
	*crossing
	u, end  uint32 // the vertex that is looked at, of those taken before end
	at      int    // position in its list
	begun   bool
	scratch graph.Scratch
	other   graph.Scratch
}

// fill appends rows to a slice of them until it is full, or there are no more.
func (e *edges) fill(rows []uint32) []uint32 {
	n := uint32(e.g.NumVertices())
	for {
		if !e.begun || e.u == e.end {
			first := e.next.Add(block) - block
			if first >= int64(n) {
				e.begun, e.u, e.end = false, 0, 0
				return rows
			}
			e.begun, e.u, e.end = true, uint32(first), uint32(min(first+block, int64(n)))
		}
		for ; e.u < e.end; e.u, e.at = e.u+1, 0 {
			var full bool
			if rows, full = e.vertex(rows); full {
				return rows
			}
		}
	}
}

// vertex appends the rows of one vertex, from a position of its list on. It reports whether there was no room for the next.
func (e *edges) vertex(rows []uint32) ([]uint32, bool) {
	s, p, u := e.s, e.s.plan, e.u
	first, second := &s.levels[0], &s.levels[1]
	if !first.allows(u) {
		return rows, false
	}
	lv := &p.Levels[1]
	base := firstPositive(lv)
	list := p.Adjs[lv.Back[base].Adj].Lists.List(u, &e.scratch)
	part := e.of[u]
	for ; e.at < len(list); e.at++ {
		v := list[e.at]
		if e.of[v] == part || s.above[1] != 0 && v < u || s.below[1] != 0 && v > u || !second.allows(v) || !e.joined(lv, base, u, v) {
			continue
		}
		if len(rows)+2 > cap(rows) {
			return rows, true
		}
		rows = append(rows, u, v)
	}
	return rows, false
}

// joined reports whether v is, or is not, in the other lists of u that a level names.
func (e *edges) joined(lv *plan.Level, base int, u, v uint32) bool {
	for k, b := range lv.Back {
		if k != base && e.s.plan.Adjs[b.Adj].Lists.Has(u, v) == b.Neg {
			return false
		}
	}
	return true
}

// firstPositive is the first backward neighbour whose list has the candidates.
func firstPositive(lv *plan.Level) int {
	for k, b := range lv.Back {
		if !b.Neg {
			return k
		}
	}
	return 0
}

// allows reports whether the level may have a vertex, whatever the others are.
func (l *level) allows(v uint32) bool { return l.bits == nil || l.bits[v>>6]>>(v&63)&1 != 0 }
