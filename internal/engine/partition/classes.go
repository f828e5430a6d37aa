package partition

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// A match in several parts has a prime edge: the first of its cross edges. So the matches with prime edges at
// one pair of adjacent vertices of the pattern, over all pairs, are all of these matches, each once. Here an edge is a pair
// of vertices, however many edges of the pattern join them.
//
// Symmetries of the pattern turn a match into others over the same data vertices, with the same cross edges. So they turn
// matches with prime edges at one pair into those at another pair of its orbit, and the search for one pair of each orbit
// is enough (the paper's equivalent edges and strict-equivalence groups). The symmetries that keep that pair, as a set,
// turn its matches into each other. Restrictions on ids break these:
//
//   - If one of them exchanges the ends of the pair, the first end has the greater id.
//   - The others fix both ends. Along the order behind them, a vertex has the greatest id of its orbit under those that fix
//     all vertices before it (Grochow and Kellis). These are the restrictions that a plan has for the same order,
//     except for its first two vertices.
//
// So each subgraph is found once. A search of all embeddings counts each |Aut| times, and lists it with its vertices
// exchanged by each symmetry.
//
// Without sharing there is a search for each pair. All of them have the restrictions of the whole pattern, so that one of
// a subgraph's embeddings is left, whichever pair its prime edge is at.
//
// Where vertices may repeat, several pairs may have the same data edge, which symmetries exchange. Then nothing is shared,
// and of pairs with the same cross edge the first in the pattern is the prime one.

// search finds the matches with prime edges at one pair.
type search struct {
	plan   *plan.Plan // in its order, the pair first; of all embeddings
	alike  int        // pairs that it stands for, this one included
	above  []uint32   // by level: the earlier levels that the level's vertex is above,
	below  []uint32   // or below
	levels []level    // from level 2 on
	pairs  uint32     // how the last two levels are counted together, one more than a PartitionPairs; 0: they are not
	maps   []uint8    // for listings: the column of a row for each level of the given plan, for each match of a row
	copies int
}

// level is what the device is told of a level.
type level struct {
	sources []int // relations whose lists the level reads
	backs   []back
	bits    []uint64 // the vertices that are allowed; nil: all
}

// back is a backward neighbour of a level.
type back struct {
	source, level     int
	neg, pair, behind bool
}

// pairs returns the adjacent pairs of the pattern's vertices, each ascending, in a fixed order.
func pairs(p *plan.Plan) (all [][2]int) {
	for l := range p.Levels {
		for _, b := range p.Levels[l].Back {
			if !b.Neg {
				u, v := p.Order[l], p.Order[b.Level]
				all = append(all, [2]int{min(u, v), max(u, v)})
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(all)
}

// adjacent returns the neighbours of each vertex of the pattern.
func adjacent(p *plan.Plan) []uint32 {
	to := make([]uint32, len(p.Order))
	for _, x := range pairs(p) {
		to[x[0]] |= 1 << x[1]
		to[x[1]] |= 1 << x[0]
	}
	return to
}

// connected reports whether edges join all vertices of the pattern.
func connected(p *plan.Plan) bool {
	to, reached := adjacent(p), uint32(1)
	for was := uint32(0); was != reached; {
		was = reached
		for _, v := range pattern.Members(was) {
			reached |= to[v]
		}
	}
	return bits.OnesCount32(reached) == len(p.Order)
}

// maxCopies is the most symmetries by which a row becomes several matches of a listing.
const maxCopies = 1 << 10

// across makes the searches across parts. The last two vertices are counted together only if the memory has room for the lists of any
// row: a row whose lists come in several chunks is searched for one vertex at a time.
func (x *prepared) across(ctx context.Context, share bool) error {
	if err := x.searchesFor(ctx, share, !x.listing && !x.p.NoTail); err != nil {
		return err
	}
	x.wants = x.needs()
	if (x.s.Memory() < x.wants.works() || x.chunk > 0) && slices.ContainsFunc(x.searches, func(s search) bool { return s.pairs > 0 }) {
		if err := x.searchesFor(ctx, share, false); err != nil {
			return err
		}
		x.wants = x.needs()
	}
	return nil
}

// searchesFor makes the searches, with the last two vertices counted together or not.
func (x *prepared) searchesFor(ctx context.Context, share, counted bool) error {
	x.searches = nil
	p := x.p
	all, group := pairs(p), p.Pattern.Automorphisms()
	if p.Rooted { // each vertex counts what it is the root of
		group = group.Stabilizer([]int{p.Order[0]})
	}
	orbit, turns := group.PairOrbits(all)
	x.factor = 1
	elements := [][]int{nil}
	x.shared = share && p.Mode == pattern.Iso
	if x.shared && !p.Restricted {
		switch found, few := group.Elements(maxCopies); {
		case !x.o.Listing && group.Order().IsUint64():
			x.factor = group.Order().Uint64()
		case x.o.Listing && few:
			elements = found
		default:
			x.shared = false
		}
	}
	po := plan.Options{
		Embeddings: true, Listing: true, NoTail: true, Root: plan.NoRoot, Method: plan.Nest.String(), Quick: true, Context: ctx, Threads: x.o.Threads,
	}
	var firsts [][2]int
	for i, pair := range all {
		if !x.shared || orbit[i] == i {
			firsts = append(firsts, pair)
		}
	}
	orders, err := planner.OrdersFrom(x.g, p.Pattern, po, counted, firsts...)
	if err != nil {
		return err
	}
	for i := range all {
		if x.shared && orbit[i] != i {
			continue
		}
		s := search{alike: 1, copies: len(elements)}
		order := orders[0]
		orders = orders[1:]
		po.Order, po.Given = "given", order
		if s.plan, err = planner.Compile(x.g, p.Pattern, po); err != nil {
			return err
		}
		s.above, s.below = make([]uint32, len(order)), make([]uint32, len(order))
		switch {
		case x.shared:
			s.alike = 0
			for _, o := range orbit {
				if o == i {
					s.alike++
				}
			}
			if turns[i] {
				s.greater([2]int{order[0], order[1]})
			}
			s.greater(group.Greater(order, 2)...)
		case p.Restricted:
			s.greater(group.Greater(p.Order, 0)...)
		}
		if err := s.makeLevels(x.g, all, i); err != nil {
			return err
		}
		if counted {
			s.together()
		}
		for _, e := range elements {
			for _, v := range p.Order {
				if e != nil {
					v = e[v]
				}
				s.maps = append(s.maps, uint8(s.plan.LevelOf[v]))
			}
		}
		x.searches = append(x.searches, s)
	}
	return nil
}

// greater says, for pairs u, v of vertices of the pattern, that u has a greater id than v.
func (s *search) greater(pairs ...[2]int) {
	for _, x := range pairs {
		i, j := s.plan.LevelOf[x[0]], s.plan.LevelOf[x[1]]
		if i > j {
			s.above[i] |= 1 << j
		} else {
			s.below[j] |= 1 << i
		}
	}
}

// makeLevels makes the levels that the device searches, for a prime edge at a pair.
func (s *search) makeLevels(g *graph.Graph, all [][2]int, prime int) error {
	p := s.plan
	for l := range p.Levels {
		lv := &p.Levels[l]
		out := level{bits: allowed(g, p, lv)}
		for _, b := range lv.Back {
			k := slices.Index(out.sources, b.Adj)
			if k < 0 {
				k = len(out.sources)
				out.sources = append(out.sources, b.Adj)
			}
			u, v := p.Order[l], p.Order[b.Level]
			at := slices.Index(all, [2]int{min(u, v), max(u, v)})
			out.backs = append(out.backs, back{source: k, level: b.Level, neg: b.Neg, pair: at >= 0, behind: at > prime && p.Mode != pattern.Iso})
		}
		if len(out.sources) > maxSources || len(out.backs) > maxBacks {
			return plan.Refusef("a vertex has more than %d edges of %d kinds to those before it", maxBacks, maxSources)
		}
		s.levels = append(s.levels, out)
	}
	return nil
}

// The ways to count the last two levels together: enum PartitionPairs of kernels/partition/plan.cuh, and one more.
const (
	pairsAny = iota + 1
	pairsDiffer
	pairsSame
	pairsOrdered
)

// together has the last two levels counted together, if neither is a neighbour of the other. Their candidates then depend
// on earlier levels only, also as far as cross edges go.
func (s *search) together() {
	a, b := len(s.levels)-2, len(s.levels)-1
	if a < 2 {
		return
	}
	first, second := &s.levels[a], &s.levels[b]
	for _, x := range second.backs {
		if x.level == a {
			return
		}
	}
	all := slices.Clone(first.sources) // of both levels, which read the same gathered lists
	for _, adj := range second.sources {
		if !slices.Contains(all, adj) {
			all = append(all, adj)
		}
	}
	if len(all) > maxSources {
		return
	}
	ordered := (s.above[b]|s.below[b])>>a&1 != 0
	same := slices.Equal(first.bits, second.bits) && s.above[a] == s.above[b]&^(1<<a) && s.below[a] == s.below[b]&^(1<<a) &&
		s.distinct(a) == s.distinct(b)&^(1<<a) && sameBacks(s, a, b)
	switch {
	case ordered && same:
		s.pairs = pairsOrdered
	case ordered:
		return
	case s.distinct(b)>>a&1 == 0:
		s.pairs = pairsAny
	case same:
		s.pairs = pairsSame
	default:
		s.pairs = pairsDiffer
	}
	s.above[b] &^= 1 << a
	s.below[b] &^= 1 << a
	for k := range second.backs {
		second.backs[k].source = slices.Index(all, second.sources[second.backs[k].source])
	}
	first.sources, second.sources = all, all
}

// distinct is the earlier levels from which a level's vertex must differ.
func (s *search) distinct(l int) (mask uint32) {
	for _, j := range s.plan.Levels[l].Distinct {
		mask |= 1 << j
	}
	if s.pairs > 0 && l == len(s.levels)-1 {
		mask &^= 1 << (l - 1) // kernels see to that
	}
	return mask
}

// sameBacks reports whether two levels have the same backward neighbours.
func sameBacks(s *search, a, b int) bool {
	sorted := func(l int) []back {
		all := slices.Clone(s.levels[l].backs)
		for i := range all {
			all[i].source = s.levels[l].sources[all[i].source]
		}
		slices.SortFunc(all, func(x, y back) int { return slices.Compare(x.key(), y.key()) })
		return all
	}
	return slices.Equal(sorted(a), sorted(b))
}

func (x back) key() []int {
	return []int{x.level, x.source, int(flag(x.neg, backNeg) | flag(x.pair, backPair) | flag(x.behind, backLater))}
}

// allowed returns a bitmap of the vertices that a level may have, whatever the others are; nil: all.
func allowed(g *graph.Graph, p *plan.Plan, lv *plan.Level) []uint64 {
	if lv.Ranges == nil && lv.Bits == nil && lv.MinDegree == 0 {
		return nil
	}
	n := uint32(g.NumVertices())
	ranges := lv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: n}}
	}
	out := make([]uint64, (n+63)/64)
	for _, r := range ranges {
		for v := r.First; v < r.End; v++ {
			if lv.Bits != nil && lv.Bits[v>>6]>>(v&63)&1 == 0 {
				continue
			}
			if lv.MinDegree == 0 || p.Adjs[lv.MinDegreeAdj].Lists.Degree(v) >= lv.MinDegree {
				out[v>>6] |= 1 << (v & 63)
			}
		}
	}
	return out
}

// describe says what the search is for.
func (s *search) describe(given *plan.Plan, shared bool) string {
	var names []string
	for _, v := range s.plan.Order {
		names = append(names, given.Pattern.VertexName(v))
	}
	text := fmt.Sprintf("from each edge between parts as (%s, %s), the first such edge of a match: %s", names[0], names[1], strings.Join(names, ", "))
	if shared && s.alike > 1 {
		text += fmt.Sprintf("; for %d edges of the pattern that are alike", s.alike)
	}
	if s.pairs > 0 {
		text += "; the last two are counted by the numbers of their candidates"
	}
	return text
}
