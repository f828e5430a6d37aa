package host

import (
	"context"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setops"
)

// program is a plan made ready for the nest: the steps of each level, in their order. It is
// read-only during a run.
type program struct {
	g      *graph.Graph
	p      *plan.Plan
	levels []level
	depth  int // number of levels
	tail   int // the last tail levels are counted, not enumerated
	// lists[a] is adjacency a. It is empty where lists are in parts: workers then put each
	// together.
	lists []graph.Lists
	parts bool // some of lists are
	// first[a][v] is where in the list of v the ids above v begin, for those
	// neighbour lists that restrictions cut at their own vertex.
	first [][]uint64
	// nodes[l] are the set nodes to compute once m[l] is bound.
	nodes [][]int
	// lazy[s] is true where only the size of node s is wanted, so that it is not
	// computed until the tail asks for it.
	lazy []bool
	// reused[s] is true where node s is an operand below the level that makes
	// it, so that a bitmap of it may pay.
	reused []bool
}

// level is a plan.Level with values that are computed before the run.
type level struct {
	*plan.Level
	set int
	// minDegree is the part of MinDegree that must be tested one by one.
	minDegree int
	// one is the only id range allowed; whole when any id is. many is true
	// when there are several ranges.
	one  plan.Range
	many bool
	// member are the tests for a level that must be distinct, one a level in
	// Distinct: is that vertex in this level's set?
	member []plan.Member
	filter bool // candidates need more than the bounds
	// loose levels have no set, because they start a further component of the pattern. Each
	// candidate is tested for forbidden neighbours.
	loose bool
}

func compile(g *graph.Graph, p *plan.Plan, counting bool) *program {
	pr := &program{g: g, p: p, depth: len(p.Levels), first: make([][]uint64, len(p.Adjs)), lists: make([]graph.Lists, len(p.Adjs))}
	for a := range p.Adjs {
		lists, ok := p.Adjs[a].Lists.Lists()
		if lists.Sparse != nil && denser(p) {
			lists = lists.Sparse.Dense().Lists()
		}
		pr.lists[a], pr.parts = lists, pr.parts || !ok
	}
	if counting {
		pr.tail = p.Tail.K
	}
	pr.nodes = make([][]int, pr.depth)
	pr.reused = make([]bool, len(p.Sets))
	pr.lazy = make([]bool, len(p.Sets))
	if last := &p.Levels[pr.depth-1]; pr.tail == 1 {
		pr.lazy = p.Unread(pr.depth-1, p.Tail.Groups, func(int) bool { return last.Bits != nil || len(last.Ranges) > 1 })
	}
	for i, s := range p.Sets {
		if !pr.lazy[i] {
			pr.nodes[s.At] = append(pr.nodes[s.At], i)
		}
		if s.Op != plan.SetList && p.Sets[s.Base].At < s.At {
			pr.reused[s.Base] = true
		}
	}
	for _, s := range p.Sets {
		if slices.Contains(s.Below, s.Of) || slices.Contains(s.Above, s.Of) {
			pr.orientIfPays(s.Adj)
		}
	}
	if last := &p.Levels[pr.depth-1]; last.Set >= 0 && pr.tail == 1 {
		if s := &p.Sets[last.Set]; slices.Contains(last.Below, s.Of) {
			pr.orientIfPays(s.Adj)
		}
	}
	n := uint32(g.NumVertices())
	for l := range p.Levels {
		pl := &p.Levels[l]
		lv := level{Level: pl, set: pl.Set, one: plan.Range{First: 0, End: n}}
		switch len(pl.Ranges) {
		case 0:
		case 1:
			lv.one = pl.Ranges[0]
		default:
			lv.many = true
			lv.one = plan.Range{First: pl.Ranges[0].First, End: pl.Ranges[len(pl.Ranges)-1].End}
		}
		for _, d := range pl.Distinct {
			lv.member = append(lv.member, p.Member(l, d))
		}
		if end, ok := p.DegreeEnd(l); ok {
			lv.one.End = end
		} else if p.NeedsDegree(l) {
			lv.minDegree = pl.MinDegree
		}
		lv.loose = l > 0 && pl.Set < 0 && len(pl.Back) > 0
		lv.filter = lv.loose || lv.many || pl.Bits != nil || len(pl.Distinct) > 0 || len(pl.Checks) > 0 || lv.minDegree > 0
		pr.levels = append(pr.levels, lv)
	}
	return pr
}

// denser reports whether a search is long enough to make offsets of sparse lists first, which it
// forgets at its end.
func denser(p *plan.Plan) bool { return plan.OffsetsFit(p.Graph) && long(p) }

// long reports whether a search takes much longer than to look at each list once.
func long(p *plan.Plan) bool { return p.Work() > 64*float64(p.Graph.NumVertices()) }

// orientIfPays is orient for lists that are read anyhow: without it each read finds the place by a binary search. The places of lists
// that are not the graph's own are forgotten at the search's end.
func (pr *program) orientIfPays(a int) {
	if csr := pr.lists[a].Dense; csr != nil && (pr.own(csr) || long(pr.p)) {
		pr.orient(a)
	}
}

// own reports whether lists are the graph's own, of all edges.
func (pr *program) own(csr *graph.CSR) bool {
	out := &pr.g.Out
	return csr.NumVertices() > 0 && &csr.Off[0] == &out.Off[0] && len(csr.Adj) == len(out.Adj)
}

// orient finds where each list of adjacency a passes its own vertex.
func (pr *program) orient(a int) {
	csr := pr.lists[a].Dense
	if pr.first[a] != nil || csr == nil {
		return
	}
	// The graph keeps the result for its own lists, and other searches wait for it, so this is
	// done on all cores and to the end.
	find := func() []uint64 {
		if o, err := layout.Orient(context.Background(), *csr, 0); err == nil {
			return o.First
		}
		return nil
	}
	if pr.own(csr) {
		pr.first[a] = pr.g.Above(find)
	} else {
		pr.first[a] = find()
	}
}

// inside reports whether the vertex at m[mb.Level] lies in the set of lv, whose
// bounds are [lo, hi).
func (pr *program) inside(lv *level, mb *plan.Member, lo, hi uint32, m *[maxLevels]uint32) bool {
	v := m[mb.Level]
	if v < lo || v >= hi {
		return false
	}
	if mb.Ranges && !inRanges(lv.Ranges, v) || mb.Bits && lv.Bits[v>>6]>>(v&63)&1 == 0 {
		return false
	}
	for _, b := range mb.Back {
		if pr.adjacent(b, m[b.Level], v) == b.Neg {
			return false
		}
	}
	return true
}

// adjacent reports whether v is in the list that b reads at u, by the shorter
// of the two lists that can tell.
func (pr *program) adjacent(b plan.Back, u, v uint32) bool {
	a := &pr.p.Adjs[b.Adj]
	if pr.parts {
		return a.Lists.Has(u, v)
	}
	var there, back []uint32
	if x := pr.lists[b.Adj]; x.Dense != nil {
		there = x.Dense.List(u)
	} else if there = x.Sparse.List(u); len(there) == 0 {
		return false
	}
	if x := pr.lists[a.Rev]; x.Dense != nil {
		back = x.Dense.List(v)
	} else {
		back = x.Sparse.List(v)
	}
	if len(back) < len(there) {
		return setops.Contains(back, u)
	}
	return setops.Contains(there, v)
}

// bounds narrows [lo, hi) by the restrictions of lv and its label range.
func (lv *level) bounds(m *[maxLevels]uint32) (lo, hi uint32) {
	lo, hi = lv.one.First, lv.one.End
	for _, j := range lv.Below {
		hi = min(hi, m[j])
	}
	for _, j := range lv.Above {
		lo = max(lo, m[j]+1)
	}
	return lo, hi
}

// passes tests the conditions that the bounds and the set do not cover.
func (lv *level) passes(pr *program, v uint32, m *[maxLevels]uint32, e []uint64) bool {
	for _, j := range lv.Distinct {
		if m[j] == v {
			return false
		}
	}
	if lv.Bits != nil && lv.Bits[v>>6]>>(v&63)&1 == 0 {
		return false
	}
	if lv.many && !inRanges(lv.Ranges, v) {
		return false
	}
	if lv.loose && !pr.apart(lv, v, m) {
		return false
	}
	if lv.minDegree > 0 && pr.p.Adjs[lv.MinDegreeAdj].Lists.Degree(v) < lv.minDegree {
		return false
	}
	if len(lv.Checks) > 0 {
		m[lv.index(pr)] = v
		for i := range lv.Checks {
			if !lv.Checks[i].Eval(m[:], e) {
				return false
			}
		}
	}
	return true
}

// apart tests all backward neighbours of a level that has no set.
func (pr *program) apart(lv *level, v uint32, m *[maxLevels]uint32) bool {
	for _, b := range lv.Back {
		if pr.adjacent(b, m[b.Level], v) == b.Neg {
			return false
		}
	}
	return true
}

func (lv *level) index(pr *program) int { return pr.p.LevelOf[lv.Vertex] }

func inRanges(rs []plan.Range, v uint32) bool {
	for _, r := range rs {
		if v < r.First {
			return false
		}
		if v < r.End {
			return true
		}
	}
	return false
}

// roots lists the candidates of level 0. With few candidates, under a predicate or in sparse
// lists, it is an explicit list, so that chunks hold work.
func (pr *program) roots() rootList {
	lv := &pr.levels[0]
	rs := lv.Ranges
	if !lv.many {
		rs = []plan.Range{lv.one}
	}
	if s := pr.p.SparseRoots(); s != nil {
		r := rootList{list: make([]uint32, 0, s.Len())}
		for v := range s.Vertices {
			if inRanges(rs, v) && (lv.Bits == nil || lv.Bits[v>>6]>>(v&63)&1 != 0) {
				r.list = append(r.list, v)
			}
		}
		r.n = uint64(len(r.list))
		return r
	}
	var r rootList
	if len(pr.p.Adjs) > 0 {
		if parts := pr.p.Adjs[0].Lists.Parts; len(parts) > 0 {
			r.off = parts[0].Run.Off
		}
	}
	if lv.Bits == nil {
		for _, g := range rs {
			if g.End > g.First {
				r.ranges = append(r.ranges, rootRange{r.n, g.First, uint64(g.End - g.First)})
				r.n += uint64(g.End - g.First)
			}
		}
		return r
	}
	r.list = []uint32{}
	for _, g := range rs {
		for v := g.First; v < g.End; v++ {
			if w := lv.Bits[v>>6] >> (v & 63); w == 0 {
				v |= 63 // skip the rest of an empty word
			} else if w&1 != 0 {
				r.list = append(r.list, v)
			}
		}
	}
	r.n = uint64(len(r.list))
	return r
}

// maxLevels is the largest number of levels of a plan.
const maxLevels = 32
