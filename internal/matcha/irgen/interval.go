package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// interval is a range that an Int lies in.
type interval struct{ lo, hi types.Word }

var anyInt = interval{math.MinInt64, math.MaxInt64}

func (i interval) has(x types.Word) bool { return i.lo <= x && x <= i.hi }

// interval is what is known of an Int before the program runs.
func (l *lowerer) interval(n *asg.Node) interval {
	if i, ok := l.intervals[n]; ok {
		return i
	}
	i := l.findInterval(n)
	l.intervals[n] = i
	return i
}

func (l *lowerer) findInterval(n *asg.Node) interval {
	switch {
	case n.Type.Kind != types.Int:
		return anyInt
	case n.Op == asg.Const:
		return interval{n.Words[0], n.Words[0]}
	case n.Op == asg.Input:
		x := l.in.Input(n.Name).Var
		return interval{x, x}
	case n.Op == asg.Neg:
		if i, ok := l.compute("-", interval{}, l.interval(n.Args[0])); ok {
			return i
		}
	case n.Op == asg.Arith:
		if i, ok := l.compute(n.Name, l.interval(n.Args[0]), l.interval(n.Args[1])); ok {
			return i
		}
	}
	if n.Type.Max != nil {
		return interval{0, types.Word(l.in.Most(n.Type.Max))}
	}
	return anyInt
}

// compute is the range of x op y; ok is false where a result may not fit 64 bits,
// or there may be none.
func (l *lowerer) compute(op string, x, y interval) (out interval, ok bool) {
	if (op == "/" || op == "%") && (y.has(0) || y.has(-1) && x.has(math.MinInt64)) {
		return anyInt, false
	}
	if op == "%" { // between 0 and what it divides
		return interval{min(x.lo, 0), max(x.hi, 0)}, true
	}
	first := true
	ys := []types.Word{y.lo, y.hi}
	if op == "/" { // the largest quotients are those by the smallest numbers
		for _, d := range []types.Word{-1, 1} {
			if y.has(d) {
				ys = append(ys, d)
			}
		}
	}
	for _, a := range []types.Word{x.lo, x.hi} {
		for _, b := range ys {
			z, err := types.Compute(op, types.Int, a, b)
			if err != nil {
				return anyInt, false
			}
			if first {
				out, first = interval{z, z}, false
			}
			out = interval{min(out.lo, z), max(out.hi, z)}
		}
	}
	if op == "/" {
		out = interval{min(out.lo, 0), max(out.hi, 0)}
	}
	return out, true
}

// fallible reports whether a Neg or Arith may fail: a division always, what only
// may not fit 64 bits where that is looked for.
func (l *lowerer) fallible(n *asg.Node) bool {
	if n.Type.Kind != types.Int || n.Op != asg.Neg && n.Op != asg.Arith {
		return false
	}
	if !l.debug && n.Name != "/" && n.Name != "%" {
		return false
	}
	var ok bool
	if n.Op == asg.Neg {
		_, ok = l.compute("-", interval{}, l.interval(n.Args[0]))
	} else {
		_, ok = l.compute(n.Name, l.interval(n.Args[0]), l.interval(n.Args[1]))
	}
	return !ok
}

var operators = map[string]kir.Op{"+": kir.Add, "-": kir.Sub, "*": kir.Mul, "/": kir.Div, "%": kir.Mod}

// arith is x op y.
func (l *lowerer) arith(n *asg.Node, x, y kir.Expr) kir.Expr {
	op := operators[n.Name]
	if n.Type.Kind == types.Float {
		if op == kir.Mod {
			return kir.Fn(kir.FloatMod, x, y)
		}
		return kir.Op2(op, x, y)
	}
	if !l.fallible(n) {
		return kir.Op2(op, x, y)
	}
	x, y = l.let("", x), l.let("", y)
	if op == kir.Div || op == kir.Mod {
		zero := kir.Op2(kir.Eq, y, i64(0))
		large := kir.All(kir.Op2(kir.Eq, y, i64(-1)), kir.Op2(kir.Eq, x, i64(math.MinInt64)))
		l.fail(zero, l.code(n, "%v", types.ErrDivision))
		l.fail(large, l.code(n, "%v", types.ErrOverflow))
		return kir.Select{If: kir.Any(zero, large), Then: i64(0), Else: kir.Op2(op, x, y)}
	}
	z := l.let("", kir.Op2(op, x, y))
	l.fail(l.wrapped(op, x, y, z), l.code(n, "%v", types.ErrOverflow))
	return z
}

// wrapped reports whether z = x op y did not fit 64 bits.
func (l *lowerer) wrapped(op kir.Op, x, y, z kir.Expr) kir.Expr {
	switch op {
	case kir.Add: // as much as y is negative the sum is less
		return kir.Op2(kir.Ne, kir.Op2(kir.Lt, y, i64(0)), kir.Op2(kir.Lt, z, x))
	case kir.Sub:
		return kir.Op2(kir.Ne, kir.Op2(kir.Gt, y, i64(0)), kir.Op2(kir.Lt, z, x))
	}
	return invoke(l.support("product_wraps", productWraps), x, y)
}

// productWraps is a function: does x · y not fit 64 bits?
func productWraps() *kir.Func {
	x, y := &kir.Var{Name: "x", T: kir.T(kir.I64)}, &kir.Var{Name: "y", T: kir.T(kir.I64)}
	least := i64(math.MinInt64)
	is := func(v *kir.Var, n int64) kir.Expr { return kir.Op2(kir.Eq, kir.R(v), i64(n)) }
	back := kir.Op2(kir.Div, kir.Op2(kir.Mul, kir.R(x), kir.R(y)), kir.R(y))
	return &kir.Func{
		Doc: "Whether x times y does not fit 64 bits.", Params: []*kir.Var{x, y}, Result: kir.T(kir.Bool),
		Body: []kir.Stmt{
			when(kir.Any(is(x, 0), is(y, 0)), &kir.Return{X: kir.False}),
			when(is(y, -1), &kir.Return{X: kir.Op2(kir.Eq, kir.R(x), least)}),
			&kir.Return{X: kir.Op2(kir.Ne, back, kir.R(x))},
		},
	}
}

// negative is -x.
func (l *lowerer) negative(n *asg.Node, x kir.Expr) kir.Expr {
	if l.fallible(n) {
		x = l.let("", x)
		l.fail(kir.Op2(kir.Eq, x, i64(math.MinInt64)), l.code(n, "%v", types.ErrOverflow))
	}
	return kir.Unary{Op: kir.Neg, X: x}
}
