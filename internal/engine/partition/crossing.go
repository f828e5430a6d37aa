package partition

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// block is how many vertices a maker takes at a time to make rows of their cross edges.
const block = 1 << 12

// crossing makes the first rows of a search: the cross edges, with their ends as the first two vertices. Devices share it.
type crossing struct {
	g    *graph.Graph
	of   []uint32
	s    *search
	next atomic.Int64 // the first vertex that no maker has taken
}

// pieceRows is how many rows a maker hands over at once.
const pieceRows = 1 << 14

// makers make the rows of a crossing for one device, several pieces ahead of it.
type makers struct {
	pieces chan []uint32
	rest   []uint32 // of a piece that the table had no room for
	end    context.CancelFunc
	all    sync.WaitGroup

	mu  sync.Mutex
	err error
}

// make starts n makers, which end with ctx at the latest. Then take returns the cause.
func (c *crossing) make(ctx context.Context, n int) *makers {
	m := &makers{pieces: make(chan []uint32, n)}
	ctx, m.end = context.WithCancel(ctx)
	for range n {
		m.all.Go(func() {
			err := c.g.Guard(func() error {
				e := &edges{crossing: c}
				for {
					rows := e.fill(make([]uint32, 0, 2*pieceRows))
					if len(rows) == 0 {
						return nil
					}
					select {
					case m.pieces <- rows:
					case <-ctx.Done():
						return context.Cause(ctx) // not the end of the rows
					}
				}
			})
			if err != nil {
				m.mu.Lock()
				m.err = err
				m.mu.Unlock()
			}
		})
	}
	go func() {
		m.all.Wait()
		close(m.pieces)
	}()
	return m
}

// take appends rows to a slice of them until it is full, or there are no more.
func (m *makers) take(rows []uint32) ([]uint32, error) {
	for len(rows) < cap(rows) {
		if len(m.rest) == 0 {
			var more bool
			if m.rest, more = <-m.pieces; !more {
				m.mu.Lock()
				defer m.mu.Unlock()
				return rows, m.err
			}
		}
		n := min(len(m.rest), cap(rows)-len(rows))
		rows, m.rest = append(rows, m.rest[:n]...), m.rest[n:]
	}
	return rows, nil
}

// stop ends the makers, and waits for them.
func (m *makers) stop() {
	m.end()
	m.all.Wait()
}

// edges is one maker's way through a crossing.
type edges struct {
	*crossing
	u, end  uint32 // the vertex that is looked at, of those taken before end
	at      int    // position in its list
	begun   bool
	scratch graph.Scratch
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
