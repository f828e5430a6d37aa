package lower

import (
	"math"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/kir"
)

// valueKind is the kind of a value, as far as it is known before the program runs.
type valueKind uint8

const (
	nullValue   valueKind = iota
	boolValue             // t
	intValue              // i
	floatValue            // f
	numberValue           // f, and i if it is not a fraction
	textValue             // i: its place in the order of all texts
	listValue             // items
)

// value is the value of an expression. The zero value is NULL.
type value struct {
	kind     valueKind
	null     kir.Expr // whether it is NULL; nil: never
	i, f     kir.Expr
	fraction kir.Expr // of a numberValue
	t        kir.Expr // true, and so not NULL
	items    []value
}

func (v value) isNull() kir.Expr {
	switch {
	case v.kind == nullValue:
		return kir.True
	case v.null == nil:
		return kir.False
	}
	return v.null
}

func (v value) known() kir.Expr { return kir.NotX(v.isNull()) }

func (v value) number() bool {
	return v.kind == intValue || v.kind == floatValue || v.kind == numberValue
}

// isFraction says whether a number is to be taken as f.
func (v value) isFraction() kir.Expr {
	switch v.kind {
	case intValue:
		return kir.False
	case floatValue:
		return kir.True
	}
	return v.fraction
}

// float is a number as a fraction.
func (v value) float() kir.Expr {
	if v.kind == intValue {
		return kir.Convert{T: kir.T(kir.F64), X: v.i}
	}
	return v.f
}

// truth is a boolean that is never NULL.
func (w *conditionWriter) truth(t kir.Expr) value { return value{kind: boolValue, t: w.let(t)} }

func (w *conditionWriter) isTrue(v value) kir.Expr {
	if v.kind != boolValue {
		return kir.False
	}
	return v.t
}

func (w *conditionWriter) isFalse(v value) kir.Expr {
	if v.kind != boolValue {
		return kir.False
	}
	return kir.All(v.known(), kir.NotX(v.t))
}

// either is whether one of two values is NULL; nil: never.
func either(a, b value) kir.Expr {
	switch {
	case a.null == nil:
		return b.null
	case b.null == nil:
		return a.null
	}
	return kir.Any(a.null, b.null)
}

// compare is a comparison. Only two numbers, or two texts, have an order; NaN has
// none. What cannot be compared is not equal.
func (w *conditionWriter) compare(op kir.Op, a, b value) value {
	if a.kind == nullValue || b.kind == nullValue {
		return value{}
	}
	equality := op == kir.Eq || op == kir.Ne
	v := value{kind: boolValue, null: either(a, b)}
	switch {
	case a.number() && b.number():
		v.t = w.compareNumbers(op, a, b)
		if !equality && (a.kind != intValue || b.kind != intValue) {
			unordered := []kir.Expr{v.isNull()}
			for _, x := range []value{a, b} {
				if x.kind != intValue {
					unordered = append(unordered, kir.Op2(kir.Ne, x.f, x.f))
				}
			}
			v.null = kir.Any(unordered...)
		}
	case a.kind == textValue && b.kind == textValue:
		v.t = kir.Op2(op, a.i, b.i)
	case a.kind == boolValue && b.kind == boolValue && equality:
		v.t = kir.Op2(op, a.t, b.t)
	case equality:
		v.t = kir.Const{T: kir.T(kir.Bool), Bits: uint64(b2i(op == kir.Ne))}
	default:
		return value{}
	}
	v.null = w.let(v.null)
	v.t = w.let(kir.All(v.known(), v.t))
	return v
}

func (w *conditionWriter) compareNumbers(op kir.Op, a, b value) kir.Expr {
	if a.kind == intValue && b.kind == intValue {
		return kir.Op2(op, a.i, b.i)
	}
	switch {
	case a.kind == floatValue && b.kind == floatValue:
		return kir.Op2(op, a.f, b.f)
	case a.kind == intValue && b.kind == floatValue:
		return w.compareMixed(op, a.i, b.f)
	case a.kind == floatValue && b.kind == intValue:
		return w.compareMixed(turned[op], b.i, a.f)
	case a.kind == numberValue:
		return kir.Select{If: a.fraction, Then: w.compareNumbers(op, a.asFloat(), b), Else: w.compareNumbers(op, a.asInt(), b)}
	}
	return kir.Select{If: b.fraction, Then: w.compareNumbers(op, a, b.asFloat()), Else: w.compareNumbers(op, a, b.asInt())}
}

// turned is the operator with its sides exchanged.
var turned = map[kir.Op]kir.Op{kir.Eq: kir.Eq, kir.Ne: kir.Ne, kir.Lt: kir.Gt, kir.Le: kir.Ge, kir.Gt: kir.Lt, kir.Ge: kir.Le}

// compareMixed compares a whole number with a fraction by their exact values.
// Rounding i to a float64 keeps the order of the two, unless both become equal;
// then y is whole, and is 2^63 or fits 63 bits.
func (w *conditionWriter) compareMixed(op kir.Op, i, y kir.Expr) kir.Expr {
	x := w.let(kir.Convert{T: kir.T(kir.F64), X: i})
	if exactAsFloat(i) || exactAsInt(y) {
		return kir.Op2(op, x, y)
	}
	beyond := kir.Const{T: kir.T(kir.Bool), Bits: uint64(b2i(op == kir.Ne || op == kir.Lt || op == kir.Le))}
	return kir.Select{
		If: kir.Op2(kir.Eq, x, y),
		Then: kir.Select{
			If: kir.Op2(kir.Lt, y, kir.F(1<<63)), Then: kir.Op2(op, i, kir.Convert{T: kir.T(kir.I64), X: y}), Else: beyond,
		},
		Else: kir.Op2(op, x, y),
	}
}

// exactAsFloat reports whether i is a constant that a float64 holds.
func exactAsFloat(i kir.Expr) bool {
	c, ok := i.(kir.Const)
	return ok && int64(c.Bits) <= 1<<53 && int64(c.Bits) >= -1<<53
}

// exactAsInt reports whether y is a constant that no rounded whole number is equal
// to, unless it is that number itself.
func exactAsInt(y kir.Expr) bool {
	c, ok := y.(kir.Const)
	return ok && math.Abs(math.Float64frombits(c.Bits)) < 1<<53
}

// asFloat is a numberValue known to be a fraction.
func (v value) asFloat() value { return value{kind: floatValue, f: v.f} }

// asInt is a numberValue known to be a whole number.
func (v value) asInt() value { return value{kind: intValue, i: v.i} }

// constant is a literal of the query.
func (w *conditionWriter) constant(x expr.Value) value {
	switch x.Kind {
	case expr.Bool:
		return w.truth(kir.Const{T: kir.T(kir.Bool), Bits: uint64(x.I)})
	case expr.Int:
		return value{kind: intValue, i: integer(kir.T(kir.I64), x.I)}
	case expr.Float:
		return value{kind: floatValue, f: kir.F(x.F)}
	case expr.Text:
		return value{kind: textValue, i: kir.C64(kir.I64, w.x.textWords()(x.S))}
	case expr.List:
		v := value{kind: listValue}
		for _, item := range x.List {
			v.items = append(v.items, w.constant(item))
		}
		return v
	}
	return value{}
}

// minInt is the least whole number, which has no opposite.
var minInt = integer(kir.T(kir.I64), math.MinInt64)
