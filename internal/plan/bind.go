package plan

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// binding is a pattern bound to a graph: names are ranges, bits, neighbour lists
// and closures. It is the same for every order.
type binding struct {
	*tables
	p *pattern.Pattern
	n int

	vertices []boundVertex
	adjs     []Adjacency
	seenRels []*relation // of adjs; one that has a direction is seen from its source first
	links    []link
	edges    []boundEdge
	checks   []boundCheck
	timing   *timing // nil: no ORDERED and no WITHIN
	group    *pattern.Group
	elements [][]int // of the group of a small pattern, once asked for
	restrict bool    // break symmetries
	extends  []int   // of the order of edge extension that is assembled: see timeOrder
	flip     bool    // … by least ids instead of greatest

	// near[v] are the vertices adjacent to v by a positive link, and far[v]
	// those by a negative one.
	near, far []uint32

	empty    *EmptyReason
	warnings []string
	warned   map[string]bool // the warnings

	subs  map[*pattern.Pattern]func([]uint32) bool // EXISTS, compiled once
	stats *costStats                               // made when first asked for
}

// boundVertex is what one vertex must satisfy by itself.
type boundVertex struct {
	ranges       []Range
	bits         []uint64
	count        int // how many vertices pass
	minDegree    int
	minDegreeAdj int
}

// link says that m[v] is (not, if neg) in adjs[adj].List(m[u]).
type link struct {
	u, v, adj int
	neg       bool
}

// errEnded says that planning was given up: the caller knows why.
var errEnded = errors.New("planning has ended")

// bind resolves p in the graph of t.
func bind(t *tables, p *pattern.Pattern) (*binding, error) {
	if t.ended() {
		return nil, errEnded
	}
	b := &binding{
		tables: t, p: p, n: len(p.Vertices),
		vertices: make([]boundVertex, len(p.Vertices)),
		links:    make([]link, 0, len(p.Edges)),
		group:    p.Automorphisms(),
	}
	sides := make([]uint32, 2*b.n)
	b.near, b.far = sides[:b.n], sides[b.n:]
	b.bindLabels()
	b.namesOfLabels()
	b.warnOfArrows()
	wheres, err := b.splitPredicates()
	if err != nil {
		return nil, err
	}
	if err := b.bindEdges(wheres); err != nil {
		return nil, err
	}
	if p.Induced {
		b.bindInduced(wheres)
	}
	if err := b.bindOrder(); err != nil {
		return nil, err
	}
	if err := b.bindPredicates(wheres); err != nil {
		return nil, err
	}
	b.dropRanges()
	for v := range b.vertices {
		b.countCandidates(v)
	}
	b.minDegrees()
	return b, nil
}

// nothing records the first reason why no embedding can exist.
func (b *binding) nothing(text string) {
	if b.empty == nil {
		b.empty = &EmptyReason{text}
	}
}

// warn records a warning once.
func (b *binding) warn(text string) {
	if b.warned[text] {
		return
	}
	if b.warned == nil {
		b.warned = map[string]bool{}
	}
	b.warned[text] = true
	b.warnings = append(b.warnings, text)
}

// ArrowsGuessed is the warning about arrows where the direction of edges is a guess.
const ArrowsGuessed = "the pattern has arrows, and the graph is read as undirected unless --directed is given: an arrow matches an edge both ways (--directed=false says that this is right)"

// warnOfArrows warns of a pattern with directions where the graph has none by a guess.
func (b *binding) warnOfArrows() {
	if b.g.Read.DirectionGuessed && slices.ContainsFunc(b.p.Edges, func(e pattern.Edge) bool { return e.Dir != pattern.Either }) {
		b.warn(ArrowsGuessed)
	}
}

// addLink adds a link unless there is one like it, seen from either end. A link that
// asks for a list which another excludes leaves nothing to be found.
func (b *binding) addLink(l link) {
	side, other := b.near, b.far
	if l.neg {
		side, other = other, side
	}
	if side[l.u]>>l.v&1 != 0 && b.hasLink(l) {
		return
	}
	if opposite := (link{l.u, l.v, l.adj, !l.neg}); other[l.u]>>l.v&1 != 0 && b.hasLink(opposite) {
		b.nothing(fmt.Sprintf("the pattern asks for an edge between %s and %s, and excludes all that there can be with NOT", b.p.VertexName(l.u), b.p.VertexName(l.v)))
	}
	b.links = append(b.links, l)
	side[l.u] |= 1 << l.v
	side[l.v] |= 1 << l.u
}

// hasLink reports whether there is a link like l, seen from either end.
func (b *binding) hasLink(l link) bool {
	return slices.Contains(b.links, l) || slices.Contains(b.links, link{l.v, l.u, b.adjs[l.adj].Rev, l.neg})
}

// seen returns l as the neighbour list of its end u, in which v is.
func (b *binding) seen(l link, from int) (adj int) {
	if l.u == from {
		return l.adj
	}
	return b.adjs[l.adj].Rev
}

// minDegrees derives the least degree of each vertex: under iso, distinct
// neighbours in the pattern are distinct in the graph.
func (b *binding) minDegrees() {
	if b.p.Mode != pattern.Iso {
		return
	}
	lists := len(b.adjs)
	need := make([]uint32, lists*b.n) // neighbours in the pattern, by vertex and list
	for i := range b.links {
		if l := &b.links[i]; !l.neg {
			need[l.u*lists+l.adj] |= 1 << l.v
			need[l.v*lists+b.adjs[l.adj].Rev] |= 1 << l.u
		}
	}
	for v := range b.vertices {
		bv := &b.vertices[v]
		for adj, others := range need[v*lists : (v+1)*lists] {
			if k := bits.OnesCount32(others); k > bv.minDegree {
				bv.minDegree, bv.minDegreeAdj = k, adj
			}
		}
	}
}

// dropRanges says by bitmaps which vertices labels and ids allow, where some relation
// of the pattern does not keep the vertices of a label together.
func (b *binding) dropRanges() {
	if !slices.ContainsFunc(b.adjs, func(a Adjacency) bool { return !a.Lists.LabelRanges }) {
		return
	}
	for v := range b.vertices {
		bv := &b.vertices[v]
		if len(bv.ranges) == 0 {
			continue
		}
		if bv.bits == nil { // else they are within the ranges
			key := fmt.Sprint(bv.ranges)
			if b.bits == nil {
				b.bits = map[string][]uint64{}
			}
			if b.bits[key] == nil {
				all := func(uint32) bool { return true }
				b.bits[key] = fillBits(b.g.NumVertices(), bv.ranges, b.ended, func() func(uint32) bool { return all })
			}
			bv.bits = b.bits[key]
		}
		bv.ranges = nil
	}
}

// countCandidates counts the vertices that pass v's own conditions.
func (b *binding) countCandidates(v int) {
	bv := &b.vertices[v]
	ranges := bv.ranges
	if ranges == nil {
		ranges = []Range{{0, uint32(b.g.NumVertices())}}
	}
	bv.count = 0
	for _, r := range ranges {
		if bv.bits == nil {
			bv.count += int(r.End - r.First)
		} else {
			bv.count += countBits(bv.bits, r)
		}
	}
	if bv.count == 0 && bv.bits != nil {
		b.nothing("no vertex passes the conditions on " + b.p.VertexName(v))
	}
	if bv.count == 0 {
		b.nothing("the graph has no vertices")
	}
}

// countBits counts the bits set in r.
func countBits(set []uint64, r Range) (n int) {
	for w := r.First / 64; w < (r.End+63)/64; w++ {
		x := set[w]
		if w == r.First/64 {
			x &= ^uint64(0) << (r.First % 64)
		}
		if w == r.End/64 {
			x &= 1<<(r.End%64) - 1
		}
		n += bits.OnesCount64(x)
	}
	return n
}

// addBacks fills the levels' backward neighbours, by level, positive first.
func (b *binding) addBacks(pl *Plan) {
	count := make([]int, len(pl.Levels))
	for _, l := range b.links {
		count[max(pl.LevelOf[l.u], pl.LevelOf[l.v])]++
	}
	backs := make([]Back, len(b.links))
	for l, n := range count {
		pl.Levels[l].Back, backs = backs[:0:n], backs[n:]
	}
	for _, l := range b.links {
		early, late := l.u, l.v
		if pl.LevelOf[early] > pl.LevelOf[late] {
			early, late = late, early
		}
		lv := &pl.Levels[pl.LevelOf[late]]
		x := Back{Level: pl.LevelOf[early], Adj: b.seen(l, early), Neg: l.neg}
		lv.Back = append(lv.Back, x)
		i := len(lv.Back) - 1
		for ; i > 0 && x.before(lv.Back[i-1]); i-- {
			lv.Back[i] = lv.Back[i-1]
		}
		lv.Back[i] = x
	}
}

// before is the order of a level's backward neighbours.
func (x Back) before(y Back) bool {
	switch {
	case x.Level != y.Level:
		return x.Level < y.Level
	case x.Neg != y.Neg:
		return y.Neg
	}
	return x.Adj < y.Adj
}

// tables is what patterns bound to the same graph share: filtered relations and
// row sets are computed once, also for the sub-patterns of EXISTS.
type tables struct {
	g    *graph.Graph
	rows kept[rowSet]
	rels kept[relation]
	bits map[string][]uint64
	// ended: nothing that is made here is wanted any more.
	ended func() bool

	columns *columns
}

// columns is what a plan keeps for engines that evaluate conditions themselves.
type columns struct {
	expr.Columns
	exists map[*pattern.Pattern]*SubPlan

	mu       sync.Mutex
	parallel int // see MostParallel; 0: not looked for
}

// kept is values by their keys: as few as the pattern has kinds of edges.
type kept[T any] []struct {
	key   string
	value *T
}

// get returns the value of a key, or nil.
func (k kept[T]) get(key string) *T {
	for i := range k {
		if k[i].key == key {
			return k[i].value
		}
	}
	return nil
}

func (k *kept[T]) put(key string, value *T) {
	*k = append(*k, struct {
		key   string
		value *T
	}{key, value})
}

func newTables(g *graph.Graph) *tables {
	return &tables{
		g: g, columns: &columns{Columns: expr.Columns{Graph: g}}, ended: func() bool { return false },
	}
}
