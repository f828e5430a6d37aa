package lower

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
)

// Arithmetic of conditions: whole between whole numbers, unless the result passes
// 63 bits; then, and with fractions, in f64. A division by zero is NULL.

func zero() kir.Expr { return integer(kir.T(kir.I64), 0) }

func minusOne() kir.Expr { return integer(kir.T(kir.I64), -1) }

// wrapped is an operation on whole numbers that may pass 63 bits.
func wrapped(op kir.Op, a, b kir.Expr) kir.Expr {
	u64 := kir.T(kir.U64)
	return kir.Convert{T: kir.T(kir.I64), X: kir.Op2(op, kir.Convert{T: u64, X: a}, kir.Convert{T: u64, X: b})}
}

// negative is -v, a fraction for the least whole number, which has no opposite.
func (w *conditionWriter) negative(v value) value {
	if v.kind == floatValue {
		return value{kind: floatValue, null: v.null, f: w.let(kir.Unary{Op: kir.Neg, X: v.f})}
	}
	if !v.number() {
		return value{}
	}
	x := w.let(v.float())
	return value{
		kind: numberValue, null: v.null, i: w.let(wrapped(kir.Sub, zero(), v.i)),
		fraction: w.let(kir.Any(v.isFraction(), kir.Op2(kir.Eq, v.i, minInt))), f: w.let(kir.Unary{Op: kir.Neg, X: x}),
	}
}

// arithmetic is a op b.
func (w *conditionWriter) arithmetic(op pattern.Op, a, b value) value {
	if a.kind == textValue && b.kind == textValue && op == pattern.OpAdd {
		return w.fail("texts joined by + are not lowered")
	}
	if !a.number() || !b.number() {
		return value{}
	}
	v := value{kind: intValue, null: either(a, b)}
	if op == pattern.OpDiv || op == pattern.OpMod {
		byZero := kir.Op2(kir.Eq, b.i, zero())
		if b.kind != intValue {
			byZero = kir.Op2(kir.Eq, b.f, kir.F(0))
		}
		v.null = w.let(kir.Any(v.isNull(), byZero))
	}
	if a.kind == floatValue || b.kind == floatValue {
		v.kind, v.f = floatValue, w.let(fractions(op, w.let(a.float()), w.let(b.float())))
		return v
	}
	i, ok := w.wholeNumbers(op, a.i, b.i)
	if v.i = i; ok == kir.True && a.kind == intValue && b.kind == intValue {
		return v
	}
	v.kind = numberValue
	v.fraction = w.let(kir.NotX(kir.All(kir.NotX(kir.Any(a.isFraction(), b.isFraction())), ok)))
	v.f = w.let(kir.Select{
		If: v.fraction, Then: fractions(op, w.let(a.float()), w.let(b.float())), Else: kir.Convert{T: kir.T(kir.F64), X: i},
	})
	return v
}

func fractions(op pattern.Op, a, b kir.Expr) kir.Expr {
	if op == pattern.OpMod {
		return kir.Fn(kir.FloatMod, a, b)
	}
	return kir.Op2(operators[op], a, b)
}

var operators = map[pattern.Op]kir.Op{pattern.OpAdd: kir.Add, pattern.OpSub: kir.Sub, pattern.OpMul: kir.Mul, pattern.OpDiv: kir.Div}

// wholeNumbers is a op b, and whether it has no more than 63 bits; with a zero
// divisor any number.
func (w *conditionWriter) wholeNumbers(op pattern.Op, a, b kir.Expr) (z, ok kir.Expr) {
	is := func(x, y kir.Expr) kir.Expr { return kir.Op2(kir.Eq, x, y) }
	switch op {
	case pattern.OpDiv:
		z = w.let(kir.Op2(kir.Div, a, b))
		if c, constant := b.(kir.Const); constant && c != minusOne() {
			return z, kir.True
		}
		return z, w.let(kir.NotX(kir.All(is(b, minusOne()), is(a, minInt))))
	case pattern.OpMod:
		return w.let(kir.Op2(kir.Mod, a, b)), kir.True
	case pattern.OpMul:
		z = w.let(wrapped(kir.Mul, a, b))
		exact := kir.Select{
			If: is(a, minusOne()), Then: kir.Op2(kir.Ne, b, minInt),
			Else: kir.Select{If: is(b, minusOne()), Then: kir.Op2(kir.Ne, a, minInt), Else: is(kir.Op2(kir.Div, z, b), a)},
		}
		return z, w.let(kir.Select{If: kir.Any(is(a, zero()), is(b, zero())), Then: kir.True, Else: exact})
	case pattern.OpAdd:
		z = w.let(wrapped(kir.Add, a, b))
		return z, w.let(is2(kir.Op2(kir.Gt, z, a), kir.Op2(kir.Gt, b, zero())))
	}
	z = w.let(wrapped(kir.Sub, a, b))
	return z, w.let(is2(kir.Op2(kir.Lt, z, a), kir.Op2(kir.Gt, b, zero())))
}

// is2 is whether two booleans are the same.
func is2(a, b kir.Expr) kir.Expr { return kir.Op2(kir.Eq, a, b) }
