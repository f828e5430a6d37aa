package lower

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// sizes makes a variable for the size of each group's set. The function returns 0 at the first set with
// too few vertices.
func (t *tailWriter) sizes(count kir.Type) {
	for r, g := range t.close.groups {
		n := t.block(1 << r)
		least := uint32(1)
		if t.close.divisor == 0 && t.p.Mode == pattern.Iso {
			least = uint32(len(g.Levels))
		}
		t.body = append(t.body, &kir.If{
			Cond: kir.Op2(kir.Lt, n, kir.C(least)), Then: []kir.Stmt{&kir.Return{X: kir.C64(count.Kind, 0)}},
		})
	}
}

// sum writes Σ Coef × Π |∩ block|: inclusion–exclusion, as in GraphPi.
func (t *tailWriter) sum(count kir.Type) {
	t.sizes(count)
	signed := kir.T(kir.I64)
	if count.Kind == kir.U128 {
		signed = count // intermediate sums may wrap around; the total is right
	}
	var sum kir.Expr
	for _, term := range t.close.terms {
		var product kir.Expr
		for _, block := range term.Blocks {
			n := kir.Expr(kir.Convert{T: signed, X: t.block(t.mask(block))})
			if product == nil {
				product = n
			} else {
				product = kir.Op2(kir.Mul, product, n)
			}
		}
		coef, op := term.Coef, kir.Add
		if coef < 0 && sum != nil {
			op, coef = kir.Sub, -coef
		}
		if coef != 1 {
			product = kir.Op2(kir.Mul, integer(signed, coef), product)
		}
		if sum == nil {
			sum = product
		} else {
			sum = kir.Op2(op, sum, product)
		}
	}
	total := kir.Expr(kir.R(t.let("sum", sum)))
	if t.close.divisor > 1 {
		total = kir.Op2(kir.Div, total, integer(signed, t.close.divisor))
	}
	if signed != count {
		total = kir.Convert{T: count, X: total}
	}
	t.body = append(t.body, &kir.Return{X: total})
}

// integer returns a constant, which may be negative.
func integer(t kir.Type, x int64) kir.Expr {
	if t.Kind == kir.U128 && x < 0 {
		return kir.Op2(kir.Sub, kir.C64(kir.U128, 0), kir.C64(kir.U128, uint64(-x)))
	}
	return kir.C64(t.Kind, uint64(x))
}

// mask returns the groups of a block of levels, by bits.
func (t *tailWriter) mask(levels []int) (mask uint32) {
	for _, l := range levels {
		mask |= 1 << t.repOf[l]
	}
	return mask
}

// block returns the variable with the size of an intersection.
func (t *tailWriter) block(mask uint32) kir.Expr {
	mask = t.reduced(mask)
	if t.size[mask] == nil {
		name := "n"
		for rest := mask; rest != 0; rest &= rest - 1 {
			name += fmt.Sprintf("_%d", t.sets[bits.TrailingZeros32(rest)].level)
		}
		t.size[mask] = t.let(name, t.measure(mask))
	}
	return kir.R(t.size[mask])
}

// closable reports whether choices can count the plan's tail groups. It can if each set meets at most
// one other.
func (x *lowering) closable() bool {
	for _, mask := range x.close.masks {
		if bits.OnesCount32(mask) > 2 {
			return false
		}
		if pair := mask & (mask - 1); pair != 0 {
			for _, other := range x.close.masks {
				if other != mask && other&mask != 0 && bits.OnesCount32(other) == 2 {
					return false
				}
			}
		}
	}
	return true
}

// choices writes the number of ways to take the vertices of each group out of its set, no
// vertex twice.
//
//   - For a set by itself it is a binomial coefficient.
//   - For two sets that meet it is a sum over the number of vertices of the first set that are
//     among those that both sets hold.
//   - If the order of vertices counts, the result is multiplied by the number of orders.
//   - If vertices may recur, it is a power.
func (t *tailWriter) choices(count kir.Type) {
	t.sizes(count)
	var product kir.Expr
	times := func(x kir.Expr) {
		if product == nil {
			product = x
		} else {
			product = kir.Op2(kir.Mul, product, x)
		}
	}
	paired := uint32(0)
	for _, mask := range t.close.masks {
		if mask&(mask-1) != 0 {
			paired |= mask
			times(t.pair(mask, count))
		}
	}
	orders := int64(1)
	for r, g := range t.close.groups {
		k, n := len(g.Levels), t.block(1<<r)
		if t.p.Mode != pattern.Iso {
			for range k {
				times(kir.Convert{T: count, X: n})
			}
			continue
		}
		if paired>>r&1 == 0 {
			times(kir.Invoke{Fn: t.chooseFunc(count), Args: []kir.Expr{n, kir.C(uint32(k))}})
		}
		if !g.Ordered {
			for i := 2; i <= k; i++ {
				orders *= int64(i)
			}
		}
	}
	if orders > 1 {
		times(integer(count, orders))
	}
	t.body = append(t.body, &kir.Return{X: product})
}

// pair returns the number of choices for two sets that meet.
func (t *tailWriter) pair(mask uint32, count kir.Type) kir.Expr {
	r := bits.TrailingZeros32(mask)
	q := bits.TrailingZeros32(mask & (mask - 1))
	k, l := len(t.close.groups[r].Levels), len(t.close.groups[q].Levels)
	a, b, both := t.block(1<<r), t.block(1<<q), t.block(mask)
	choose := func(n, k kir.Expr) kir.Expr {
		return kir.Invoke{Fn: t.chooseFunc(count), Args: []kir.Expr{n, k}}
	}
	total := &kir.Var{Name: "ways", T: count}
	j := &kir.Var{Name: "j", T: kir.T(kir.U32)}
	t.body = append(t.body, &kir.Let{Var: total, Init: kir.C64(count.Kind, 0)}, &kir.Loop{
		I: j, Lo: kir.C(0), Hi: kir.Op2(kir.Add, kir.Op2(kir.Min, both, kir.C(uint32(k))), kir.C(1)),
		Body: []kir.Stmt{&kir.Accumulate{To: kir.R(total), X: kir.Op2(kir.Mul, kir.Op2(kir.Mul,
			choose(both, kir.R(j)),
			choose(kir.Op2(kir.Sub, a, both), kir.Op2(kir.Sub, kir.C(uint32(k)), kir.R(j)))),
			choose(kir.Op2(kir.Sub, b, kir.R(j)), kir.C(uint32(l))))}},
	})
	return kir.R(total)
}

// chooseFunc returns the function choose, which computes a binomial coefficient.
func (t *tailWriter) chooseFunc(count kir.Type) *kir.Func {
	if f := t.prog.Func("", 1, "choose"); f != nil {
		return f
	}
	n, k := &kir.Var{Name: "n", T: kir.T(kir.U32)}, &kir.Var{Name: "k", T: kir.T(kir.U32)}
	c, i := &kir.Var{Name: "c", T: count}, &kir.Var{Name: "i", T: kir.T(kir.U32)}
	wide := func(x kir.Expr) kir.Expr { return kir.Convert{T: count, X: x} }
	f := &kir.Func{
		Name: "choose", Index: 1, Doc: "the number of sets of k out of n", Params: []*kir.Var{n, k}, Result: count,
		Body: []kir.Stmt{
			&kir.If{Cond: kir.Op2(kir.Lt, kir.R(n), kir.R(k)), Then: []kir.Stmt{&kir.Return{X: kir.C64(count.Kind, 0)}}},
			&kir.Let{Var: c, Init: kir.C64(count.Kind, 1)},
			&kir.Loop{I: i, Lo: kir.C(0), Hi: kir.R(k), Body: []kir.Stmt{
				&kir.Assign{To: kir.R(c), X: kir.Op2(kir.Div,
					kir.Op2(kir.Mul, kir.R(c), wide(kir.Op2(kir.Sub, kir.R(n), kir.R(i)))),
					wide(kir.Op2(kir.Add, kir.R(i), kir.C(1))))},
			}},
			&kir.Return{X: kir.R(c)},
		},
	}
	t.prog.Funcs = append(t.prog.Funcs, f)
	return f
}

// width returns the type of the count: u64 if all intermediate results have at most 62 bits, else u128.
// Why: a set is at most as large as the largest degree of the lists that it is made of.
func (t *tailWriter) width() (kir.Type, error) {
	if len(t.close.groups) == 1 && len(t.close.groups[0].Levels) == 1 && len(t.p.Edges) == 0 {
		return kir.T(kir.U64), nil
	}
	total := new(big.Int)
	for _, term := range t.close.terms {
		x := big.NewInt(term.Coef)
		x.Abs(x)
		for _, block := range term.Blocks {
			least := t.largest(block[0])
			for _, l := range block[1:] {
				least = min(least, t.largest(l))
			}
			x.Mul(x, new(big.Int).SetUint64(least))
		}
		total.Add(total, x)
	}
	if t.close.divisor == 0 {
		total = t.mostChoices()
	}
	if len(t.p.Edges) > 0 {
		total.Mul(total, t.mostChoicesOfEdges())
	}
	switch n := total.BitLen(); {
	case n <= 62:
		return kir.T(kir.U64), nil
	case n <= 127:
		return kir.T(kir.U128), nil
	}
	return kir.Type{}, plan.Refusef("a count may pass 128 bits: %d levels are closed by arithmetic, and some vertex has %d neighbours",
		len(t.p.Levels)-t.tail, t.longestOfAll())
}

// mostChoices returns a bound of the intermediate results of choices. A binomial coefficient
// multiplies before it divides.
func (t *tailWriter) mostChoices() *big.Int {
	total := big.NewInt(1)
	for _, g := range t.close.groups {
		n, k := int64(t.largest(g.Levels[0])), int64(len(g.Levels))
		x := big.NewInt(1)
		for i := range k {
			if n-i > 0 {
				x.Mul(x, big.NewInt(n-i))
			}
		}
		if g.Ordered {
			x.Quo(x, new(big.Int).MulRange(1, k))
		}
		total.Mul(total, x.Add(x, big.NewInt(1)))
		total.Mul(total, big.NewInt(k+1)) // for sums of k+1 terms, or the factor of a division to come
	}
	return total
}

// largest returns a bound of the size of level l's set.
func (t *tailWriter) largest(l int) uint64 {
	least := uint64(t.p.Graph.NumVertices())
	for _, b := range positive(t.p.Levels[l].Back) {
		least = min(least, uint64(t.maxDegree(b.Adj)))
	}
	return least
}

// longestOfAll returns the length of the longest list of all adjacencies.
func (t *tailWriter) longestOfAll() (n int) {
	for a := range t.p.Adjs {
		n = max(n, t.maxDegree(a))
	}
	return n
}
