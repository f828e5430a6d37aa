package cost

import (
	"context"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Prices of the local method in set elements.
const (
	localPair   = 6   // one candidate of the last level but one, when the last is a size
	localStep   = 16  // one candidate placed and the sets below it made
	localClose  = 24  // a tail of several vertices closed
	localWord   = 0.8 // one word of one row
	localEdge   = 0.5 // one element read while a matrix is made
	localMember = 2   // one member of a universe
	localWedge  = 1   // one path of length two to a vertex outside
)

func turned(s plan.Side) plan.Side {
	return [...]plan.Side{plan.AllSides, plan.UpperSide, plan.LowerSide}[s]
}

// onSide is the part of v's list on one side.
func onSide(s plan.Side, lists *graph.Handle, v uint32, room *graph.Scratch) []uint32 {
	switch list := lists.List(v, room); s {
	case plan.LowerSide:
		return plan.Within(list, 0, v)
	case plan.UpperSide:
		return plan.Within(list, v+1, ^uint32(0))
	default:
		return list
	}
}

// adjacent reports whether lv's vertex is a neighbour of level j's.
func adjacent(lv *plan.Level, j int) bool {
	return slices.ContainsFunc(lv.Back, func(b plan.Back) bool { return b.Level == j && !b.Neg })
}

// neighbourhoods are sums over all roots.
type neighbourhoods struct {
	members float64          // of universes
	reads   float64          // elements read while all matrices are made
	cells   float64          // words of all matrices
	rows    [deepest]float64 // words of a row: [k] where sets of k+2 members are, if each has the same share of a universe's
	wedges  float64          // ways over a member to a vertex within level 1's bounds
	ends    []end            // some of the vertices there
}

// deepest is up to how many members more than two the rows are told apart.
const deepest = 6

// words is the number of words of a row that a step of level l reads. Hubs have the longest rows, and more of the matches of a deeper level.
func (n *neighbourhoods) words(l int) float64 { return n.rows[min(max(0, l-2), deepest-1)] }

// end is an outside vertex: the number of wedges that lead to it, and the number of neighbours
// that it shares with the root.
type end struct {
	wedges float64
	shared int
}

// sharing is the number of wedges to vertices that share at least `least` neighbours with the
// root.
func (n *neighbourhoods) sharing(least int) float64 {
	some, all := 0.0, 0.0
	for _, e := range n.ends {
		all += e.wedges
		if e.shared >= least {
			some += e.wedges
		}
	}
	if all == 0 {
		return 0
	}
	return n.wedges * some / all
}

// Survey estimates neighbourhoods from arcs root to member at equal distances, so
// that vertices appear by their degrees. The graph keeps those of its own relations.
type Survey struct {
	g     *graph.Graph
	lists *graph.Handle
	most  int
	room  [3]graph.Scratch
}

// surveyKey says which neighbourhoods of which relation are surveyed.
type surveyKey struct {
	id, version     uint64
	most            int
	inside, outside plan.Side
}

// surveyed is the number of arcs that are looked at, and of one in endsApart of them
// a vertex outside. briefly is the number for a plan that is chosen whatever its price.
const (
	surveyed  = 2048
	briefly   = 128
	endsApart = 8
)

// NewSurvey returns a survey of a relation of g, or of a query's own.
func NewSurvey(g *graph.Graph, lists *graph.Handle, o *plan.Options) *Survey {
	s := &Survey{g: g, lists: lists, most: surveyed}
	if o.Quick {
		s.most = briefly
	}
	return s
}

// of is the sums for universes on one side, and vertices outside on another.
func (s *Survey) of(inside, outside plan.Side) neighbourhoods {
	if !s.lists.Kept {
		return s.look(inside, outside)
	}
	key := surveyKey{s.lists.ID, s.lists.Version, s.most, inside, outside}
	n, err := s.g.Derived(context.Background(), key, func() (any, error) { return s.look(inside, outside), nil })
	if err != nil {
		return s.look(inside, outside)
	}
	return n.(neighbourhoods)
}

func (s *Survey) look(inside, outside plan.Side) (n neighbourhoods) {
	arcs := int(s.lists.Entries())
	samples := min(arcs, s.most)
	each := float64(arcs) / float64(samples)
	var weights [deepest]float64
	for i := range samples {
		root, u := s.lists.Entry(uint64(float64(i) * each))
		if inside == plan.LowerSide && u > root || inside == plan.UpperSide && u < root {
			continue
		}
		universe, reads := onSide(inside, s.lists, root, &s.room[0]), each*float64(len(onSide(plan.LowerSide, s.lists, u, &s.room[1])))
		words := float64((len(universe) + 63) / 64)
		n.members += each
		n.reads += reads
		n.cells += each * words
		weight := reads
		for k := range weights {
			n.rows[k] += weight * words
			weights[k] += weight
			weight *= float64(len(universe))
		}
		outer := s.lists.List(u, &s.room[1])
		switch outside {
		case plan.LowerSide:
			outer = plan.Within(outer, 0, root)
		case plan.UpperSide:
			outer = plan.Within(outer, root+1, ^uint32(0))
		}
		wedges := each * float64(len(outer))
		n.wedges += wedges
		if i%endsApart == 0 && len(outer) > 0 {
			y := outer[i*len(outer)/samples]
			n.ends = append(n.ends, end{wedges, common(universe, s.lists.List(y, &s.room[2]))})
		}
	}
	for k, w := range weights {
		n.rows[k] /= max(w, 1)
	}
	return n
}

// LocalPrice is the expected work of a plan for the local method: making the
// matrices, and one step for each partial match above the tail.
func LocalPrice(pl *plan.Plan, s *Survey) float64 {
	inside, outside := plan.LocalSide(pl), plan.AllSides
	switch lv := &pl.Levels[1]; {
	case slices.Contains(lv.Below, 0):
		outside = plan.LowerSide
	case slices.Contains(lv.Above, 0):
		outside = plan.UpperSide
	}
	sizes := pl.Hood(len(pl.Levels) - pl.Tail.K).SizesOnly
	if sizes && outside == plan.LowerSide { // engines walk from the end of higher degree
		inside, outside = turned(inside), plan.UpperSide
	}
	n := s.of(inside, outside)
	first := len(pl.Levels) - pl.Tail.K
	price := localMember * n.members
	if !sizes {
		price += localEdge*n.reads + localWord*n.cells
	}
	step := func(l int) float64 { return localStep + localWord*n.words(l) }
	closing := 0.0
	switch {
	case pl.Tail.K > 1:
		closing = localClose
	case pl.Tail.K == 1 && pl.Levels[1].Set >= 0:
		closing = localPair - localStep // one loop closes both levels
	}
	if pl.Levels[1].Set < 0 {
		price += localWedge * n.wedges
		// Level 2 is the pair's common neighbours, or its vertices are chosen for each pair.
		// Below that, random walks say how many candidates a level has for each one of the
		// level above.
		share := 0
		for l := 2; l < len(pl.Levels); l++ {
			if adjacent(&pl.Levels[l], 1) {
				share++
			}
		}
		partial := n.sharing(share)
		for l := 2; l < first; l++ {
			above := pl.Levels[l-1].Estimate
			switch {
			case l > 2 && above > 0:
				partial *= pl.Levels[l].Estimate / above
			case l == 2 && above > 0 && !adjacent(&pl.Levels[2], 1):
				partial = pl.Levels[2].Estimate * min(1, partial/above)
			}
			price += partial * step(l)
		}
		price += partial * closing
		return price
	}
	for l := 1; l < first; l++ {
		price += pl.Levels[l].Estimate * step(l)
	}
	return price + pl.Levels[first-1].Estimate*closing
}

// looked is the largest number of members of a list that are looked up in another. From a
// longer list an even sample is taken. Why: comparing 256 pairs of hubs completely would take
// longer than many searches.
const looked = 1 << 13

// common is about the number of members of two sorted lists, exact where one has
// at most looked of them.
func common(a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) <= looked {
		return found(a, b)
	}
	some := make([]uint32, looked)
	for k := range some {
		from, to := k*len(a)/looked, (k+1)*len(a)/looked
		some[k] = a[from+int(uint32(k)*0x9e3779b1>>16)%(to-from)] // numbers may be regular
	}
	return int(int64(found(some, b)) * int64(len(a)) / looked)
}

// found is how many members of a are in b, both sorted.
func found(a, b []uint32) (n int) {
	for _, x := range a {
		i, ok := slices.BinarySearch(b, x)
		if b = b[i:]; ok {
			n++
		}
	}
	return n
}
