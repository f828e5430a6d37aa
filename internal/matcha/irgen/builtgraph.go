package irgen

import (
	"fmt"
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// made is a graph that the program makes. Its edges are in the order of their first ends, then of
// their information, then of their second ends.
type made struct {
	find     func(v kir.Expr) (begin, end kir.Expr) // the places of a vertex's edges, u32
	to, info *rows
	// below is how many of size edges from begin on have an information less than x, an Int.
	below    func(begin, size, x kir.Expr) kir.Expr
	byEnds   *byEnds  // nil: nothing asks for the edges between two vertices
	ids      kir.Expr // an array of the second ends, where they are ascending ids; or nil
	edges    *rows
	vertices func(n *asg.Node) *value
	label    func(v kir.Expr) kir.Expr
	byLabel  *byLabel  // nil: neighbours are not kept by labels
	relation *relation // nil: it is another graph
}

// makeGraph makes a graph. One that the program makes once, from its inputs, is
// made now.
func (l *lowerer) makeGraph(n *asg.Node) *value {
	if n.Home != l.p.Main || l.ordered(n, map[*asg.Node]bool{}) {
		return &value{made: l.runGraph(n)}
	}
	if g := l.oriented(n); g != nil {
		return &value{adj: g}
	}
	if m := l.relation(n); m != nil {
		return &value{made: m}
	}
	if m := l.bucketGraph(n); m != nil {
		return &value{made: m}
	}
	g, err := interp.Make(l.ctx, l.p, l.in, n)
	if err != nil {
		panic(failure{err})
	}
	if len(g.From) >= math.MaxUint32/2 {
		l.notYet(n, "a graph of 2^31 edges")
	}
	name := name(n)
	ids := int64(-1)
	if f := n.Type.Facts; f.IDs != nil && l.in.Most(f.IDs) < math.MaxUint32 {
		ids = l.in.Most(f.IDs)
	}
	m := &made{vertices: func(at *asg.Node) *value { return l.listed(name+" vertices", at.Type.Elem, vertices(g)) }}
	v := &value{made: m}
	outside := func(x types.Word) bool { return x < 0 || int64(x) >= ids }
	if slices.ContainsFunc(g.From, outside) {
		ids = -1
	}
	slots := map[types.Word]slot{}
	switch {
	case ids >= 0 && g.Info == nil && !slices.ContainsFunc(g.To, noID):
		v.adj = l.prog.AddGlobal(&kir.GlobalDef{Name: name, Kind: kir.Adj, Off: offsets[uint64](g.From, ids), Adj: narrow(g.To)})
		l.graphLabels(m, name, g, ids, nil)
		if l.reads(n, asg.Labelled) {
			m.find = l.dense(name, g, ids)
			m.byLabel = l.sortByLabel(name, g)
		}
		return v
	case ids >= 0:
		m.find = l.dense(name, g, ids)
	default:
		for i, u := range g.From {
			s, ok := slots[u]
			if !ok {
				s = slot{begin: uint32(i), label: 1}
			}
			s.end = uint32(i + 1)
			slots[u] = s
		}
	}
	if g.Info == nil && !slices.ContainsFunc(g.To, noID) {
		m.ids = kir.G(l.ids(name, narrow(g.To)))
	} else {
		m.to = l.column(name, types.TInt, g.To)
	}
	if g.Info != nil {
		m.info, m.below = l.information(name, n.Type.Facts.Info, g.Info)
		if l.reads(n, asg.Joining) {
			m.byEnds = l.sortByEnds(name, n.Type.Facts.Info, runs(g.From), g.To, g.Info)
		}
	}
	l.graphLabels(m, name, g, ids, slots)
	if l.reads(n, asg.Labelled) {
		m.byLabel = l.sortByLabel(name, g)
	}
	pairs := make([]types.Word, 0, 2*len(g.From))
	for i := range g.From {
		pairs = append(pairs, g.From[i], g.To[i])
	}
	if l.reads(n, asg.Edges) {
		m.edges = l.column(name+" edges", types.TupleOf(types.TInt, types.TInt), pairs)
	}
	return v
}

// information is the information on a graph's edges, and below of made.
func (l *lowerer) information(name string, t *types.Type, words []types.Word) (*rows, func(begin, size, x kir.Expr) kir.Expr) {
	info := l.column(name+" info", t, words)
	return info, l.belowIn(info)
}

// belowIn is a function for how many of size items from begin on, which do not descend, are less
// than x.
func (l *lowerer) belowIn(column *rows) func(begin, size, x kir.Expr) kir.Expr {
	return func(begin, size, x kir.Expr) kir.Expr {
		f := l.support(fmt.Sprintf("below%d", column.column.Index), func() *kir.Func {
			from := local("from", kir.U32)
			return search([]*kir.Var{from}, kir.I64, func(i kir.Expr) kir.Expr { return column.at(plus(kir.R(from), i), 0) })
		})
		return invoke(f, begin, size, x)
	}
}

// dense is find for a graph whose vertices are ids.
func (l *lowerer) dense(name string, g interp.Made, ids int64) func(v kir.Expr) (kir.Expr, kir.Expr) {
	return l.byOffsets(name, append(offsets[uint32](g.From, ids), uint32(len(g.From))), ids)
}

// byOffsets is find for a graph whose edges of vertex v are at offsets[v] … offsets[v+1]-1. A
// number that is not a vertex has its edges at offsets[ids].
func (l *lowerer) byOffsets(name string, offsets []uint32, ids int64) func(v kir.Expr) (kir.Expr, kir.Expr) {
	begin, vertices := l.ids(name+" begin", offsets), l.number("vertices of "+name, uint32(ids))
	return func(v kir.Expr) (kir.Expr, kir.Expr) {
		is := l.let("", kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(vertices))))
		at := l.let("", kir.Select{If: is, Then: asID(v), Else: vertices})
		return l.let("begin", kir.Elem{X: kir.G(begin), I: at}), l.let("end", kir.Elem{X: kir.G(begin), I: plus(at, kir.C(1))})
	}
}

// graphLabels gives a graph its labels: an array over its ids, or the slots of its
// hash index, which is made here where slots are needed.
func (l *lowerer) graphLabels(m *made, name string, g interp.Made, ids int64, slots map[types.Word]slot) {
	var labels []types.Word
	dense := ids >= 0
	for v := range g.Labels {
		dense = dense && v >= 0 && int64(v) < ids
	}
	if dense && g.Labels != nil {
		labels = slices.Repeat([]types.Word{types.Word(-1)}, int(ids))
		for v, label := range g.Labels {
			labels[v] = label
		}
		column, vertices := l.column(name+" labels", types.TInt, append(labels, -1)), l.number("vertices of "+name, uint32(ids))
		m.label = func(v kir.Expr) kir.Expr {
			is := kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(vertices)))
			return column.at(kir.Select{If: is, Then: asID(v), Else: vertices}, 0)
		}
		return
	}
	if ids >= 0 && g.Labels == nil {
		return
	}
	if slots == nil {
		slots = map[types.Word]slot{}
	}
	for _, v := range sortedKeys(g.Labels) {
		s := slots[v]
		s.label = uint32(len(labels) + 2)
		slots[v] = s
		labels = append(labels, g.Labels[v])
	}
	h := l.hashIndex(name, slots)
	if ids < 0 {
		m.find = func(v kir.Expr) (kir.Expr, kir.Expr) { return h.edges(l, v) }
	}
	if g.Labels != nil {
		column := l.column(name+" labels", types.TInt, labels)
		m.label = func(v kir.Expr) kir.Expr { return h.label(l, column, v) }
	}
}

func sortedKeys(m map[types.Word]types.Word) (out []types.Word) {
	for v := range m {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// reads reports whether the program has an operator on a graph.
func (l *lowerer) reads(graph *asg.Node, op asg.Op) (yes bool) {
	asg.Walk(l.p, func(n *asg.Node) { yes = yes || n.Op == op && n.Args[0] == graph })
	return yes
}

func noID(x types.Word) bool { return x < 0 || x >= math.MaxUint32 }

func narrow(x []types.Word) []uint32 {
	out := make([]uint32, len(x))
	for i, v := range x {
		out[i] = uint32(v)
	}
	return out
}

// offsets are where the edges of each of n vertices begin, and the end of the last.
func offsets[T uint32 | uint64](from []types.Word, n int64) []T {
	off := make([]T, n+1)
	for _, v := range from {
		off[v+1]++
	}
	for v := range n {
		off[v+1] += off[v]
	}
	return off
}

// vertices are the ends of a graph's edges, ascending.
func vertices(g interp.Made) []types.Word {
	all := slices.Concat(g.From, g.To)
	slices.Sort(all)
	return slices.Compact(all)
}

// listed is an ascending list that is there before the program runs.
func (l *lowerer) listed(name string, t *types.Type, items []types.Word) *value {
	if slices.ContainsFunc(items, noID) {
		return &value{rows: l.column(name, t, items)}
	}
	return &value{set: l.let("", kir.Fn(kir.Part, kir.G(l.ids(name, narrow(items))), kir.C(0), l.number("items of "+name, uint32(len(items)))))}
}

// madeNode writes the operators that look at such a graph.
func (l *lowerer) madeNode(n *asg.Node, m *made) *value {
	switch n.Op {
	case asg.Vertices:
		return m.vertices(n)
	case asg.Edges:
		if m.relation != nil {
			return l.relationEdges(m.relation)
		}
		return &value{rows: m.edges}
	case asg.VertexLabel:
		return &value{xs: []kir.Expr{l.let(n.Given, m.label(l.let("", l.scalar(n.Args[1]))))}}
	}
	switch n.Op {
	case asg.Labelled:
		return l.labelledNode(n, m)
	case asg.Joining:
		return l.joining(n, m)
	}
	begin, end := m.find(l.let("", l.scalar(n.Args[1])))
	return l.neighbours(n, m, begin, end)
}

// neighbours are the neighbours at places, or the values of the edges to them.
func (l *lowerer) neighbours(n *asg.Node, m *made, begin, end kir.Expr) *value {
	size := l.let("", kir.Op2(kir.Sub, end, begin))
	if n.Op != asg.EdgeInfo && m.ids != nil {
		return &value{set: l.let(n.Given, kir.Fn(kir.Part, m.ids, begin, size))}
	}
	from := m.to
	if n.Op == asg.EdgeInfo {
		from = m.info
	}
	list := &rows{n: size, width: 1, at: func(i kir.Expr, j int) kir.Expr { return from.at(plus(begin, i), j) }}
	if n.Op == asg.EdgeInfo {
		list.below = func(x kir.Expr) kir.Expr { return m.below(begin, size, x) }
	}
	return &value{rows: list}
}
