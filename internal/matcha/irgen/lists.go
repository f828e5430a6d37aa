package irgen

import (
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// value is the value of a node: components, a graph, or a list in one of its forms.
type value struct {
	xs      []kir.Expr
	adj     *kir.GlobalDef
	made    *made // with adj or without it: of a graph that the program makes
	counter *counter
	code    kir.Expr // other than 0 where the value failed; nil: it cannot fail

	set  kir.Expr     // an ascending list of ids
	span *[2]kir.Expr // the numbers from the first up to, without, the second
	rows *rows        // items in memory or a column
	lit  [][]kir.Expr // items written out
	// each runs over any other list: it writes loops around the statements of body.
	each func(body func(item []kir.Expr))
	// Of an apply that does something, whose items are gone: their number and,
	// where it is asked for, their sum.
	count kir.Expr
	sums  []kir.Expr
}

// over writes loops over a list, around the statements of body.
func (l *lowerer) over(v *value, body func(item []kir.Expr)) {
	switch {
	case v.set != nil && l.takeOuter():
		i := &kir.Var{Name: "i", T: kir.T(kir.U32)}
		item := func() { body([]kir.Expr{asInt(l.let("v", kir.Fn(kir.Item, v.set, kir.R(i))))}) }
		l.loop(&kir.Loop{I: i, Lo: kir.C(0), Hi: kir.Fn(kir.Size, v.set), Body: l.block(item)}, true)
	case v.set != nil:
		x := &kir.Var{Name: "v", T: kir.T(kir.U32)}
		l.do(&kir.Each{X: x, Over: v.set, Body: l.block(func() { body([]kir.Expr{asInt(kir.R(x))}) })})
	case v.span != nil:
		outer := l.takeOuter()
		x := &kir.Var{Name: "i", T: kir.T(kir.I64)}
		l.loop(&kir.Loop{I: x, Lo: v.span[0], Hi: v.span[1], Body: l.block(func() { body([]kir.Expr{kir.R(x)}) })}, outer)
	case v.rows != nil:
		outer := l.takeOuter()
		i := local("i", kir.U32)
		l.loop(&kir.Loop{I: i, Lo: kir.C(0), Hi: v.rows.n, Body: l.block(func() { body(l.item(v, kir.R(i))) })}, outer)
	case v.each != nil:
		v.each(body)
	default:
		for _, item := range v.lit {
			body(item)
		}
	}
}

// apply is the list of an apply: it is made where something runs over it.
func (l *lowerer) apply(n *asg.Node) *value {
	if from := l.vals[n.Args[0]]; from.set != nil && n.Type.Ascending && n.Cond != nil && l.plain(n.Cond) {
		l.need(from)
		return &value{set: l.filter(n, l.most(n.Args[0]), from.set, func(x kir.Expr) kir.Expr { return l.keep(n.Cond, x) })}
	}
	return &value{each: func(body func(item []kir.Expr)) {
		l.applied(n, func() { body(l.again(n.Func)) })
	}}
}

// applied writes the loops of an apply and its condition, around the statements of body. The
// operands of the function have the items.
func (l *lowerer) applied(n *asg.Node, body func()) {
	turn := func(items [][]kir.Expr) {
		inside := func() {
			for j, item := range items {
				if n.Func != nil {
					l.vals[n.Func.Operands[j]] = &value{xs: item}
				}
			}
			body()
		}
		if n.Cond == nil {
			inside()
			return
		}
		cond := l.runAll(n.Cond, items)[0]
		l.do(&kir.If{Cond: cond, Then: l.block(inside)})
	}
	if len(n.Args) > 1 {
		l.zipped(n, turn)
		return
	}
	l.over(l.list(n.Args[0]), func(item []kir.Expr) { turn([][]kir.Expr{item}) })
}

// maxPlain is the most operators of a predicate, in which a value that is read twice is
// computed twice.
const maxPlain = 64

// plain reports whether a function, except for some steps, is one expression that cannot fail,
// for a single lane.
func (l *lowerer) plain(f *asg.Func, but ...*asg.Node) bool {
	size := map[*asg.Node]int{}
	for _, n := range asg.Order(f) {
		for _, a := range n.Args {
			if v := l.vals[a]; v != nil && v.code != nil && !a.Home.Within(f) {
				return false
			}
		}
		if slices.Contains(but, n) {
			continue
		}
		switch n.Op {
		case asg.Neg, asg.Not, asg.Arith, asg.Compare, asg.And, asg.Or, asg.ToFloat, asg.MakeTuple, asg.Part, asg.Const,
			asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd, asg.Holds:
		case asg.Neighbor, asg.Size:
			if !l.semi || !l.joins(n) {
				return false
			}
		default:
			return false
		}
		if l.fallible(n) {
			return false
		}
		size[n] = 1
		for _, a := range n.Args {
			size[n] += size[a]
		}
		if size[n] > maxPlain {
			return false
		}
	}
	return true
}

// keep is a plain condition of an item, as an expression.
func (l *lowerer) keep(f *asg.Func, x kir.Expr) kir.Expr {
	before := l.inline
	l.inline = true
	cond := l.run(f, []kir.Expr{x})[0]
	l.inline = before
	return cond
}

// filter writes the set of the items of a list of at most most for which keep holds.
// It needs room for all of them, however few the result may have.
func (l *lowerer) filter(n *asg.Node, most int64, from kir.Expr, keep func(x kir.Expr) kir.Expr) kir.Expr {
	x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
	return l.setOp(n, most, &kir.SetOp{Op: kir.Filter, A: from, X: x, Keep: keep(asInt(kir.R(x)))})
}

func (l *lowerer) setOp(n *asg.Node, most int64, s *kir.SetOp) kir.Expr {
	name := n.Given
	if name == "" {
		name = "set"
	}
	v := &kir.Var{Name: name, T: kir.T(kir.Set)}
	s.To, s.Out = kir.R(v), l.take(n, most).ids(0, most)
	l.do(&kir.Let{Var: v})
	l.do(s)
	return kir.R(v)
}

// size is the number of a list's items.
func (l *lowerer) size(v *value) kir.Expr {
	switch {
	case v.set != nil:
		return asInt(kir.Fn(kir.Size, v.set))
	case v.rows != nil:
		return asInt(v.rows.n)
	case v.span != nil:
		if _, known := v.span[0].(kir.Const); !known { // it is not negative, but the end may be any number
			return kir.Op2(kir.Sub, kir.Op2(kir.Max, v.span[1], v.span[0]), v.span[0])
		}
		return kir.Op2(kir.Max, i64(0), kir.Op2(kir.Sub, v.span[1], v.span[0]))
	case v.count != nil:
		return v.count
	case v.each == nil:
		return i64(int64(len(v.lit)))
	}
	n := l.total("n", kir.I64)
	l.over(v, func([]kir.Expr) { l.do(&kir.Accumulate{To: kir.R(n), X: i64(1)}) })
	return kir.R(n)
}

// cut is the part lo ≤ x < hi of a set.
func (l *lowerer) cut(set, lo, hi kir.Expr) kir.Expr {
	return l.let("", kir.Fn(kir.Slice, set, clamp(lo), clamp(hi)))
}

// clamp is an Int as an id that bounds as much.
func clamp(x kir.Expr) kir.Expr {
	const last = 1<<32 - 1
	if c, ok := x.(kir.Const); ok {
		return kir.C(uint32(min(max(int64(c.Bits), 0), last)))
	}
	return asID(kir.Op2(kir.Min, kir.Op2(kir.Max, x, i64(0)), i64(last)))
}
