package plan

import (
	"math/bits"
	"sync"

	"github.com/weftgraph/weft/internal/pattern"
)

// exists compiles EXISTS { sub }: a plan of sub with the outer vertices at the
// first levels, searched for one match each time.
func (b *binding) exists(x pattern.Exists) (func(outer []uint32) bool, error) {
	if f := b.subs[x.Sub]; f != nil {
		return f, nil
	}
	if err := supported(x.Sub); err != nil {
		return nil, err
	}
	sub, err := bind(b.tables, x.Sub)
	if err != nil {
		return nil, err
	}
	for _, text := range sub.warnings {
		b.warn(text)
	}
	fixed := len(x.Outer)
	pl := sub.assemble(sub.outerFirst(fixed), Options{Root: NoRoot, Listing: true})
	for l := range pl.Levels {
		// Outer vertices are as distinct as the enclosing mode makes them, so the
		// degree of a vertex says less than under iso.
		pl.Levels[l].MinDegree = 0
		if l < fixed {
			pl.Levels[l].Distinct = nil
		}
	}
	if b.columns.exists == nil {
		b.columns.exists = map[*pattern.Pattern]*SubPlan{}
	}
	b.columns.exists[x.Sub] = &SubPlan{Plan: pl, Fixed: fixed}
	found := sub.empty == nil
	if !found {
		// Told as a warning: NOT EXISTS may still be meant.
		b.warn("EXISTS can match nothing: " + sub.empty.Text)
	}
	pool := sync.Pool{New: func() any {
		m := newMatcher(pl)
		m.fixed = fixed
		return m
	}}
	f := func(outer []uint32) bool {
		if !found {
			return false
		}
		m := pool.Get().(*matcher)
		copy(m.m, outer)
		hit := false
		m.yield = func() bool { hit = true; return false }
		m.run(0)
		pool.Put(m)
		return hit
	}
	if b.subs == nil {
		b.subs = map[*pattern.Pattern]func([]uint32) bool{}
	}
	b.subs[x.Sub] = f
	return f, nil
}

// outerFirst orders the vertices: the first fixed ones as they are, then always
// the one with the most neighbours before it.
func (b *binding) outerFirst(fixed int) []int {
	var order []int
	var placed uint32
	for len(order) < b.n {
		best := len(order)
		if len(order) >= fixed {
			best = -1
			for v := range b.n {
				if placed>>v&1 == 0 && (best < 0 || bits.OnesCount32(b.near[v]&placed) > bits.OnesCount32(b.near[best]&placed)) {
					best = v
				}
			}
		}
		order = append(order, best)
		placed |= 1 << best
	}
	return order
}
