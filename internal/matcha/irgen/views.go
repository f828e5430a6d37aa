package irgen

import (
	"fmt"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
)

// view is the selection of a text of the pattern language in an input graph: lists, or one
// list, that exist before the program runs.
func (l *lowerer) view(n *asg.Node) *value {
	key := n.Op.String() + " of " + asg.ViewKey(n.Args[0].Name, n.Name)
	if e := l.in.EdgeInfo(n); e != nil {
		return &value{made: l.infoGraph(n, key, e)}
	}
	g, ok := l.graphs[key]
	if !ok {
		g = &kir.GlobalDef{Name: key, Kind: kir.Adj}
		if n.Op == asg.Subgraph {
			setLists(g, l.in.Subgraph(n))
		} else {
			g.Adj = l.in.Matching(n)
			g.Off = []uint64{0, uint64(len(g.Adj))}
		}
		l.graphs[key] = l.prog.AddGlobal(g)
	}
	if n.Op == asg.Subgraph {
		return &value{adj: g}
	}
	return &value{set: l.let(n.Given, kir.Fn(kir.List, kir.G(g), kir.C(0)))}
}

// setLists gives a global lists as they are.
func setLists(g *kir.GlobalDef, lists graph.Lists) {
	if lists.Dense != nil {
		g.Off, g.Adj = lists.Dense.Off, lists.Dense.Adj
		return
	}
	x := lists.Sparse.Index()
	g.Adj, g.Sparse = x.Adj, &kir.Sparse{Vertices: lists.NumVertices(), Levels: x.Levels, Words: x.Words, Off: x.Off}
}

// sparseEdges are the edges of a graph with sparse lists, by their first ends, which are an array.
func (l *lowerer) sparseEdges(adj *kir.GlobalDef, lists *graph.Sparse) *value {
	key := adj.Name + " from"
	from, ok := l.graphs[key]
	if !ok {
		first := make([]uint32, 0, len(adj.Adj))
		for v := range lists.Vertices {
			for range lists.Degree(v) {
				first = append(first, v)
			}
		}
		from = l.ids(key, first)
		l.graphs[key] = from
	}
	return &value{each: func(body func([]kir.Expr)) {
		outer := l.takeOuter()
		i := &kir.Var{Name: "i", T: kir.T(kir.U64)}
		l.loop(&kir.Loop{I: i, Lo: kir.C64(kir.U64, 0), Hi: l.arcs(adj), Body: l.block(func() {
			u := l.let("u", kir.Elem{X: kir.G(from), I: kir.Convert{T: kir.T(kir.U32), X: kir.R(i)}})
			body([]kir.Expr{asInt(u), asInt(l.let("v", kir.Fn(kir.EdgeTarget, kir.G(adj), kir.R(i))))})
		})}, outer)
	}}
}

// between is the data edges from one vertex to another: consecutive numbers where all
// of them are accepted, else in the loops that go over them.
func (l *lowerer) between(n *asg.Node) *value {
	d := l.in.Between(n)
	if d.Most == 0 {
		return &value{}
	}
	u, v := asID(l.scalar(n.Args[1])), asID(l.scalar(n.Args[2]))
	switch {
	case !d.Directed:
		u, v = l.let("from", kir.Op2(kir.Min, u, v)), l.let("to", kir.Op2(kir.Max, u, v))
	case d.Turned:
		u, v = v, u
	}
	lists := l.dataEdges(n.Args[0].Name, d)
	first := func(u, v kir.Expr) kir.Expr { return kir.Fn(kir.EdgeFirst, kir.G(lists), u, v) }
	end := func(u, v kir.Expr) kir.Expr { return kir.Fn(kir.EdgeEnd, kir.G(lists), u, v) }
	var accepted *kir.GlobalDef
	switch {
	case d.Accepted != nil:
		accepted = l.accepted(asg.ViewKey(n.Args[0].Name, n.Name), d)
	case !d.Either:
		return &value{span: &[2]kir.Expr{
			l.let("", kir.Convert{T: kir.T(kir.I64), X: first(u, v)}), l.let("", kir.Convert{T: kir.T(kir.I64), X: end(u, v)}),
		}}
	}
	return &value{each: func(body func([]kir.Expr)) {
		one := func(u, v kir.Expr) kir.Stmt {
			edge := &kir.Var{Name: "e", T: kir.T(kir.U64)}
			inside := l.block(func() { body([]kir.Expr{l.let("edge", kir.Convert{T: kir.T(kir.I64), X: kir.R(edge)})}) })
			if accepted != nil {
				inside = []kir.Stmt{when(kir.Fn(kir.BitAt, kir.G(accepted), kir.R(edge)), inside...)}
			}
			return &kir.Loop{I: edge, Lo: first(u, v), Hi: end(u, v), Body: inside}
		}
		l.takeOuter() // the edges between two vertices are too few to share
		if !d.Either {
			l.do(one(u, v))
			return
		}
		side := local("side", kir.U32)
		l.do(&kir.Loop{I: side, Lo: kir.C(0), Hi: kir.C(2), Body: l.block(func() {
			along := kir.Op2(kir.Eq, kir.R(side), kir.C(0))
			from, to := l.let("from", kir.Select{If: along, Then: u, Else: v}), l.let("to", kir.Select{If: along, Then: v, Else: u})
			l.do(one(from, to))
		})})
	}}
}

// dataEdges are the lists of all data edges of an input graph.
func (l *lowerer) dataEdges(input string, d *data.DataEdges) *kir.GlobalDef {
	key := "data edges of " + input
	g, ok := l.graphs[key]
	if !ok {
		g = l.prog.AddGlobal(&kir.GlobalDef{Name: key, Kind: kir.Adj, Off: d.Off, Adj: d.Dst})
		l.graphs[key] = g
	}
	return g
}

// accepted is a bit for each data edge that a text accepts.
func (l *lowerer) accepted(key string, d *data.DataEdges) *kir.GlobalDef {
	key = "edges of " + key
	g, ok := l.graphs[key]
	if !ok {
		g = l.prog.AddGlobal(&kir.GlobalDef{Name: key, Kind: kir.Bits, Words: d.Accepted})
		l.graphs[key] = g
	}
	return g
}

// holds asks a condition of the pattern language.
func (l *lowerer) holds(n *asg.Node) kir.Expr {
	key := asg.ViewKey(n.Args[0].Name, n.Name)
	c, ok := l.conditions[key]
	if !ok {
		f, of, err := l.in.Condition(n).Code(l.prog, fmt.Sprintf("text%d_", len(l.conditions)))
		if err != nil {
			l.notYet(n, err.Error())
		}
		l.helpers = append(l.helpers, l.prog.Funcs...) // phases come after them
		l.prog.Funcs = nil
		c = condition{f, of}
		l.conditions[key] = c
	}
	var args []kir.Expr
	for i, j := range c.of {
		x := l.scalar(n.Args[1+j])
		if c.f.Params[i].T.Kind == kir.U32 {
			x = asID(x)
		} else {
			x = kir.Convert{T: kir.T(kir.U64), X: x}
		}
		args = append(args, x)
	}
	return invoke(c.f, args...)
}

// condition is the function of a condition, and which arguments of holds it takes.
type condition struct {
	f  *kir.Func
	of []int
}
