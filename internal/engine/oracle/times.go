package oracle

import (
	"math/big"

	"github.com/weftgraph/weft/internal/pattern"
)

// timed is a moment, or the span between two, as a number of units. Combined with a plain
// number it is that number of units. Combined with another time it is nanoseconds, exactly.
type timed struct {
	raw   any // int64 or float64, or a *big.Rat for an exact result
	unit  *big.Rat
	span  bool
	known bool // or a plain number, as far as the graph says
	// literal says that it stands in the query. Combined with a property it takes the
	// property's units, if it is a whole number of them.
	literal bool
}

// like is a literal in the units of the property that other is made of.
func (t timed) like(other timed) timed {
	if !t.literal || other.literal {
		return t
	}
	n := new(big.Rat).Quo(t.nanos(), other.unit)
	if n.IsInt() && n.Num().IsInt64() {
		t.raw, t.unit = n.Num().Int64(), other.unit
	}
	return t
}

func (w *world) edgeTime(t int64) any {
	num, den, said := w.g.TimeUnit()
	return timed{raw: t, unit: big.NewRat(num, den), known: said && w.g.Read.TimeEpoch}
}

// nanos is the time in nanoseconds; nil for NaN and infinities.
func (t timed) nanos() *big.Rat {
	n, ok := t.raw.(*big.Rat)
	if !ok {
		if n, ok = exact(t.raw); !ok {
			return nil
		}
	}
	return new(big.Rat).Mul(n, t.unit)
}

// sameUnits reports whether a and b can be calculated with as plain numbers.
func sameUnits(a, b timed) bool {
	_, rat1 := a.raw.(*big.Rat)
	_, rat2 := b.raw.(*big.Rat)
	return !rat1 && !rat2 && a.unit.Cmp(b.unit) == 0
}

// compareTimes orders two times.
func compareTimes(a, b timed) (int, bool) {
	if sameUnits(a, b) {
		return compare(a.raw, b.raw)
	}
	x, y := a.nanos(), b.nanos()
	if x == nil || y == nil {
		return 0, false
	}
	return x.Cmp(y), true
}

// timeArithmetic is a op b where one of them is a time at least.
func timeArithmetic(op pattern.Op, a, b any) any {
	x, xok := a.(timed)
	y, yok := b.(timed)
	if xok && yok {
		meant := op == pattern.OpAdd && (x.span || y.span) || op == pattern.OpSub && (!x.span || y.span)
		if !meant { // of plain numbers
			return arithmetic(op, x.raw, y.raw)
		}
		x, y = x.like(y), y.like(x)
		out := timed{literal: x.literal && y.literal, span: x.span && y.span || op == pattern.OpSub && !x.span && !y.span, known: x.known && y.known}
		if sameUnits(x, y) {
			out.raw, out.unit = arithmetic(op, x.raw, y.raw), x.unit
			return out
		}
		n, m := x.nanos(), y.nanos()
		if n == nil || m == nil {
			return nil
		}
		if out.raw, out.unit = new(big.Rat).Add(n, m), big.NewRat(1, 1); op == pattern.OpSub {
			out.raw = new(big.Rat).Sub(n, m)
		}
		return out
	}
	t, other := x, b
	if !xok {
		t, other = y, a
	}
	// A number of the time's own units, or a factor.
	var raw any
	if r, ok := t.raw.(*big.Rat); ok {
		f, ok := exact(other)
		if !ok || op != pattern.OpMul {
			return nil
		}
		raw = new(big.Rat).Mul(r, f)
	} else if xok {
		raw = arithmetic(op, t.raw, other)
	} else {
		raw = arithmetic(op, other, t.raw)
	}
	switch {
	case raw == nil:
		return nil
	case op == pattern.OpAdd, op == pattern.OpSub && (xok || t.span), op == pattern.OpMul && t.span:
		t.raw, t.literal = raw, false
		return t
	}
	return raw
}
