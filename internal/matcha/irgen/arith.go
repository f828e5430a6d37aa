package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// fallible reports whether a Neg or Arith may fail: by a division, or because the
// result may not fit 64 bits.
func (l *lowerer) fallible(n *asg.Node) bool {
	if n.Type.Kind != types.Int || n.Op != asg.Neg && n.Op != asg.Arith {
		return false
	}
	_, ok := l.computed(n)
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
		return kir.Op2(op, x, y)
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
