package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// relation is a graph of those edges of an input graph that fulfil a condition, as joins have them. All
// workers make it when the program begins. They filter the lists of the input into memory that has as
// many places as the input has edges, each list to its own place, so that no list waits for another.
// It is nil if n is another graph.
func (l *lowerer) relation(n *asg.Node) *made {
	list := n.Args[0]
	if n.At != 0 || list.Op != asg.Apply || len(list.Args) != 1 || list.Effects || len(list.Func.Steps) > 0 || list.Func.Result != list.Func.Operands[0] ||
		list.Cond == nil || !l.plain(list.Cond) || l.reads(n, asg.Vertices) || l.reads(n, asg.Edges) {
		return nil
	}
	g := list.Args[0]
	if g.Op != asg.Edges || g.Args[0].Op != asg.Input || l.in.EdgeInfo(g.Args[0]) != nil {
		return nil
	}
	adj := l.graph(g.Args[0].Name)
	vertices, arcs := int64(len(adj.Off)-1), int64(len(adj.Adj))
	if vertices == 0 || arcs+vertices > maxRelation {
		return nil
	}
	begin := kir.G(l.begins(adj))
	to, size := l.take(n, arcs), l.take(n, vertices).ids(0, vertices)
	u, x, kept := &kir.Var{Name: "u", T: kir.T(kir.U32)}, &kir.Var{Name: "x", T: kir.T(kir.U32)}, local("kept", kir.U32)
	first, rest := l.split(list.Cond, u, x)
	at := kir.Elem{X: begin, I: kir.R(u)}
	set := &kir.Var{Name: "list", T: kir.T(kir.Set)}
	some := []kir.Stmt{
		&kir.Let{Var: set},
		&kir.SetOp{Op: kir.Filter, A: kir.Fn(kir.List, kir.G(adj), kir.R(u)), X: x, Keep: rest, To: kir.R(set),
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
	return &made{
		ids: to.ids(0, arcs),
		find: func(v kir.Expr) (kir.Expr, kir.Expr) {
			is := l.let("", kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(l.vertices(adj)))))
			at := l.let("", kir.Select{If: is, Then: asID(v), Else: kir.C(0)})
			first := l.let("begin", kir.Elem{X: begin, I: at})
			return first, l.let("end", plus(first, kir.Select{If: is, Then: kir.Elem{X: size, I: at}, Else: kir.C(0)}))
		},
	}
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
