package join

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/plan"
)

// probe is how the candidates of a group are found out of core: they are in the lists of a relation, and are tested against other
// vertices of their row and looked up in further lists.
type probe struct {
	*group
	rel                 *relation
	columns             []int  // the levels that are read. The lists are those of the first one, unless the group is free
	apart, below, above uint32 // the columns whose vertices candidates must differ from, be below or above
	edges               []probeEdge
	allowed             int // which of a run's sets of vertices may be candidates

	// ways are the probes that make the candidates of the lists of another edge, by the edge's place in backs; nil: of a missing edge. There
	// are none if one edge is there. The first is like the probe itself. every has all edges, in the order of backs.
	ways  []*probe
	every *probe
}

// probeEdge is an edge to the row's vertex in a column, or with neg a missing one.
type probeEdge struct {
	rel    *relation
	column int
	neg    bool
}

// fusedEdges is the most edges that a kernel looks for at once: struct SegmentArgs has places for them, and an entry of its rows a bit for
// each.
const fusedEdges = 12

// mostWays is the most edges of which the shortest list makes the candidates: masks of edges have a bit for each, and one more.
const mostWays = 31

// backs are the edges to earlier vertices, the one whose list makes the candidates first.
func (x *group) backs() []plan.Back {
	if x.Free() {
		return x.With
	}
	return append([]plan.Back{x.From}, x.With...)
}

// newProbe returns the probe of a group. The relations that it reads are not cut yet.
func (x *onGPU) newProbe(g *group, allowed int) *probe {
	p := x.probeBy(g, allowed, 0)
	positive := 0
	for _, b := range g.backs() {
		positive += int(1 - number(b.Neg))
	}
	if x.shorter == 0 || g.Free() || positive < 2 || len(g.backs()) > mostWays {
		return p
	}
	for k, b := range g.backs() {
		if b.Neg {
			p.ways = append(p.ways, nil)
			continue
		}
		p.ways = append(p.ways, x.probeBy(g, allowed, k))
	}
	p.every = x.probeBy(g, allowed, 0)
	p.every.edges = slices.Insert(p.every.edges, 0, probeEdge{rel: p.rel})
	return p
}

// probeBy returns a probe whose candidates are made of the lists of one of the backs.
func (x *onGPU) probeBy(g *group, allowed, by int) *probe {
	p := &probe{group: g, allowed: allowed}
	column := func(level int) int {
		for c, l := range p.columns {
			if l == level {
				return c
			}
		}
		p.columns = append(p.columns, level)
		return len(p.columns) - 1
	}
	backs := g.backs()
	if g.Free() {
		p.rel = &relation{off: []uint64{0, uint64(len(g.all))}, adj: g.all, kind: layoutCSR, list: func(uint32) []uint32 { return g.all }}
	} else {
		column(backs[by].Level)
		p.rel = x.relations[backs[by].Adj]
		backs = slices.Delete(backs, by, by+1)
	}
	for _, t := range []struct {
		levels []int
		mask   *uint32
	}{{g.distinct, &p.apart}, {g.below, &p.below}, {g.above, &p.above}} {
		for _, l := range t.levels {
			*t.mask |= 1 << column(l)
		}
	}
	for _, b := range backs {
		p.edges = append(p.edges, probeEdge{x.relations[b.Adj], column(b.Level), b.Neg})
	}
	return p
}

// counts reports whether the number of candidates follows from the ends of lists, where vertices that may be candidates are
// those of a range.
func (p *probe) counts(allowed []uint64) bool { return len(p.edges) == 0 && allowed == nil }

// unbound reports whether each element of a list of n vertices' relation is a candidate.
func (p *probe) unbound(n int) bool {
	return p.apart|p.below|p.above == 0 && p.one.First == 0 && int(p.one.End) >= n
}

// first returns the vertices of a block whose lists have the candidates; nil: all rows have the same list.
func (p *probe) first(b *rowBlock) []uint32 {
	if p.Free() {
		return nil
	}
	return b.cols[p.columns[0]]
}

// length is how many elements the list has of which the candidates of a row are made.
func (p *probe) length(b *rowBlock, r int) uint64 {
	v := of(p.first(b), r)
	return p.rel.off[v+1] - p.rel.off[v]
}

// shortest is the way that makes the fewest candidates of a row, of a probe that has ways, and how many elements its list has.
func (p *probe) shortest(b *rowBlock, r int) (way int, least uint64) {
	least = ^uint64(0)
	for k, o := range p.ways {
		if o == nil {
			continue
		}
		if n := o.length(b, r); n < least {
			way, least = k, n
		}
	}
	return way, least
}

// rowSet is n rows of a block: those numbered, or those from lo on.
type rowSet struct {
	lo, n    int
	numbered []uint32
}

func (s rowSet) at(k int) uint32 {
	if s.numbered != nil {
		return s.numbered[k]
	}
	return uint32(s.lo + k)
}

// of is the vertex whose list row r of a column reads.
func of(column []uint32, r int) uint32 {
	if column == nil {
		return 0
	}
	return column[r]
}

// all is the mask of all edges of a probe.
func (p *probe) all() uint32 { return 1<<len(p.edges) - 1 }

// probing makes the probes of all steps, and of the blocks of a tail.
func (x *onGPU) probing() {
	x.probes, x.sizes, x.free = make([]*probe, len(x.steps)), nil, nil
	add := func(g *group) *probe {
		p := x.newProbe(g, len(x.groups))
		x.groups = append(x.groups, g)
		if g.Free() {
			x.free = append(x.free, p.rel)
		}
		return p
	}
	x.groups = nil
	for i := range x.steps {
		if i == len(x.steps)-1 && x.tail != nil {
			for _, mask := range x.tail.Blocks {
				var all []*group
				for ; mask != 0; mask &= mask - 1 {
					t := &x.p.Tail.Groups[bits.TrailingZeros32(mask)]
					all = append(all, &x.steps[i].groups[t.Levels[0]-x.steps[i].width])
				}
				x.sizeOrder = append(x.sizeOrder, len(x.sizes))
				x.sizes = append(x.sizes, add(x.intersection(all)))
			}
			// The sets of single vertices first, as rows for which one is empty need no other, and of those the cheapest.
			slices.SortStableFunc(x.sizeOrder, func(a, b int) int {
				blocks := x.tail.Blocks
				return cmp.Or(cmp.Compare(bits.OnesCount32(blocks[a]), bits.OnesCount32(blocks[b])), cmp.Compare(len(x.sizes[a].edges), len(x.sizes[b].edges)))
			})
			return
		}
		if i == 0 {
			x.groups = append(x.groups, &x.steps[0].groups[0])
			continue
		}
		x.probes[i] = add(&x.steps[i].groups[0])
	}
}

// eachProbe calls f with the probes of step i.
func (x *onGPU) eachProbe(i int, f func(p *probe)) {
	if x.probes[i] != nil {
		f(x.probes[i])
	}
	if i == len(x.steps)-1 {
		for _, p := range x.sizes {
			f(p)
		}
	}
}
