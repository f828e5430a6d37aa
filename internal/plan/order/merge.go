package order

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// leastMerged is the number of vertices from which on merges are looked at: with fewer, no vertex is forgotten before the last phase.
const leastMerged = 4

// mergeWidth is how many prefixes of an order the search for merges keeps, of each length.
const mergeWidth = 16

// worthMerging is how many times fewer rows an order for merges must be expected to make than another one with merges to be taken: both
// are estimates. surelyWorth is the same beside joins without merges, for patterns whose labels do not tell most vertices apart: a merge
// then often finds that each vertex bars a later one. In WN18RR, where vertices have no labels,
// the model expects no gain for 23 of 39 walks over 8 and 12 vertices (docs/notes/2026-11-30-cpu-merges.md).
const (
	worthMerging = 2
	surelyWorth  = 10
)

// modelError is the factor by which an estimate may be too low, for each of its vertices. The errors of estimates of joins grow
// exponentially with the number of joins (Ioannidis and Christodoulakis, SIGMOD 1991). So an estimate over the few vertices of a frontier can be
// trusted as a bound of one over all vertices.
const modelError = 1.5

// merges looks for an order in which a join breadth first makes few rows if it merges those that nothing later tells apart
// (phases.Merge).
//
// The rows behind a merge are at most the assignments of the frontier: the placed vertices that have neighbours to come. So the width of
// the pattern decides, and no longer the number of partial matches: the order is one of variable elimination. A vertex without neighbours
// to come that a later one of the same label may be equal to widens the frontier by those of its candidates that the later one can have.
type merges struct {
	b *Rules
	// alike[v] are the other vertices that v must differ from, and may be equal to by their labels.
	alike []uint32
}

// mergePrefix is the beginning of an order.
type mergePrefix struct {
	order  []int
	placed uint32
	rows   float64   // behind the last merge
	made   []float64 // of each level
	left   []float64 // by a merge behind it
	cost   float64   // the sum of made
}

func (b *Rules) newMerges() *merges {
	m := &merges{b: b, alike: make([]uint32, b.N)}
	if b.Pattern.Mode != pattern.Iso {
		return m
	}
	for v := range b.N {
		for u := range b.N {
			if u != v && plan.Overlap(b.Vertices[u].Ranges, b.Vertices[v].Ranges) {
				m.alike[v] |= 1 << u
			}
		}
	}
	return m
}

// extend appends v.
func (m *merges) extend(p *mergePrefix, v int) mergePrefix {
	s := m.b.statistics()
	q := mergePrefix{order: extended(p.order, v), placed: p.placed | 1<<v}
	made := s.Card(q.placed)
	if p.placed != 0 {
		made = p.rows * s.Extension(p.placed, v) * modelError
	}
	q.made = append(slices.Clone(p.made), made)
	q.cost = p.cost + made
	q.rows = min(made, m.assignments(q.placed))
	q.left = append(slices.Clone(p.left), q.rows)
	return q
}

// assignments is the expected number of assignments of the frontier of placed vertices, with those that bar others.
func (m *merges) assignments(placed uint32) float64 {
	b, s := m.b, m.b.statistics()
	later := b.all() &^ placed
	frontier := uint32(0)
	for _, v := range pattern.Members(placed) {
		if b.Near[v]&later != 0 {
			frontier |= 1 << v
		}
	}
	n := s.Card(frontier) * math.Pow(modelError, float64(max(bits.OnesCount32(frontier)-1, 0)))
	for _, v := range pattern.Members(placed &^ frontier) {
		all, barred := float64(b.Vertices[v].Count), 1.0
		for _, l := range pattern.Members(m.alike[v] & later) {
			least := all
			for _, u := range pattern.Members(b.Near[l] & placed) {
				least = min(least, s.List(0, u, l))
			}
			barred += least
		}
		n *= min(barred, all+1)
	}
	return n
}

// along is the prefix that is a whole order.
func (m *merges) along(order []int) mergePrefix {
	var p mergePrefix
	for _, v := range order {
		p = m.extend(&p, v)
	}
	return p
}

// closes reports whether arithmetic closes a set of vertices behind all others: no link joins two of them, and they are few, or have few
// sets of candidates.
func (m *merges) closes(set uint32) bool {
	var kinds []int
	for _, v := range pattern.Members(set) {
		if m.b.Near[v]&set != 0 {
			return false
		}
		if !slices.ContainsFunc(kinds, func(u int) bool {
			return m.b.Near[u] == m.b.Near[v] && m.b.statistics().Class[u] == m.b.statistics().Class[v]
		}) {
			kinds = append(kinds, v)
		}
	}
	return bits.OnesCount32(set) <= plan.MaxTail || len(kinds) <= plan.MaxTail
}

// total is the expected number of rows that a join makes in an order. It makes none for the last vertices, which arithmetic closes.
func (m *merges) total(p *mergePrefix) float64 {
	n := p.cost
	tail := uint32(0)
	for l := len(p.order) - 1; l > 0 && m.closes(tail|1<<p.order[l]); l-- {
		tail |= 1 << p.order[l]
		n -= p.made[l]
	}
	return n
}

// unmerged is total for a join that does not merge.
func (m *merges) unmerged(order []int) float64 {
	p := mergePrefix{order: order}
	for l := range order {
		made := m.b.statistics().Card(pattern.SetOf(order[:l+1])) * math.Pow(modelError, float64(l))
		p.made = append(p.made, made)
		p.cost += made
	}
	return m.total(&p)
}

// search keeps a beam of prefixes, the best of each set of vertices.
func (m *merges) search(o plan.Options) mergePrefix {
	b := m.b
	var whole *mergePrefix // the best so far, without the vertices that arithmetic closes
	level := []mergePrefix{{}}
	for len(level) > 0 {
		width := mergeWidth
		if o.Ended() {
			width = 1
		}
		best := map[uint32]mergePrefix{}
		for i := range level {
			p := &level[i]
			from := uint32(0)
			for _, v := range p.order {
				from |= b.Near[v]
			}
			if from &^= p.placed; from == 0 {
				from = b.all() &^ p.placed
			}
			for rest := from; rest != 0; rest &= rest - 1 {
				if v := bits.TrailingZeros32(rest); b.Vertices[v].Count <= 1 {
					from = 1 << v // it makes no more rows, wherever it is
					break
				}
			}
			for ; from != 0; from &= from - 1 {
				q := m.extend(p, bits.TrailingZeros32(from))
				if whole != nil && q.cost >= whole.cost {
					continue
				}
				if m.closes(b.all() &^ q.placed) {
					whole = &q
					continue
				}
				if old, ok := best[q.placed]; !ok || q.cost < old.cost {
					best[q.placed] = q
				}
			}
		}
		level = cheapest(best, level, width, func(p *mergePrefix) (float64, []int) { return p.cost, p.order })
	}
	for _, v := range pattern.Members(b.all() &^ whole.placed) {
		*whole = m.extend(whole, v)
	}
	return *whole
}

// orderMerged returns the order for a join that merges rows, if it is expected to make clearly fewer rows in it than in
// another order; else that one, with the rows that it is expected to make.
func (b *Rules) orderMerged(o plan.Options, other Choice) Choice {
	m := b.newMerges()
	best, had := m.search(o), m.along(other.Order)
	if !b.LargelyLabelled() && surelyWorth*m.total(&best) > m.unmerged(other.Order) {
		return other
	}
	if worthMerging*m.total(&best) > m.total(&had) {
		best = had
	} else {
		other.Order, other.Flip, other.Walks, b.Flip = best.order, false, nil, false
		if other.Levels != nil {
			other.Levels = make([]Expected, b.N)
			for l := range other.Levels {
				other.Levels[l] = Expected{b.statistics().Card(pattern.SetOf(best.order[:l+1])), best.made[l] * cost.RowCost}
			}
		}
		other.Why = fmt.Sprintf("fewest rows where rows that nothing later tells apart are merged: %.1e are expected, and %.1e in the order of least cost", m.total(&best), m.total(&had))
	}
	other.Rows, other.Left = best.made, best.left
	return other
}
