package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// relation is where the edges of a relation lie: those of an input graph, or of another relation, that
// fulfil a condition, as joins have them.
type relation struct {
	adj       *kir.GlobalDef // of the input
	ids, size kir.Expr       // list v is size[v] of ids, from where it begins in adj on
}

// relation makes a relation. All workers make it when the program begins. They filter the lists of the
// input into memory that has as many places as the input has edges, each list to its own place, so that
// no list waits for another. A condition may ask how many neighbours an end has in an earlier relation
// (semi-join). It is nil if n is another graph.
func (l *lowerer) relation(n *asg.Node) *made {
	list := n.Args[0]
	if !filters(n) || l.reads(n, asg.Vertices) || l.edgesListed(n) {
		return nil
	}
	l.semi = true
	plain := l.plain(list.Cond)
	l.semi = false
	if !plain {
		return nil
	}
	g := list.Args[0].Args[0]
	var from *relation
	switch v := l.vals[g]; {
	case g.Op == asg.Input && l.in.EdgeInfo(g) == nil:
	case v != nil && v.made != nil && v.made.relation != nil:
		from = v.made.relation
	default:
		return nil
	}
	var adj *kir.GlobalDef
	if from != nil {
		adj = from.adj
	} else {
		adj = l.graph(g.Name)
	}
	vertices, arcs := int64(len(adj.Off)-1), int64(len(adj.Adj))
	if vertices == 0 || arcs+vertices > maxRelation {
		return nil
	}
	begin := kir.G(l.begins(adj))
	to, size := l.take(n, arcs), l.take(n, vertices).ids(0, vertices)
	u, x, kept := &kir.Var{Name: "u", T: kir.T(kir.U32)}, &kir.Var{Name: "x", T: kir.T(kir.U32)}, local("kept", kir.U32)
	l.semi = true
	first, rest := l.split(list.Cond, u, x)
	l.semi = false
	at := kir.Elem{X: begin, I: kir.R(u)}
	all := kir.Fn(kir.List, kir.G(adj), kir.R(u))
	if from != nil {
		all = kir.Fn(kir.Part, from.ids, at, kir.Elem{X: from.size, I: kir.R(u)})
	}
	set := &kir.Var{Name: "list", T: kir.T(kir.Set)}
	some := []kir.Stmt{
		&kir.Let{Var: set},
		&kir.SetOp{Op: kir.Filter, A: all, X: x, Keep: rest, To: kir.R(set),
			Out: kir.Fn(kir.IDs, kir.R(to.mem), plus(to.place(0), at), kir.Op2(kir.Sub, kir.Elem{X: begin, I: plus(kir.R(u), kir.C(1))}, at))},
		&kir.Assign{To: kir.R(kept), X: kir.Fn(kir.Size, kir.R(set))},
	}
	loop := &kir.Loop{I: u, Lo: kir.C(0), Hi: l.vertices(adj), Body: []kir.Stmt{
		&kir.Let{Var: kept, Init: kir.C(0)},
		when(first, some...),
		&kir.Assign{To: kir.Elem{X: size, I: kir.R(u)}, X: kir.R(kept)},
	}}
	l.loop(loop, true)
	if l.apart == nil {
		l.apart = map[kir.Stmt]bool{}
	}
	l.apart[loop] = true
	r := &relation{adj, to.ids(0, arcs), size}
	return &made{
		relation: r,
		ids:      r.ids,
		find: func(v kir.Expr) (kir.Expr, kir.Expr) {
			is := l.let("", kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(l.vertices(adj)))))
			at := l.let("", kir.Select{If: is, Then: asID(v), Else: kir.C(0)})
			first := l.let("begin", kir.Elem{X: begin, I: at})
			return first, l.let("end", plus(first, kir.Select{If: is, Then: kir.Elem{X: size, I: at}, Else: kir.C(0)}))
		},
	}
}

// relationEdges are the edges of a relation, for a graph that is made of them.
func (l *lowerer) relationEdges(r *relation) *value {
	begin := kir.G(l.begins(r.adj))
	return &value{each: func(body func(item []kir.Expr)) {
		outer := l.takeOuter()
		u, v := local("u", kir.U32), local("v", kir.U32)
		l.loop(&kir.Loop{I: u, Lo: kir.C(0), Hi: l.vertices(r.adj), Body: l.block(func() {
			list := l.let("", kir.Fn(kir.Part, r.ids, kir.Elem{X: begin, I: kir.R(u)}, kir.Elem{X: r.size, I: kir.R(u)}))
			l.do(&kir.Each{X: v, Over: list, Body: l.block(func() { body([]kir.Expr{asInt(kir.R(u)), asInt(kir.R(v))}) })})
		})}, outer)
	}}
}

// filters reports whether a graph is made of the edges of another that fulfil a condition.
func filters(n *asg.Node) bool {
	list := n.Args[0]
	return n.At == 0 && list.Op == asg.Apply && len(list.Args) == 1 && !list.Effects && len(list.Func.Steps) == 0 &&
		list.Func.Result == list.Func.Operands[0] && list.Cond != nil && list.Args[0].Op == asg.Edges
}

// edgesListed reports whether something goes through all edges of a graph, other than graphs that are made of
// those that fulfil a condition.
func (l *lowerer) edgesListed(graph *asg.Node) (yes bool) {
	lists := map[*asg.Node]bool{} // of the edges, and what an apply makes of them
	asg.Walk(l.p, func(n *asg.Node) {
		if n.Op == asg.Edges && n.Args[0] == graph {
			lists[n] = true
		}
	})
	asg.Walk(l.p, func(n *asg.Node) {
		if n.Op == asg.Apply && lists[n.Args[0]] {
			lists[n] = true
		}
	})
	asg.Walk(l.p, func(n *asg.Node) {
		for _, a := range n.Args {
			if lists[a] && !(n.Op == asg.MakeGraph && filters(n)) && !(lists[n] && n.Op == asg.Apply && len(n.Args) == 1) {
				yes = true
			}
		}
	})
	return yes
}

// joins reports whether a node is the number of a vertex's neighbours in a relation, or these neighbours,
// which nothing else may ask for.
func (l *lowerer) joins(n *asg.Node) bool {
	if n.Op == asg.Size {
		n = n.Args[0]
	}
	if n.Op != asg.Neighbor {
		return false
	}
	v := l.vals[n.Args[0]]
	return v != nil && v.made != nil && v.made.relation != nil
}

// degree is the number of a vertex's neighbours in a relation.
func (l *lowerer) degree(n *asg.Node) kir.Expr {
	r, v := l.vals[n.Args[0]].made.relation, l.scalar(n.Args[1])
	is := kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(l.vertices(r.adj))))
	return asInt(kir.Select{If: is, Then: kir.Elem{X: r.size, I: asID(v)}, Else: kir.C(0)})
}

// maxRelation is the most words of a relation: places in memory are numbers of 32 bits.
const maxRelation = math.MaxUint32 / 8

// split is a plain condition of an edge from u to x, as the part that looks at u alone, and the rest.
func (l *lowerer) split(f *asg.Func, u, x *kir.Var) (first, rest kir.Expr) {
	l.vals[f.Operands[0]] = &value{xs: []kir.Expr{asInt(kir.R(u)), asInt(kir.R(x))}}
	before := l.inline
	l.inline = true
	defer func() { l.inline = before }()
	l.body(f)
	first, rest = kir.True, kir.True
	var add func(n *asg.Node)
	add = func(n *asg.Node) {
		if n.Op == asg.And {
			add(n.Args[0])
			add(n.Args[1])
			return
		}
		part, both := l.scalar(n), false
		kir.WalkExpr(part, func(y kir.Expr) {
			r, ok := y.(kir.Ref)
			both = both || ok && r.Var == x
		})
		if both {
			rest = kir.All(rest, part)
		} else {
			first = kir.All(first, part)
		}
	}
	add(f.Result)
	return first, rest
}

// begins are where the lists of an input graph begin, and the end of the last.
func (l *lowerer) begins(adj *kir.GlobalDef) *kir.GlobalDef {
	name := adj.Name + " begin"
	for _, g := range l.prog.Globals {
		if g.Name == name {
			return g
		}
	}
	begin := make([]uint32, len(adj.Off))
	for v, at := range adj.Off {
		begin[v] = uint32(at)
	}
	return l.ids(name, begin)
}
