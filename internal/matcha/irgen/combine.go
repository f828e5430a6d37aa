package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// combine is intersect or diff.
func (l *lowerer) combine(n *asg.Node, common bool) *value {
	a, b := l.list(n.Args[0]), l.list(n.Args[1])
	switch {
	case a.span != nil && b.set != nil && common:
		return &value{set: l.cut(b.set, a.span[0], a.span[1])}
	case a.set != nil && b.set != nil:
		op := kir.Subtract
		if common {
			op = kir.Intersect
		}
		return &value{set: l.setOp(n, l.most(n), &kir.SetOp{Op: op, A: a.set, B: b.set})}
	case a.set != nil && b.span != nil && common:
		return &value{set: l.cut(a.set, b.span[0], b.span[1])}
	}
	in := l.member(n, b, common)
	if a.set != nil {
		return &value{set: l.filter(n, l.most(n.Args[0]), a.set, in)}
	}
	return &value{each: func(body func(item []kir.Expr)) {
		l.over(a, func(item []kir.Expr) {
			l.do(&kir.If{Cond: l.let("", in(item[0])), Then: l.block(func() { body(item) })})
		})
	}}
}

// member is the question whether a number is in the list b of n or, where common is
// false, is not. A list that is neither ascending nor short is sorted first.
func (l *lowerer) member(n *asg.Node, b *value, common bool) func(x kir.Expr) kir.Expr {
	var in func(x kir.Expr) kir.Expr
	list := n.Args[1]
	switch {
	case b.span != nil:
		in = func(x kir.Expr) kir.Expr {
			return kir.All(kir.Op2(kir.Ge, x, b.span[0]), kir.Op2(kir.Lt, x, b.span[1]))
		}
	case b.set != nil:
		in = func(x kir.Expr) kir.Expr { return contains(b.set, x, anyInt) }
	case b.rows == nil && b.each == nil && len(b.lit) <= maxPlain:
		in = func(x kir.Expr) kir.Expr {
			var some []kir.Expr
			for _, item := range b.lit {
				some = append(some, kir.Op2(kir.Eq, x, item[0]))
			}
			return kir.Any(some...)
		}
	default:
		if !list.Type.Ascending || b.rows == nil || b.rows.words == nil {
			b = l.sortedList(n, list.Type.Elem, l.boundOf(list), b)
		}
		f := l.support("has_"+b.rows.words.Type().Elem.String(), func() *kir.Func { return l.has(b.rows.words.Type().Elem) })
		in = func(x kir.Expr) kir.Expr { return invoke(f, b.rows.words, b.rows.n, asWord(x)) }
	}
	if common {
		return in
	}
	return func(x kir.Expr) kir.Expr { return kir.NotX(in(x)) }
}

// contains is the question whether a number of a range is in a set.
func contains(set, x kir.Expr, of interval) kir.Expr {
	in := kir.Fn(kir.Contains, set, asID(x))
	if c, ok := x.(kir.Convert); ok && c.X.Type().Kind == kir.U32 || of.lo >= 0 && of.hi < math.MaxUint32 {
		return in
	}
	return kir.All(kir.Op2(kir.Ge, x, i64(0)), kir.Op2(kir.Lt, x, i64(math.MaxUint32)), in)
}

// maxSought is the most numbers that are looked for one by one.
const maxSought = 8

// sought is how many of the numbers that are written out in list b of n a set has.
func (l *lowerer) sought(n *asg.Node, set kir.Expr, b *value) kir.Expr {
	var found kir.Expr = i64(0)
	for i, item := range b.lit {
		of := anyInt
		if list := n.Args[1]; list.Op == asg.MakeList {
			of = l.interval(list.Args[i])
		}
		new := []kir.Expr{contains(set, item[0], of)}
		for _, before := range b.lit[:i] {
			new = append(new, kir.Op2(kir.Ne, item[0], before[0]))
		}
		found = plus(found, kir.Select{If: kir.All(new...), Then: i64(1), Else: i64(0)})
	}
	return found
}

// has is a function: is x among n ascending words?
func (l *lowerer) has(kind kir.Kind) *kir.Func {
	a, n, x, at := array("a", kind), local("n", kir.U32), local("x", kind), local("at", kir.U32)
	return &kir.Func{
		Doc: "Whether x is among n ascending words.", Params: []*kir.Var{a, n, x}, Result: kir.T(kir.Bool),
		Body: []kir.Stmt{
			&kir.Let{Var: at, Init: l.place(kir.R(a), kir.R(n), kir.R(x))},
			&kir.Return{X: kir.All(kir.Op2(kir.Lt, kir.R(at), kir.R(n)), kir.Op2(kir.Eq, elem(a, kir.R(at)), kir.R(x)))},
		},
	}
}

// combinedSize is the size of an intersection or difference that is not stored.
func (l *lowerer) combinedSize(n *asg.Node, common bool) kir.Expr {
	a, b := l.vals[n.Args[0]], l.vals[n.Args[1]]
	switch {
	case a.set != nil && b.set != nil:
		l.need(a)
		l.need(b)
		fn := kir.CountMinus
		if common {
			fn = kir.CountAnd
		}
		return asInt(kir.Fn(fn, a.set, b.set))
	case a.set != nil && b.lit != nil && len(b.lit) <= maxSought:
		l.need(a)
		l.need(b)
		if common {
			return l.sought(n, a.set, b)
		}
		return kir.Op2(kir.Sub, asInt(kir.Fn(kir.Size, a.set)), l.sought(n, a.set, b))
	case a.set != nil && (b.span == nil || !common):
		l.need(a)
		l.need(b)
		x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
		in := l.member(n, b, common)
		return asInt(kir.Count{Over: a.set, X: x, Keep: in(asInt(kir.R(x)))})
	}
	return l.size(l.combine(n, common))
}
