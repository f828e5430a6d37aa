package bind

import (
	"math/bits"
	"sync"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// subSearch reports whether a sub-pattern has a match in which its outer vertices are m[at[0]], m[at[1]], ….
type subSearch = func(m []uint32, at []int) bool

// exists compiles EXISTS { sub }: a plan of sub with the outer vertices at the
// first levels, searched for one match each time.
func (b *Binding) exists(x pattern.Exists) (subSearch, error) {
	if f := b.subs[x.Sub]; f != nil {
		return f, nil
	}
	if err := Supported(x.Sub); err != nil {
		return nil, err
	}
	where := b.tables
	if b.of != nil {
		where = b.tables.whole()
	}
	sub, err := bind(where, x.Sub)
	if err != nil {
		return nil, err
	}
	for _, text := range sub.warnings {
		b.warn(text)
	}
	fixed := len(x.Outer)
	pl := sub.Assemble(sub.outerFirst(fixed), plan.Options{Root: plan.NoRoot, Listing: true})
	for l := range pl.Levels {
		// Outer vertices are as distinct as the enclosing mode makes them, so the
		// degree of a vertex says less than under iso.
		pl.Levels[l].MinDegree = 0
		if l < fixed {
			pl.Levels[l].Distinct = nil
		}
	}
	b.shared.Exists[x.Sub] = &plan.SubPlan{Plan: pl, Fixed: fixed}
	found := sub.Empty == nil
	if !found {
		// Told as a warning: NOT EXISTS may still be meant.
		b.warn("EXISTS can match nothing: " + sub.Empty.Text)
	}
	vertex := func(v uint32) uint32 { return v }
	if b.of != nil {
		vertex = b.of.Vertex
	}
	// Most searches end at a condition of an outer vertex alone, as its label: those come before the search.
	var alone []int
	for l := range fixed {
		if lv := &pl.Levels[l]; lv.Ranges != nil || lv.Bits != nil {
			alone = append(alone, l)
		}
	}
	pool := sync.Pool{New: func() any { return checks.NewSearch(pl, fixed) }}
	f := func(m []uint32, at []int) bool {
		if !found {
			return false
		}
		for _, l := range alone {
			if !checks.Alone(pl, &pl.Levels[l], vertex(m[at[l]])) {
				return false
			}
		}
		x := pool.Get().(*checks.Search)
		outer := x.Outer()
		for i, l := range at {
			outer[i] = vertex(m[l])
		}
		hit := x.Any()
		pool.Put(x)
		return hit
	}
	if b.subs == nil {
		b.subs = map[*pattern.Pattern]subSearch{}
	}
	b.subs[x.Sub] = f
	return f, nil
}

// outerFirst orders the vertices: the first fixed ones as they are, then always
// the one with the most neighbours before it.
func (b *Binding) outerFirst(fixed int) []int {
	var order []int
	var placed uint32
	for len(order) < b.N {
		best := len(order)
		if len(order) >= fixed {
			best = -1
			for v := range b.N {
				if placed>>v&1 == 0 && (best < 0 || bits.OnesCount32(b.Near[v]&placed) > bits.OnesCount32(b.Near[best]&placed)) {
					best = v
				}
			}
		}
		order = append(order, best)
		placed |= 1 << best
	}
	return order
}

// Supported returns an error for the parts of the language that plans do not have yet.
func Supported(p *pattern.Pattern) error {
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Min > 1 || e.Max > 1 || e.Min == 0 && e.Max > 0 {
			return &plan.QueryError{Vertex: -1, Edge: i, Msg: "variable-length edges are not supported yet"}
		}
	}
	return nil
}
