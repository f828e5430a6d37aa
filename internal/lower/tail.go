package lower

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// The tail counts the ways to match the last levels from their sets. A single
// level is the size of its set without the vertices matched already. Several
// independent ones are Σ Coef × Π |∩ block| over the terms of the plan
// (inclusion–exclusion, as in GraphPi): levels with the same set share one, and
// blocks that recur are measured once.

// tailSet is one of the different candidate sets of the tail.
type tailSet struct {
	level int
	inner []inner // which earlier vertices may lie in it
	in    map[int]kir.Expr
}

// inner is a test whether the vertex of an earlier level lies in a tail set.
type inner struct {
	level int
	test  func(e *env) kir.Expr
}

// tailFunc counts the ways to match the levels from x.tail on.
func (x *lowering) tailFunc() *kir.Func {
	e := x.newEnv(true)
	t := &tailWriter{lowering: x, e: e, size: map[uint32]*kir.Var{}}
	t.gather()
	count := kir.T(kir.U64)
	if t.wide() {
		count = kir.T(kir.U128)
	}
	x.prog.Types = append(x.prog.Types, kir.Alias{Name: "Count", Type: count})
	if x.p.Tail.K == 1 {
		n := t.blockSize(1)
		t.body = append(t.body, &kir.Return{X: kir.Convert{T: count, X: n}})
	} else {
		t.sum(count)
	}
	return &kir.Func{
		Name: "tail", Doc: "the number of ways to match what is left: " + x.tailText(), Scope: kir.Group,
		Params: []*kir.Var{e.s, e.slots, e.cap}, Result: count, Body: t.body,
	}
}

// tailWriter is the making of the tail function.
type tailWriter struct {
	*lowering
	e     *env
	body  []kir.Stmt
	reps  []tailSet
	repOf map[int]int // by level
	size  map[uint32]*kir.Var
}

// gather finds the different sets.
func (t *tailWriter) gather() {
	t.repOf = map[int]int{}
	for l := t.tail; l < len(t.p.Levels); l++ {
		r := slices.IndexFunc(t.reps, func(s tailSet) bool { return t.same(s.level, l) })
		if r < 0 {
			r = len(t.reps)
			s := tailSet{level: l, in: map[int]kir.Expr{}}
			for _, d := range t.p.Levels[l].Distinct {
				if d < t.tail {
					s.inner = append(s.inner, t.membership(l, d))
				}
			}
			t.reps = append(t.reps, s)
		}
		t.repOf[l] = r
	}
}

// same reports whether two tail levels always have the same candidates:
// restrictions between tail levels are the divisor's business.
func (t *tailWriter) same(a, b int) bool {
	la, lb := &t.p.Levels[a], &t.p.Levels[b]
	before := func(levels []int) []int {
		return slices.DeleteFunc(slices.Clone(levels), func(j int) bool { return j >= t.tail })
	}
	return t.sameChain(t.set[a], t.set[b]) && sameBits(la.Bits, lb.Bits) && slices.Equal(la.Ranges, lb.Ranges) &&
		(la.Ranges == nil) == (lb.Ranges == nil) &&
		slices.Equal(before(la.Below), before(lb.Below)) && slices.Equal(before(la.Above), before(lb.Above))
}

// sameChain reports whether two nodes are the same set; without code motion
// each level has nodes of its own.
func (t *tailWriter) sameChain(i, j int) bool {
	for i >= 0 && j >= 0 && i != j {
		a, b := &t.sets[i], &t.sets[j]
		if a.Op != b.Op || a.Adj != b.Adj || a.Of != b.Of || a.Range != b.Range ||
			!slices.Equal(a.Below, b.Below) || !slices.Equal(a.Above, b.Above) {
			return false
		}
		i, j = a.Base, b.Base
	}
	return i == j
}

func sameBits(a, b []uint64) bool {
	return len(a) == len(b) && (len(a) == 0 && (a == nil) == (b == nil) || len(a) > 0 && &a[0] == &b[0])
}

// membership is the test whether the vertex of level d lies in level l's set,
// without what is known: it passed the tests of its own level.
func (t *tailWriter) membership(l, d int) inner {
	lv, other := &t.p.Levels[l], &t.p.Levels[d]
	return inner{d, func(e *env) kir.Expr {
		v := e.m(d)
		b := t.levelBounds(l, t.tail)
		if lv.Ranges != nil && slices.Equal(lv.Ranges, other.Ranges) {
			b.first = nil
			if _, end := t.rangeLimits(t.oneRange(l)); b.end == end {
				b.end = nil
			}
		}
		tests := b.holds(v, e.m)
		if len(lv.Ranges) > 1 && !slices.Equal(lv.Ranges, other.Ranges) {
			tests = append(tests, t.inRanges(lv.Ranges, v))
		}
		if lv.Bits != nil && !sameBits(lv.Bits, other.Bits) {
			tests = append(tests, kir.Fn(kir.Bit, kir.G(t.bitsOf(lv.Bits, "bits of "+t.names[l])), v))
		}
		for _, back := range lv.Back {
			if !t.implied(back, d) {
				tests = append(tests, t.adjacent(back, v, e.m))
			}
		}
		return kir.All(tests...)
	}}
}

// implied reports whether level d's vertex passed the test of a backward
// neighbour at its own level, or at that neighbour's.
func (t *tailWriter) implied(b plan.Back, d int) bool {
	if b.Level < d {
		return slices.Contains(t.p.Levels[d].Back, b)
	}
	return b.Level > d && slices.Contains(t.p.Levels[b.Level].Back, plan.Back{Level: d, Adj: t.p.Adjs[b.Adj].Rev, Neg: b.Neg})
}

func (t *tailWriter) let(name string, x kir.Expr) *kir.Var {
	v := &kir.Var{Name: name, T: x.Type()}
	t.body = append(t.body, &kir.Let{Var: v, Init: x})
	return v
}

// inside is a variable that tells whether level d's vertex lies in set r.
func (t *tailWriter) inside(r int, in inner) kir.Expr {
	s := &t.reps[r]
	if s.in[in.level] == nil {
		s.in[in.level] = kir.R(t.let(fmt.Sprintf("in%d_%d", s.level, in.level), in.test(t.e)))
	}
	return s.in[in.level]
}

// blockSize is the number of vertices that all sets of a block hold, without
// the ones matched already.
func (t *tailWriter) blockSize(mask uint32) kir.Expr {
	first := bits.TrailingZeros32(mask)
	n := t.common(mask)
	for _, in := range t.reps[first].inner {
		tests := []kir.Expr{t.inside(first, in)}
		all := true
		for rest := mask & (mask - 1); rest != 0 && all; rest &= rest - 1 {
			r := bits.TrailingZeros32(rest)
			at := slices.IndexFunc(t.reps[r].inner, func(o inner) bool { return o.level == in.level })
			if all = at >= 0; all {
				tests = append(tests, t.inside(r, t.reps[r].inner[at]))
			}
		}
		if all {
			n = kir.Op2(kir.Sub, n, kir.Convert{T: kir.T(kir.U32), X: kir.All(tests...)})
		}
	}
	return n
}

// common is the number of vertices that all sets of a block hold.
func (t *tailWriter) common(mask uint32) kir.Expr {
	var sets, tests, lazy []kir.Expr
	v := &kir.Var{Name: "x", T: kir.T(kir.U32)}
	plain := true
	for rest := mask; rest != 0; rest &= rest - 1 {
		l := t.reps[bits.TrailingZeros32(rest)].level
		alone := t.alone(l, kir.R(v))
		tests = append(tests, alone...)
		plain = plain && len(alone) == 0
		i := t.set[l]
		if t.sets[i].deferred {
			return t.deferredSize(l, v, alone)
		}
		sets = append(sets, t.setOf(l))
		if t.mayBeLazy(i) {
			tests = append(tests, t.unlessLazy(i, kir.R(v), t.e))
			lazy = append(lazy, t.e.lazy(i))
		}
	}
	size := kir.Fn(kir.Size, sets[0])
	if len(sets) == 2 {
		size = kir.Fn(kir.CountAnd, sets[0], sets[1])
	}
	if plain && len(sets) <= 2 && len(lazy) == 0 {
		return size
	}
	from := sets[0]
	if len(sets) > 1 {
		for _, s := range sets {
			tests = append([]kir.Expr{kir.Fn(kir.Contains, s, kir.R(v))}, tests...)
		}
		for _, s := range sets[1:] {
			from = kir.R(t.let("least", shorter(from, s)))
		}
	}
	slow := kir.Count{Over: from, X: v, Keep: kir.All(tests...)}
	if plain && len(sets) <= 2 {
		return kir.Select{If: kir.Any(lazy...), Then: slow, Else: size}
	}
	return slow
}

// setOf is a variable that holds level l's set within its bounds.
func (t *tailWriter) setOf(l int) kir.Expr {
	r := &t.reps[t.repOf[l]]
	if r.in[-1] == nil {
		r.in[-1] = kir.R(t.let(fmt.Sprintf("c%d", l), t.candidates(l, t.tail, t.e)))
	}
	return r.in[-1]
}

// deferredSize is the size of level l's set where its node is not made.
func (t *tailWriter) deferredSize(l int, v *kir.Var, alone []kir.Expr) kir.Expr {
	i := t.set[l]
	s := &t.sets[i]
	a, b := t.operandsWithin(i, t.levelBounds(l, t.tail), t.e)
	a, b = kir.R(t.let("a", a)), kir.R(t.let("b", b))
	fn := kir.CountAnd
	if s.Op == plan.SetMinus {
		fn = kir.CountMinus
	}
	fast := kir.Fn(fn, a, b)
	base := t.mayBeLazy(s.Base)
	if len(alone) == 0 && !base {
		return fast
	}
	from, other := a, kir.Fn(kir.Contains, b, kir.R(v))
	if s.Op == plan.SetMinus {
		other = kir.NotX(other)
	} else {
		from = kir.R(t.let("least", shorter(a, b)))
		other = kir.All(kir.Fn(kir.Contains, a, kir.R(v)), other)
	}
	tests := append([]kir.Expr{other}, alone...)
	if base {
		tests = append(tests, t.unlessLazy(s.Base, kir.R(v), t.e))
	}
	slow := kir.Count{Over: from, X: v, Keep: kir.All(tests...)}
	if len(alone) > 0 {
		return slow
	}
	return kir.Select{If: t.e.lazy(s.Base), Then: slow, Else: fast}
}

// sum writes the terms.
func (t *tailWriter) sum(count kir.Type) {
	signed := kir.T(kir.I64)
	if count.Kind == kir.U128 {
		signed = count // sums wrap, and the last of them is right
	}
	zero := func(n kir.Expr) {
		t.body = append(t.body, &kir.If{
			Cond: kir.Op2(kir.Eq, n, kir.C(0)), Then: []kir.Stmt{&kir.Return{X: kir.C64(count.Kind, 0)}},
		})
	}
	// Each level needs a vertex, so that one empty set is the end of it.
	for r := range t.reps {
		mask := uint32(1) << r
		t.size[mask] = t.let(fmt.Sprintf("n%d", t.reps[r].level), t.blockSize(mask))
		zero(kir.R(t.size[mask]))
	}
	var sum kir.Expr
	for _, term := range t.p.Tail.Terms {
		var product kir.Expr
		for _, block := range term.Blocks {
			n := kir.Expr(kir.Convert{T: signed, X: kir.R(t.block(block))})
			if product == nil {
				product = n
			} else {
				product = kir.Op2(kir.Mul, product, n)
			}
		}
		coef := term.Coef
		op := kir.Add
		if coef < 0 && sum != nil {
			op, coef = kir.Sub, -coef
		}
		if coef != 1 {
			product = kir.Op2(kir.Mul, kir.C64(signed.Kind, uint64(coef)), product)
		}
		if sum == nil {
			sum = product
		} else {
			sum = kir.Op2(op, sum, product)
		}
	}
	total := kir.R(t.let("sum", sum))
	if t.p.Tail.Divisor > 1 {
		total = kir.Op2(kir.Div, total, kir.C64(signed.Kind, uint64(t.p.Tail.Divisor)))
	}
	if signed != count {
		total = kir.Convert{T: count, X: total}
	}
	t.body = append(t.body, &kir.Return{X: total})
}

// block is the variable that holds a block's size.
func (t *tailWriter) block(levels []int) *kir.Var {
	mask := uint32(0)
	for _, l := range levels {
		mask |= 1 << t.repOf[l]
	}
	if t.size[mask] == nil {
		name := "n"
		for rest := mask; rest != 0; rest &= rest - 1 {
			name += fmt.Sprintf("_%d", t.reps[bits.TrailingZeros32(rest)].level)
		}
		t.size[mask] = t.let(name, t.blockSize(mask))
	}
	return t.size[mask]
}

// wide reports whether a count may need more than 63 bits on its way: no set is
// larger than the largest degree of the lists that it is made of.
func (t *tailWriter) wide() bool {
	if t.p.Tail.K == 1 {
		return false
	}
	total := new(big.Int)
	for _, term := range t.p.Tail.Terms {
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
	return total.BitLen() > 62
}

// largest bounds the size of level l's set.
func (t *tailWriter) largest(l int) uint64 {
	least := uint64(t.p.Graph.NumVertices())
	for _, b := range positive(t.p.Levels[l].Back) {
		least = min(least, uint64(t.maxDegree(b.Adj)))
	}
	return least
}

func (x *lowering) tailText() string {
	var s string
	for l := x.tail; l < len(x.p.Levels); l++ {
		if s != "" {
			s += ", "
		}
		s += x.names[l]
	}
	return s
}
