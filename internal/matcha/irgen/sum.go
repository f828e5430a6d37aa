package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

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

// sum adds the items that loops make: over writes loops around the statements of its argument.
func (l *lowerer) sum(n *asg.Node, t *types.Type, over func(add func(item []kir.Expr))) *value {
	out := &value{}
	halves := map[int][2]*kir.Var{} // by components that may not fit 64 bits
	kind := wordKind(t)
	for i := range t.Words() {
		out.xs = append(out.xs, kir.R(l.total("sum", kind)))
		if _, fits := l.summed(n, i); kind == kir.I64 && (l.debug || !fits) {
			halves[i] = [2]*kir.Var{l.total("low", kind), l.total("high", kind)}
		}
	}
	over(func(item []kir.Expr) {
		for i, x := range item {
			if h, ok := halves[i]; ok {
				x = l.let("", x)
				l.do(&kir.Accumulate{To: kir.R(h[0]), X: kir.Op2(kir.BitAnd, x, i64(math.MaxUint32))})
				l.do(&kir.Accumulate{To: kir.R(h[1]), X: kir.Op2(kir.Shr, x, kir.C(32))})
			}
			l.do(&kir.Accumulate{To: out.xs[i], X: x})
		}
	})
	for i := range out.xs {
		h, ok := halves[i]
		if !ok {
			continue
		}
		// The sum is high · 2^32 + low, and fits 64 bits if its upper part fits 32. In
		// halves it may be added up in any order, and by several workers.
		// The lower halves are up to 2^32 numbers of 32 bits without a sign.
		low := kir.Convert{T: kir.T(kir.U64), X: kir.R(h[0])}
		upper := l.let("", plus(kir.R(h[1]), kir.Convert{T: kir.T(kir.I64), X: kir.Op2(kir.Shr, low, kir.C(32))}))
		wraps := kir.Any(kir.Op2(kir.Lt, upper, i64(math.MinInt32)), kir.Op2(kir.Gt, upper, i64(math.MaxInt32)))
		l.fail(wraps, l.code(n, "%v", types.ErrOverflow))
	}
	return out
}
