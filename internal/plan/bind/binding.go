// Package bind resolves a pattern in a graph. Labels become ranges of ids, predicates become
// bitmaps or compiled conditions, and edge filters become neighbour lists. The result, a
// Binding, is the same for every matching order. Assemble writes the plan of one order, with
// both of its views (package sets adds the set program).
//
// The package also decides EXISTS: it binds and assembles the sub-pattern, and package checks
// searches it. It must not choose orders or methods.
package bind

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Binding is a pattern bound to a graph: names are ranges, bits, neighbour lists
// and closures. It is the same for every order.
type Binding struct {
	*tables
	Pattern *pattern.Pattern
	N       int

	Vertices []Vertex
	Adjs     []plan.Adjacency
	seenRels []*relation // of adjs; one that has a direction is seen from its source first
	Links    []Link
	Edges    []Edge
	Checks   []Check
	timing   *timing // nil: no ORDERED and no WITHIN
	Group    *pattern.Group
	elements [][]int // of the group of a small pattern, once asked for
	Restrict bool    // break symmetries
	extends  []int   // of the order of edge extension that is assembled: see AssembleTemporal
	Flip     bool    // … by least ids instead of greatest

	// near[v] are the vertices adjacent to v by a positive link, and far[v]
	// those by a negative one.
	Near, Far []uint32

	Reduction *plan.Reduction // nil: neither Filter nor Reduce was called
	reducer   *reducer        // of Filter

	Empty    *plan.EmptyReason
	warnings []string
	warned   map[string]bool // the warnings

	subs  map[*pattern.Pattern]subSearch // EXISTS, compiled once
	times *timeSource                    // made when first asked for
}

// Vertex holds the constraints on one vertex that involve no other.
type Vertex struct {
	Ranges       []plan.Range
	Bits         []uint64
	Count        int // how many vertices pass
	minDegree    int
	minDegreeAdj int
}

// Link says that m[v] is (not, if neg) in adjs[adj].List(m[u]).
type Link struct {
	U, V, Adj int
	Neg       bool
}

// Bind resolves p in g. Restrictions are broken, and the work is given up, as o says.
func Bind(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*Binding, error) {
	t := newTables(g)
	t.threads = o.Threads
	if o.Context != nil {
		t.ctx = o.Context
	}
	t.ended, t.of = o.Ended, o.Of
	b, err := bind(t, p)
	if b != nil {
		b.Restrict = p.Mode == pattern.Iso && !o.Embeddings && !o.NoRestrictions
	}
	return b, err
}

// bind resolves p in the graph of t.
func bind(t *tables, p *pattern.Pattern) (*Binding, error) {
	if t.ended() {
		return nil, plan.ErrEnded
	}
	b := &Binding{
		tables: t, Pattern: p, N: len(p.Vertices),
		Vertices: make([]Vertex, len(p.Vertices)),
		Links:    make([]Link, 0, len(p.Edges)),
		Group:    p.Automorphisms(),
	}
	sides := make([]uint32, 2*b.N)
	b.Near, b.Far = sides[:b.N], sides[b.N:]
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
	for v := range b.Vertices {
		b.countCandidates(v)
	}
	b.minDegrees()
	return b, nil
}

// nothing records the first reason why no embedding can exist.
func (b *Binding) nothing(text string) {
	if b.Empty == nil {
		b.Empty = &plan.EmptyReason{Text: text}
	}
}

// warn records a warning once.
func (b *Binding) warn(text string) {
	if b.warned[text] {
		return
	}
	if b.warned == nil {
		b.warned = map[string]bool{}
	}
	b.warned[text] = true
	b.warnings = append(b.warnings, text)
}

// warnOfArrows warns of a pattern with directions where the graph has none by a guess.
func (b *Binding) warnOfArrows() {
	if b.Graph.Read.DirectionGuessed && slices.ContainsFunc(b.Pattern.Edges, func(e pattern.Edge) bool { return e.Dir != pattern.Either }) {
		b.warn(plan.ArrowsGuessed)
	}
}

// addLink adds a link unless there is one like it, seen from either end. A link that
// asks for a list which another excludes leaves nothing to be found.
func (b *Binding) addLink(l Link) {
	side, other := b.Near, b.Far
	if l.Neg {
		side, other = other, side
	}
	if side[l.U]>>l.V&1 != 0 && b.hasLink(l) {
		return
	}
	if opposite := (Link{l.U, l.V, l.Adj, !l.Neg}); other[l.U]>>l.V&1 != 0 && b.hasLink(opposite) {
		b.nothing(fmt.Sprintf("the pattern asks for an edge between %s and %s, and excludes all that there can be with NOT", b.Pattern.VertexName(l.U), b.Pattern.VertexName(l.V)))
	}
	b.Links = append(b.Links, l)
	side[l.U] |= 1 << l.V
	side[l.V] |= 1 << l.U
}

// hasLink reports whether there is a link like l, seen from either end.
func (b *Binding) hasLink(l Link) bool {
	return slices.Contains(b.Links, l) || slices.Contains(b.Links, Link{l.V, l.U, b.Adjs[l.Adj].Rev, l.Neg})
}

// seen returns l as the neighbour list of its end u, in which v is.
func (b *Binding) seen(l Link, from int) (adj int) {
	if l.U == from {
		return l.Adj
	}
	return b.Adjs[l.Adj].Rev
}

// minDegrees derives the least degree of each vertex: under iso, distinct
// neighbours in the pattern are distinct in the graph.
func (b *Binding) minDegrees() {
	if b.Pattern.Mode != pattern.Iso {
		return
	}
	lists := len(b.Adjs)
	need := make([]uint32, lists*b.N) // neighbours in the pattern, by vertex and list
	for i := range b.Links {
		if l := &b.Links[i]; !l.Neg {
			need[l.U*lists+l.Adj] |= 1 << l.V
			need[l.V*lists+b.Adjs[l.Adj].Rev] |= 1 << l.U
		}
	}
	for v := range b.Vertices {
		bv := &b.Vertices[v]
		for adj, others := range need[v*lists : (v+1)*lists] {
			if k := bits.OnesCount32(others); k > bv.minDegree {
				bv.minDegree, bv.minDegreeAdj = k, adj
			}
		}
	}
}

// dropRanges says by bitmaps which vertices labels and ids allow, where some relation
// of the pattern does not keep the vertices of a label together.
func (b *Binding) dropRanges() {
	if !slices.ContainsFunc(b.Adjs, func(a plan.Adjacency) bool { return !a.Lists.LabelRanges }) {
		return
	}
	for v := range b.Vertices {
		bv := &b.Vertices[v]
		if len(bv.Ranges) == 0 {
			continue
		}
		if bv.Bits == nil { // else they are within the ranges
			key := fmt.Sprint(bv.Ranges)
			if b.bits == nil {
				b.bits = map[string][]uint64{}
			}
			if b.bits[key] == nil {
				all := func(uint32) bool { return true }
				b.bits[key] = fillBits(b.Graph.NumVertices(), bv.Ranges, b.ended, func() func(uint32) bool { return all })
			}
			bv.Bits = b.bits[key]
		}
		bv.Ranges = nil
	}
}

// countCandidates counts the vertices that pass v's own conditions.
func (b *Binding) countCandidates(v int) {
	bv := &b.Vertices[v]
	ranges := bv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(b.Graph.NumVertices())}}
	}
	bv.Count = 0
	for _, r := range ranges {
		if bv.Bits == nil {
			bv.Count += int(r.End - r.First)
		} else {
			bv.Count += r.Count(bv.Bits)
		}
	}
	if bv.Count == 0 && bv.Bits != nil {
		b.nothing("no vertex passes the conditions on " + b.Pattern.VertexName(v))
	}
	if bv.Count == 0 {
		b.nothing("the graph has no vertices")
	}
}

// addBacks fills the levels' backward neighbours, by level, positive first.
func (b *Binding) addBacks(pl *plan.Plan) {
	count := make([]int, len(pl.Levels))
	for _, l := range b.Links {
		count[max(pl.LevelOf[l.U], pl.LevelOf[l.V])]++
	}
	backs := make([]plan.Back, len(b.Links))
	for l, n := range count {
		pl.Levels[l].Back, backs = backs[:0:n], backs[n:]
	}
	for _, l := range b.Links {
		early, late := l.U, l.V
		if pl.LevelOf[early] > pl.LevelOf[late] {
			early, late = late, early
		}
		lv := &pl.Levels[pl.LevelOf[late]]
		x := plan.Back{Level: pl.LevelOf[early], Adj: b.seen(l, early), Neg: l.Neg}
		lv.Back = append(lv.Back, x)
		i := len(lv.Back) - 1
		for ; i > 0 && before(x, lv.Back[i-1]); i-- {
			lv.Back[i] = lv.Back[i-1]
		}
		lv.Back[i] = x
	}
}

// before is the order of a level's backward neighbours.
func before(x, y plan.Back) bool {
	switch {
	case x.Level != y.Level:
		return x.Level < y.Level
	case x.Neg != y.Neg:
		return y.Neg
	}
	return x.Adj < y.Adj
}

// tables holds filtered relations and row sets. All patterns bound to the same graph share
// them, including the sub-patterns of EXISTS, so each is computed once.
type tables struct {
	ctx     context.Context // of planning
	threads int             // that filter edges; 0: all cores
	Graph   *graph.Graph
	rows    kept[rowSet]
	rels    kept[relation]
	bits    map[string][]uint64
	// ended: nothing that is made here is wanted any more.
	ended func() bool

	shared *plan.Shared

	of      *plan.Whole // the graph of which Graph is a part; nil: it is not one
	wholeOf *tables     // of that graph, made when first asked for
}

// whole are the tables of the graph of which this one is a part.
func (t *tables) whole() *tables {
	if t.wholeOf == nil {
		t.wholeOf = newTables(t.of.Graph)
		t.wholeOf.ctx, t.wholeOf.threads, t.wholeOf.ended = t.ctx, t.threads, t.ended
	}
	return t.wholeOf
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
		Graph: g, shared: &plan.Shared{Columns: expr.Columns{Graph: g}, Exists: map[*pattern.Pattern]*plan.SubPlan{}}, ended: func() bool { return false },
		ctx: context.Background(),
	}
}
