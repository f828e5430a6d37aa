package irgen

import (
	"math"
	"unsafe"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// graph is an input graph as a global.
func (l *lowerer) graph(name string) *kir.GlobalDef {
	g, ok := l.graphs[name]
	if !ok {
		in := l.in.Input(name)
		lists := in.Lists()
		g = l.prog.AddGlobal(&kir.GlobalDef{Name: name, Kind: kir.Adj, Off: lists.Off, Adj: lists.Adj, Of: kir.Identity{ID: in.Graph.ArrayID(unsafe.Pointer(&lists.Off[0]))}})
		l.graphs[name] = g
	}
	return g
}

// ordered reports whether a node is computed from something done in order.
func (l *lowerer) ordered(n *asg.Node, seen map[*asg.Node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	if n.Op.Step() || n.Effects {
		return true
	}
	for _, a := range n.Args {
		if l.ordered(a, seen) {
			return true
		}
	}
	for _, f := range []*asg.Func{n.Cond, n.Func} {
		if f == nil {
			continue
		}
		if len(f.Steps) > 0 || f.Result != nil && l.ordered(f.Result, seen) {
			return true
		}
	}
	return false
}

// graphNode writes the operators that look at a graph.
func (l *lowerer) graphNode(n *asg.Node) *value {
	name, g := n.Args[0].Type.Facts.Input, l.list(n.Args[0])
	if v := l.labelNode(n, name); v != nil {
		return v
	}
	if m := g.made; m != nil && (g.adj == nil || n.Op == asg.Vertices || n.Op == asg.VertexLabel || n.Op == asg.Labelled) {
		return l.madeNode(n, m)
	}
	adj := g.adj
	vertices := l.vertices(adj)
	switch n.Op {
	case asg.Vertices:
		return &value{span: &[2]kir.Expr{i64(0), asInt(vertices)}}
	case asg.Edges:
		if adj.Sparse != nil {
			return l.sparseEdges(adj, l.in.Subgraph(n.Args[0]).Sparse)
		}
		return &value{each: func(body func([]kir.Expr)) {
			if l.takeOuter() {
				i := &kir.Var{Name: "i", T: kir.T(kir.U64)}
				ends := func() {
					u := l.let("u", kir.Fn(kir.EdgeSource, kir.G(adj), vertices, kir.R(i)))
					body([]kir.Expr{asInt(u), asInt(l.let("v", kir.Fn(kir.EdgeTarget, kir.G(adj), kir.R(i))))})
				}
				l.loop(&kir.Loop{I: i, Lo: kir.C64(kir.U64, 0), Hi: l.arcs(adj), Body: l.block(ends)}, true)
				return
			}
			u := &kir.Var{Name: "u", T: kir.T(kir.U32)}
			l.do(&kir.Loop{I: u, Lo: kir.C(0), Hi: vertices, Body: l.block(func() {
				list := &value{set: l.let("", kir.Fn(kir.List, kir.G(adj), kir.R(u)))}
				l.over(list, func(v []kir.Expr) { body([]kir.Expr{asInt(kir.R(u)), v[0]}) })
			})})
		}}
	}
	v := l.scalar(n.Args[1])
	if adj.Vertices() == 0 {
		return &value{span: &[2]kir.Expr{i64(0), i64(0)}}
	}
	if of := n.Args[1].Type.Vertex; of != "" && l.in.Size(types.Sym{Of: types.Vertices, Input: of}) <= int64(adj.Vertices()) {
		return &value{set: l.let(n.Given, kir.Fn(kir.List, kir.G(adj), asID(v)))}
	}
	// A number that may not be a vertex: then it has no neighbours.
	is := l.let("", kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(vertices))))
	list := kir.Fn(kir.List, kir.G(adj), kir.Select{If: is, Then: asID(v), Else: kir.C(0)})
	end := kir.Select{If: is, Then: kir.C(math.MaxUint32), Else: kir.C(0)}
	return &value{set: l.let(n.Given, kir.Fn(kir.Slice, list, kir.C(0), end))}
}

// labelNode writes the operators that look at labels of an input graph; nil for others.
func (l *lowerer) labelNode(n *asg.Node, input string) *value {
	switch {
	case n.Op == asg.LabelNumber:
		return &value{xs: []kir.Expr{l.wideOf(n, "label "+n.Name, int64(l.in.LabelNumber(input, n.Name)))}}
	case n.Op == asg.LabelFirst || n.Op == asg.LabelEnd:
		return &value{xs: []kir.Expr{l.let("", l.labelEnd(input, n.Args[1], n.Op == asg.LabelEnd))}}
	case n.Op == asg.VertexLabel && input != "" && l.uses[n].ranges > 0 && l.uses[n].ranges == l.uses[n].reads:
		return &value{} // nothing asks for the label itself
	case n.Op == asg.VertexLabel && input != "":
		return &value{xs: []kir.Expr{l.let("", l.label(input, l.scalar(n.Args[1])))}}
	}
	return nil
}

// infoGraph is an input graph with a property of its edges, or a subgraph of one:
// arrays over its vertices.
func (l *lowerer) infoGraph(n *asg.Node, name string, e *data.EdgeInfo) *made {
	if len(e.Info) >= math.MaxUint32/2 {
		l.notYet(n, "a graph of 2^31 edges with a property")
	}
	vertices := int64(e.Lists.NumVertices())
	begin := make([]uint32, vertices+2) // the last list is for numbers that are not vertices
	for v, at := range e.Lists.Off {
		begin[v] = uint32(at)
	}
	begin[vertices+1] = uint32(len(e.Info))
	m := &made{
		find: l.byOffsets(name, begin, vertices),
		vertices: func(*asg.Node) *value {
			return &value{span: &[2]kir.Expr{i64(0), asInt(l.numberOf(e, "vertices of "+name, uint32(vertices)))}}
		},
	}
	m.info, m.below = l.information(name, n.Type.Facts.Info, e.Info)
	if l.reads(n, asg.Joining) {
		ends := make([]types.Word, len(e.Lists.Adj))
		for i, v := range e.Lists.Adj {
			ends[i] = types.Word(v)
		}
		m.byEnds = l.sortByEnds(name, n.Type.Facts.Info, e.Lists.Off, ends, e.Info)
	}
	to := l.ids(name+" to", e.Lists.Adj)
	second := func(i kir.Expr) kir.Expr { return asInt(kir.Elem{X: kir.G(to), I: i}) }
	m.to = &rows{n: l.number("items of "+name, uint32(len(e.Info))), width: 1, at: func(i kir.Expr, _ int) kir.Expr { return second(i) }}
	if l.reads(n, asg.Edges) {
		first := make([]uint32, 0, len(e.Info))
		for v := range uint32(vertices) {
			for range e.Lists.Degree(v) {
				first = append(first, v)
			}
		}
		from := l.ids(name+" from", first)
		m.edges = &rows{n: m.to.n, width: 2, at: func(i kir.Expr, j int) kir.Expr {
			if j == 0 {
				return asInt(kir.Elem{X: kir.G(from), I: i})
			}
			return second(i)
		}}
	}
	return m
}
