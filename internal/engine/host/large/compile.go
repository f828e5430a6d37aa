package large

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// maxVars is the largest number of pattern vertices: sets of them are words.
const maxVars = 64

// Supports says why this method cannot run p, or nil.
func Supports(p *plan.Plan) error {
	switch {
	case p.Mode != pattern.Iso:
		return plan.Refusef("the large method finds distinct vertices only, not %v matches", p.Mode)
	case len(p.Levels) > maxVars:
		return plan.Refusef("the large method takes patterns of up to %d vertices, not %d", maxVars, len(p.Levels))
	case len(p.Edges) > 0:
		return plan.Refusef("the large method does not bind data edges (named edges)")
	case p.Rooted:
		return plan.Refusef("the large method does not count per vertex")
	}
	for i := range p.Levels {
		if len(p.Levels[i].Checks) > 0 {
			return plan.Refusef("the large method does not evaluate predicates over several vertices (%s)", p.Levels[i].Checks[0].Text)
		}
	}
	return nil
}

// A link is one constraint between two variables, seen from one of them: the
// other's vertex is (not, if neg) in csr.List(own vertex).
type link struct {
	adj int
	neg bool
}

// A pair is every constraint between two variables u < v.
type pair struct {
	u, v  int
	links []link // seen from u
}

// A variable is one level of the plan.
type variable struct {
	ranges    []plan.Range
	bits      []uint64
	minDegree int
	minAdj    int
	group     int
	below     uint64 // variables whose vertex must be larger than this one's
	above     uint64 // variables whose vertex must be smaller
	needs     []need
	span      int // vertices in ranges
}

// A need is a neighbour-label requirement: a candidate has at least count
// neighbours within ranges in adj, one for each variable of vars.
type need struct {
	adj    int
	ranges []plan.Range
	vars   uint64
	count  int
}

// A problem is a plan as a constraint graph.
type problem struct {
	g     *graph.Graph
	p     *plan.Plan
	n     int
	vars  []variable
	pairs []pair
	adj   [maxVars]uint64 // variables linked by any pair
	pos   [maxVars]uint64 // variables linked by a positive link
	twice [maxVars]uint64 // those linked by several
	alike [maxVars]uint64 // other variables of the same group
	order [maxVars]uint64 // variables related by a restriction; listing only
	all   uint64
	neg   uint64 // variables with a negative link
	// groups are sets of variables whose ranges overlap, directly or through
	// others: only they can meet in a vertex.
	groups []uint64

	// lists are the plan's adjacencies. The method reads each list many times, so those
	// that are stored in parts are put together once.
	lists []graph.Lists

	// The memory of the slices above, kept from run to run.
	links []link
	needs []need
	whole [1]plan.Range
}

// forget lets go of the graph and the plan.
func (pb *problem) forget() {
	clear(pb.vars[:cap(pb.vars)])
	clear(pb.needs[:cap(pb.needs)])
	clear(pb.lists[:cap(pb.lists)])
	pb.g, pb.p = nil, nil
}

// compile makes pb the constraint graph of a plan. Restrictions become part of it
// only if restrict is set.
func (pb *problem) compile(g *graph.Graph, p *plan.Plan, restrict bool) {
	n := len(p.Levels)
	pb.g, pb.p, pb.n = g, p, n
	pb.lists = pb.lists[:0]
	for i := range p.Adjs {
		pb.lists = append(pb.lists, p.Adjs[i].Lists.Whole())
	}
	pb.vars = slices.Grow(pb.vars[:0], n)[:n]
	clear(pb.adj[:n])
	clear(pb.pos[:n])
	clear(pb.twice[:n])
	clear(pb.alike[:n])
	clear(pb.order[:n])
	if n == 64 {
		pb.all = ^uint64(0)
	} else {
		pb.all = 1<<n - 1
	}
	pb.neg = 0
	backs := 0
	for i := range p.Levels {
		backs += len(p.Levels[i].Back)
	}
	pb.pairs = slices.Grow(pb.pairs[:0], backs)
	pb.links = slices.Grow(pb.links[:0], backs)
	pb.needs = slices.Grow(pb.needs[:0], 2*backs)
	links, needs := pb.links[:backs], pb.needs[:2*backs]
	pb.whole[0] = plan.Range{First: 0, End: uint32(g.NumVertices())}
	for i := range p.Levels {
		l, x := &p.Levels[i], &pb.vars[i]
		x.ranges, x.bits = l.Ranges, l.Bits
		if l.Ranges == nil {
			x.ranges = pb.whole[:]
		} else if slices.ContainsFunc(l.Ranges, isEmpty) {
			x.ranges = slices.DeleteFunc(slices.Clone(l.Ranges), isEmpty)
		}
		for _, r := range x.ranges {
			x.span += int(r.End - r.First)
		}
		x.minDegree, x.minAdj = l.MinDegree, l.MinDegreeAdj
		if restrict {
			for _, j := range l.Below {
				x.below |= 1 << j
				pb.vars[j].above |= 1 << i
				pb.order[i] |= 1 << j
				pb.order[j] |= 1 << i
			}
			for _, j := range l.Above {
				x.above |= 1 << j
				pb.vars[j].below |= 1 << i
				pb.order[i] |= 1 << j
				pb.order[j] |= 1 << i
			}
		}
		first := len(pb.pairs)
		for _, b := range l.Back {
			k := first
			for k < len(pb.pairs) && pb.pairs[k].u != b.Level {
				k++
			}
			if k == len(pb.pairs) {
				pb.pairs = append(pb.pairs, pair{u: b.Level, v: i, links: links[:0:1]})
				links = links[1:]
			}
			pb.pairs[k].links = append(pb.pairs[k].links, link{b.Adj, b.Neg})
			pb.adj[i] |= 1 << b.Level
			pb.adj[b.Level] |= 1 << i
			if b.Neg {
				pb.neg |= 1<<i | 1<<b.Level
			} else {
				pb.twice[i] |= pb.pos[i] & (1 << b.Level)
				pb.twice[b.Level] |= pb.pos[b.Level] & (1 << i)
				pb.pos[i] |= 1 << b.Level
				pb.pos[b.Level] |= 1 << i
			}
		}
	}
	for i := range pb.vars {
		k := bits.OnesCount64(pb.pos[i])
		pb.vars[i].needs, needs = needs[:0:k], needs[k:]
	}
	for i := range pb.pairs {
		pr := &pb.pairs[i]
		sortLinks(pr.links)
		pr.links = slices.Compact(pr.links)
		for _, l := range pr.links {
			if !l.neg {
				pb.addNeed(pr.u, pr.v, l.adj)
				pb.addNeed(pr.v, pr.u, p.Adjs[l.adj].Rev)
			}
		}
	}
	pb.makeGroups()
}

// sortLinks puts positive links first.
func sortLinks(l []link) {
	if len(l) < 2 {
		return
	}
	slices.SortFunc(l, func(a, b link) int {
		if a.neg != b.neg {
			if b.neg {
				return -1
			}
			return 1
		}
		return a.adj - b.adj
	})
}

// addNeed notes that a candidate of u needs a neighbour in adj for v.
func (pb *problem) addNeed(u, v, adj int) {
	x := &pb.vars[u]
	for i := range x.needs {
		d := &x.needs[i]
		if d.adj == adj && slices.Equal(d.ranges, pb.vars[v].ranges) {
			if d.vars>>v&1 == 0 {
				d.vars |= 1 << v
				d.count++
			}
			return
		}
	}
	x.needs = append(x.needs, need{adj: adj, ranges: pb.vars[v].ranges, vars: 1 << v, count: 1})
}

// makeGroups joins variables whose ranges overlap.
func (pb *problem) makeGroups() {
	pb.groups = pb.groups[:0]
	left := pb.all
	for left != 0 {
		grp := left & -left
		for todo := grp; todo != 0; {
			u := bits.TrailingZeros64(todo)
			todo &= todo - 1
			for rest := left &^ grp; rest != 0; rest &= rest - 1 {
				v := bits.TrailingZeros64(rest)
				if overlap(pb.vars[u].ranges, pb.vars[v].ranges) || pb.order[u]>>v&1 != 0 {
					grp |= 1 << v
					todo |= 1 << v
				}
			}
		}
		left &^= grp
		for m := grp; m != 0; m &= m - 1 {
			u := bits.TrailingZeros64(m)
			pb.vars[u].group = len(pb.groups)
			pb.alike[u] = grp &^ (1 << u)
		}
		pb.groups = append(pb.groups, grp)
	}
}

func isEmpty(r plan.Range) bool { return r.First >= r.End }

// overlap reports whether two sorted lists of ranges share a vertex. No range
// is empty.
func overlap(a, b []plan.Range) bool {
	if len(a) == 1 && len(b) == 1 {
		return a[0].First < b[0].End && b[0].First < a[0].End
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].End <= b[j].First:
			i++
		case b[j].End <= a[i].First:
			j++
		default:
			return true
		}
	}
	return false
}

// list returns v's neighbours in adjacency a.
func (pb *problem) list(a int, v uint32) []uint32 { return pb.lists[a].List(v) }

// within returns the part of a sorted list that lies in r. A label has few of a
// vertex's neighbours mostly, so that its end is found by walking.
func within(l []uint32, r plan.Range) []uint32 {
	i := 0
	if len(l) > 16 {
		i = lowerBound(l, r.First)
	} else {
		for i < len(l) && l[i] < r.First {
			i++
		}
	}
	l = l[i:]
	j := 0
	for j < len(l) && l[j] < r.End {
		if j++; j == 16 {
			return l[:16+lowerBound(l[16:], r.End)]
		}
	}
	return l[:j]
}

// has reports whether x is in a sorted list, mostly a short one.
func has(l []uint32, x uint32) bool {
	i := 0
	if len(l) > 16 {
		i = lowerBound(l, x)
	} else {
		for i < len(l) && l[i] < x {
			i++
		}
	}
	return i < len(l) && l[i] == x
}

// lowerBound returns the number of elements of a sorted list below x.
func lowerBound(l []uint32, x uint32) int {
	at, n := 0, len(l)
	for n > 0 {
		half := (n + 1) >> 1
		next := at
		if l[at+half-1] < x { // a conditional move: neither way is likely
			next = at + half
		}
		at = next
		n -= half
	}
	return at
}
