package irgen

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// value is what a node is: components, a graph, or a list in one of its forms.
type value struct {
	xs  []kir.Expr
	adj *kir.GlobalDef

	set  kir.Expr     // an ascending list of ids
	span *[2]kir.Expr // the numbers from the first up to, without, the second
	lit  [][]kir.Expr // items written out
	// each runs over any other list: it writes loops around what body writes.
	each func(body func(item []kir.Expr))
	// Of an apply that does something, whose items are gone: their number and,
	// where it is asked for, their sum.
	count kir.Expr
	sums  []kir.Expr
}

// over writes loops over a list, around what body writes.
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
	from := l.vals[n.Args[0]]
	if from.set != nil && n.Type.Ascending && n.Cond != nil && l.plain(n.Cond) {
		return &value{set: l.filter(n, from.set, func(x kir.Expr) kir.Expr { return l.keep(n.Cond, x) })}
	}
	return &value{each: func(body func(item []kir.Expr)) {
		l.applied(n, func() { body(l.run(n.Func, l.vals[n.Func.Operands[0]].xs)) })
	}}
}

// applied writes the loops of an apply and its condition, around what body
// writes; the operands have the item.
func (l *lowerer) applied(n *asg.Node, body func()) {
	if len(n.Args) != 1 {
		l.notYet(n, "apply over several lists")
	}
	l.over(l.vals[n.Args[0]], func(item []kir.Expr) {
		inside := func() {
			if n.Func != nil {
				l.vals[n.Func.Operands[0]] = &value{xs: item}
			}
			body()
		}
		if n.Cond == nil {
			inside()
			return
		}
		cond := l.run(n.Cond, item)[0]
		l.do(&kir.If{Cond: cond, Then: l.block(inside)})
	})
}

// maxPlain is the most operators of a predicate, in which what is read twice is
// computed twice.
const maxPlain = 64

// plain reports whether a condition is one expression, for a lane alone.
func (l *lowerer) plain(f *asg.Func) bool {
	size := map[*asg.Node]int{}
	for _, n := range asg.Order(f) {
		switch n.Op {
		case asg.Neg, asg.Not, asg.Arith, asg.Compare, asg.And, asg.Or, asg.ToFloat, asg.MakeTuple, asg.Part, asg.Const,
			asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd:
		default:
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

// filter writes the set of the items for which keep holds.
func (l *lowerer) filter(n *asg.Node, from kir.Expr, keep func(x kir.Expr) kir.Expr) kir.Expr {
	x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
	return l.setOp(n, &kir.SetOp{Op: kir.Filter, A: from, X: x, Keep: keep(asInt(kir.R(x)))})
}

func (l *lowerer) setOp(n *asg.Node, s *kir.SetOp) kir.Expr {
	name := n.Given
	if name == "" {
		name = "set"
	}
	v := &kir.Var{Name: name, T: kir.T(kir.Set)}
	s.To, s.Out = kir.R(v), l.room(n)
	l.do(&kir.Let{Var: v})
	l.do(s)
	return kir.R(v)
}

// combine is intersect or diff.
func (l *lowerer) combine(n *asg.Node, common bool) *value {
	a, b := l.vals[n.Args[0]], l.vals[n.Args[1]]
	switch {
	case a.span != nil && b.set != nil && common:
		return &value{set: l.cut(b.set, a.span[0], a.span[1])}
	case a.set == nil:
		l.notYet(n, "intersect and diff of a list that is neither ascending nor stored")
	case b.set != nil:
		op := kir.Subtract
		if common {
			op = kir.Intersect
		}
		return &value{set: l.setOp(n, &kir.SetOp{Op: op, A: a.set, B: b.set})}
	case b.span != nil && common:
		return &value{set: l.cut(a.set, b.span[0], b.span[1])}
	case b.each != nil:
		l.notYet(n, "intersect and diff with a list that is neither ascending nor written out")
	}
	return &value{set: l.filter(n, a.set, func(x kir.Expr) kir.Expr { return member(b, x, common) })}
}

// member is the question whether x is in a list written out or a span, or, where
// common is false, is not.
func member(b *value, x kir.Expr, common bool) kir.Expr {
	var in kir.Expr
	if b.span != nil {
		in = kir.All(kir.Op2(kir.Ge, x, b.span[0]), kir.Op2(kir.Lt, x, b.span[1]))
	} else {
		var some []kir.Expr
		for _, item := range b.lit {
			some = append(some, kir.Op2(kir.Eq, x, item[0]))
		}
		in = kir.Any(some...)
	}
	if common {
		return in
	}
	return kir.NotX(in)
}

// combinedSize is the size of an intersection or difference that is not stored.
func (l *lowerer) combinedSize(n *asg.Node, common bool) kir.Expr {
	a, b := l.vals[n.Args[0]], l.vals[n.Args[1]]
	switch {
	case a.set != nil && b.set != nil:
		fn := kir.CountMinus
		if common {
			fn = kir.CountAnd
		}
		return asInt(kir.Fn(fn, a.set, b.set))
	case a.set != nil && b.each == nil:
		x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
		return asInt(kir.Count{Over: a.set, X: x, Keep: member(b, asInt(kir.R(x)), common)})
	}
	return l.size(l.combine(n, common))
}

// size is the number of a list's items.
func (l *lowerer) size(v *value) kir.Expr {
	switch {
	case v.set != nil:
		return asInt(kir.Fn(kir.Size, v.set))
	case v.span != nil:
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

// total declares a sum.
func (l *lowerer) total(name string, k kir.Kind) *kir.Var {
	zero := i64(0)
	if k == kir.F64 {
		zero = kir.F(0)
	}
	v := &kir.Var{Name: name, T: kir.T(k)}
	l.do(&kir.Let{Var: v, Init: zero})
	return v
}

// sum adds what loops make, items of a type: over writes loops around what its
// argument writes.
func (l *lowerer) sum(t *types.Type, over func(add func(item []kir.Expr))) *value {
	kind := kir.I64
	if t.Part(0).Kind == types.Float {
		kind = kir.F64
	}
	out := &value{}
	for range t.Words() {
		out.xs = append(out.xs, kir.R(l.total("sum", kind)))
	}
	over(func(item []kir.Expr) {
		for i, x := range item {
			l.do(&kir.Accumulate{To: out.xs[i], X: x})
		}
	})
	return out
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
