package kirgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
)

// role is what a value is used as.
type role uint8

const (
	number role = iota // of any value
	vertex             // a U32 that numbers a list
	set
	flag // a Bool
)

// variable is a variable in sight.
type variable struct {
	*kir.Var
	role
	fixed  bool // it may not be assigned
	region int  // of a set that operations may make anew; -1: it has none
}

// body is a function under construction.
type body struct {
	*gen
	f      *kir.Func
	scope  kir.Scope
	vars   []variable
	lane   bool // inside a predicate
	pool   []kir.Expr
	s      *kir.Var // the state, if it is a parameter
	slots  *kir.Var
	mem    *kir.Var
	locked map[int]bool // regions that a loop reads
	index  *kir.Var     // a number that is known to be an index of ids here; nil: there is none
	sum    *kir.Var     // what is computed is added to it, so that it is seen
	turns  int          // of all loops around
	left   int          // statements that may yet be made
	cost   int
	states bool
}

var numbers = []kir.Kind{kir.U32, kir.U64, kir.I64, kir.U128, kir.F64}

// again is an expression of a type made before, if its variables are in sight still.
func (b *body) again(t kir.Type, want func(kir.Expr) bool) kir.Expr {
	if len(b.pool) == 0 || b.IntN(3) > 0 {
		return nil
	}
	x := one(b.Choices, b.pool...)
	if x.Type() != t || want != nil && !want(x) {
		return nil
	}
	ok := true
	kir.WalkExpr(x, func(y kir.Expr) {
		if r, is := y.(kir.Ref); is {
			ok = ok && b.sees(r.Var)
		}
		if c, is := y.(kir.Call); is && c.Fn.Group {
			ok = ok && !b.lane
		}
	})
	if !ok {
		return nil
	}
	return x
}

func (b *body) sees(v *kir.Var) bool {
	for i := range b.vars {
		if b.vars[i].Var == v {
			return true
		}
	}
	return v == b.s || v == b.slots || v == b.mem
}

// keep puts x where again finds it. Predicates are left out: a variable is declared once.
// So is what has a value only below a condition.
func (b *body) keep(x kir.Expr) kir.Expr {
	ok := true
	kir.WalkExpr(x, func(y kir.Expr) {
		switch y := y.(type) {
		case kir.Count, kir.Sum:
			ok = false
		case kir.Elem:
			_, constant := y.I.(kir.Const)
			g, global := y.X.(kir.Global)
			ok = ok && (constant || !global || g.G != b.ids)
		}
	})
	if ok {
		b.pool = append(b.pool, x)
	}
	return x
}

// pick is a variable of a role and type, or nil.
func (b *body) pick(r role, t kir.Type, free bool) *kir.Var {
	var all []*kir.Var
	for i := range b.vars {
		v := &b.vars[i]
		if v.role == r && v.T == t && !(free && v.fixed) {
			all = append(all, v.Var)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return one(b.Choices, all...)
}

func (b *body) field(name string) kir.Expr { return kir.Field{X: kir.R(b.s), Name: name} }

func at(x kir.Expr, i uint32) kir.Expr { return kir.Elem{X: x, I: kir.C(i)} }

func choose(cond, x, y kir.Expr) kir.Expr { return kir.Select{If: cond, Then: x, Else: y} }

func convert(k kir.Kind, x kir.Expr) kir.Expr { return kir.Convert{T: kir.T(k), X: x} }

// vertex is a U32 that numbers a list.
func (b *body) vertex(depth int) kir.Expr {
	if x := b.again(kir.T(kir.U32), b.numbers); x != nil {
		return x
	}
	if b.index != nil && b.chance(2) {
		return kir.Elem{X: kir.G(b.ids), I: kir.R(b.index)}
	}
	n := 3
	if depth > 0 {
		n = 8
	}
	switch b.IntN(n) {
	case 1:
		if b.s != nil {
			return b.keep(at(b.field("m"), uint32(b.IntN(3))))
		}
	case 2:
		return kir.C(uint32(b.IntN(vertices)))
	case 3:
		return choose(b.boolean(depth-1), b.vertex(depth-1), b.vertex(depth-1))
	case 4:
		s, i := b.twice(func() kir.Expr { return b.set(depth - 1) }), kir.C(uint32(b.IntN(3)))
		return choose(kir.Op2(kir.Lt, i, kir.Fn(kir.Size, s)), kir.Fn(kir.Item, s, i), b.vertex(0))
	case 5:
		return kir.Op2(kir.Mod, b.number(kir.U32, depth-1), kir.C(vertices))
	case 6:
		if b.chance(2) {
			return b.keep(at(kir.G(b.ids), uint32(b.IntN(len(b.ids.Adj)))))
		}
		i := b.twice(func() kir.Expr { return b.number(kir.U32, depth-1) })
		return choose(kir.Op2(kir.Lt, i, kir.C(uint32(len(b.ids.Adj)))), kir.Elem{X: kir.G(b.ids), I: i}, b.vertex(0))
	case 7:
		a := one(b.Choices, b.adjs...)
		i := b.twice(func() kir.Expr { return b.number(kir.U64, depth-1) })
		x := kir.Fn(kir.EdgeTarget, kir.G(a), i)
		if b.chance(2) {
			x = kir.Fn(kir.EdgeSource, kir.G(a), kir.C(vertices), i)
		}
		return choose(kir.Op2(kir.Lt, i, kir.C64(kir.U64, uint64(len(a.Adj)))), x, b.vertex(0))
	}
	if v := b.pick(vertex, kir.T(kir.U32), false); v != nil {
		return kir.R(v)
	}
	return kir.C(0)
}

// numbers reports whether an expression that was kept numbers a list.
func (b *body) numbers(x kir.Expr) bool {
	switch x := x.(type) {
	case kir.Elem:
		if f, ok := x.X.(kir.Field); ok {
			return f.Name == "m"
		}
		g, ok := x.X.(kir.Global)
		return ok && g.G == b.ids
	}
	return false
}

// set is a set of vertices.
func (b *body) set(depth int) kir.Expr {
	if x := b.again(kir.T(kir.Set), nil); x != nil {
		return x
	}
	n := 4
	if depth > 0 {
		n = 7
	}
	adj := kir.G(one(b.Choices, b.adjs...))
	switch b.IntN(n) {
	case 1:
		if v := b.pick(set, kir.T(kir.Set), false); v != nil {
			return kir.R(v)
		}
	case 2:
		if b.s != nil {
			return b.keep(at(b.field("set"), uint32(b.IntN(2))))
		}
	case 3:
		i := b.IntN(len(b.ids.Adj))
		return b.keep(kir.Fn(kir.Part, kir.G(b.ids), kir.C(uint32(i)), kir.C(uint32(b.IntN(len(b.ids.Adj)-i+1)))))
	case 4:
		lo, hi := b.number(kir.U32, depth-1), b.number(kir.U32, depth-1)
		if b.chance(3) {
			lo = kir.C(0)
		}
		if b.chance(3) {
			hi = kir.C(math.MaxUint32)
		}
		return b.keep(kir.Fn(kir.Slice, b.set(depth-1), lo, hi))
	case 5:
		return choose(b.boolean(depth-1), b.set(depth-1), b.set(depth-1))
	case 6:
		return b.keep(kir.Fn(one(b.Choices, kir.Below, kir.Above), adj, b.vertex(depth-1)))
	}
	return b.keep(kir.Fn(kir.List, adj, b.vertex(max(0, depth-1))))
}

// constant is a number that folding may know something of.
func (b *body) constant(k kir.Kind) kir.Expr {
	x := one[uint64](b.Choices, 0, 1, 2, 3, 7, uint64(b.IntN(256)), math.MaxUint32, math.MaxUint64, 1<<63)
	switch k {
	case kir.U32:
		return kir.C(uint32(x))
	case kir.F64:
		if !b.Tame && b.chance(8) {
			return kir.F(one(b.Choices, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)))
		}
		return kir.F(float64(b.IntN(9)-4) / 2)
	}
	return kir.C64(k, x)
}

// number is a number of a kind.
func (b *body) number(k kir.Kind, depth int) kir.Expr {
	if x := b.again(kir.T(k), nil); x != nil {
		return x
	}
	n := 3
	if depth > 0 {
		n = 10
	}
	switch b.IntN(n) {
	case 1:
		return b.constant(k)
	case 2:
		if x := b.stored(k); x != nil {
			return x
		}
	case 3, 4, 5:
		return b.keep(b.arithmetic(k, depth))
	case 6:
		return choose(b.boolean(depth-1), b.number(k, depth-1), b.number(k, depth-1))
	case 7:
		from := one(b.Choices, numbers...)
		if from != kir.F64 && k != kir.F64 {
			if b.chance(3) {
				return convert(k, b.constant(from))
			}
			return b.keep(convert(k, b.number(from, depth-1)))
		}
		if k == kir.F64 {
			return convert(k, kir.Op2(kir.BitAnd, b.number(kir.U32, depth-1), kir.C(15)))
		}
	case 8, 9:
		if x := b.measured(k, depth); x != nil {
			return b.keep(x)
		}
	}
	if v := b.pick(number, kir.T(k), false); v != nil {
		return kir.R(v)
	}
	if k == kir.U32 {
		return b.vertex(0)
	}
	return b.constant(k)
}

// stored is a number in the state, the memory or a limit, or nil.
func (b *body) stored(k kir.Kind) kir.Expr {
	switch {
	case k == kir.U32 && b.mem != nil && b.chance(2):
		if b.chance(2) {
			return b.keep(at(kir.Fn(kir.IDs, kir.R(b.mem), kir.C(2), kir.C(4)), uint32(b.IntN(4))))
		}
		return b.keep(at(kir.R(b.mem), uint32(b.IntN(ids))))
	case k == kir.I64 && b.mem != nil && b.chance(2):
		return b.keep(at(kir.Fn(kir.Words, kir.R(b.mem), kir.C(ids), kir.C(words)), uint32(b.IntN(words))))
	case k == kir.U32 && b.chance(2):
		return kir.G(one(b.Choices, b.limits...))
	case b.s == nil:
		return nil
	}
	switch k {
	case kir.U32:
		return b.keep(b.field("n"))
	case kir.U64:
		if b.chance(3) {
			return kir.Elem{X: b.field("k"), I: kir.Op2(kir.BitAnd, b.number(kir.U32, 0), kir.C(1))}
		}
		return b.keep(at(b.field("k"), uint32(b.IntN(2))))
	case kir.I64:
		return b.keep(b.field("w"))
	case kir.U128:
		return b.keep(b.field("t"))
	}
	return b.keep(b.field("f"))
}

// arithmetic is an operator on two numbers, or one.
func (b *body) arithmetic(k kir.Kind, depth int) kir.Expr {
	x := b.number(k, depth-1)
	if v := b.pick(number, kir.T(k), false); v != nil && b.chance(3) {
		x = kir.R(v)
	}
	if k == kir.F64 {
		// Small numbers, so that all is exact.
		y := b.number(k, 0)
		return kir.Op2(one(b.Choices, kir.Add, kir.Sub, kir.Min, kir.Max), x, y)
	}
	switch op := one(b.Choices, kir.Add, kir.Sub, kir.Mul, kir.Div, kir.Mod, kir.BitAnd, kir.BitOr, kir.Min, kir.Max, kir.Shl, kir.Shr); op {
	case kir.Div, kir.Mod:
		if b.chance(2) {
			return kir.Op2(op, x, kir.C64(k, uint64(1+b.IntN(3))))
		}
		return kir.Op2(op, x, b.number(k, depth-1))
	case kir.Shl, kir.Shr:
		if b.chance(2) {
			return kir.Op2(op, one(b.Choices, x, kir.C64(k, uint64(b.IntN(3)))), kir.C(uint32(b.IntN(3)*b.IntN(12))))
		}
		return kir.Op2(op, x, b.number(kir.U32, depth-1))
	default:
		if b.chance(8) {
			return kir.Unary{Op: kir.Neg, X: x}
		}
		y := b.number(k, depth-1)
		if b.chance(3) {
			x, y = y, kir.C64(k, uint64(b.IntN(2)))
		}
		if b.chance(6) {
			x, y = b.constant(k), b.constant(k)
		}
		if b.chance(2) {
			x, y = y, x
		}
		return kir.Op2(op, x, y)
	}
}

// measured is a number that the lists, sets or columns give, or nil.
func (b *body) measured(k kir.Kind, depth int) kir.Expr {
	switch k {
	case kir.U32:
		if b.scope == kir.Group && !b.lane && b.chance(3) {
			x := b.element()
			over := b.set(depth - 1)
			return kir.Count{Over: over, X: x, Keep: b.each(x, func() kir.Expr { return b.boolean(depth - 1) })}
		}
		if b.scope == kir.Group && !b.lane && b.chance(3) {
			return kir.Fn(one(b.Choices, kir.CountAnd, kir.CountMinus), b.set(depth-1), b.set(depth-1))
		}
		if b.chance(2) {
			return kir.Fn(kir.Degree, kir.G(one(b.Choices, b.adjs...)), b.vertex(depth-1))
		}
		return kir.Fn(kir.Size, b.set(depth-1))
	case kir.U64:
		if b.scope == kir.Group && !b.lane && b.chance(2) {
			x := b.element()
			over := b.set(depth - 1)
			return kir.Sum{Over: over, X: x, Value: b.each(x, func() kir.Expr { return b.number(kir.U64, depth-1) })}
		}
		return kir.Fn(one(b.Choices, kir.EdgeFirst, kir.EdgeEnd), kir.G(one(b.Choices, b.adjs...)), b.vertex(depth-1), b.vertex(depth-1))
	case kir.I64:
		return kir.Fn(kir.CellInt, kir.G(b.ints), convert(kir.U64, b.vertex(depth-1)))
	case kir.F64:
		return kir.Fn(kir.CellFloat, kir.G(b.floats), convert(kir.U64, b.vertex(depth-1)))
	}
	return nil
}

// twice makes an expression that may stand in two places: it declares no variable.
func (b *body) twice(f func() kir.Expr) kir.Expr {
	before := b.lane
	b.lane = true
	x := f()
	b.lane = before
	return x
}

func (b *body) element() *kir.Var { return &kir.Var{Name: b.name(), T: kir.T(kir.U32)} }

// each makes what a lane evaluates for the elements x of a set.
func (b *body) each(x *kir.Var, f func() kir.Expr) kir.Expr {
	b.lane = true
	b.vars = append(b.vars, variable{Var: x, role: vertex, fixed: true, region: -1})
	y := f()
	b.vars = b.vars[:len(b.vars)-1]
	b.lane = false // predicates are not nested
	b.cost += b.turns * vertices
	return y
}

// boolean is a condition.
func (b *body) boolean(depth int) kir.Expr {
	if x := b.again(kir.T(kir.Bool), nil); x != nil {
		return x
	}
	n := 3
	if depth > 0 {
		n = 10
	}
	d := depth - 1
	switch b.IntN(n) {
	case 1:
		if v := b.pick(flag, kir.T(kir.Bool), false); v != nil {
			return kir.R(v)
		}
	case 2:
		return kir.Fn(kir.Bit, kir.G(one(b.Choices, b.bits...)), b.vertex(0))
	case 3:
		if b.chance(3) { // fractions have an order of their own
			op := one(b.Choices, kir.Lt, kir.Le, kir.Gt, kir.Ge, kir.Eq, kir.Ne)
			y := b.number(kir.F64, 0)
			if !b.Tame {
				y = one(b.Choices, y, kir.F(math.NaN()))
			}
			return kir.NotX(kir.Op2(op, b.number(kir.F64, 1), y))
		}
		return kir.NotX(b.boolean(d))
	case 4, 5:
		return kir.Op2(one(b.Choices, kir.And, kir.Or), b.boolean(d), b.boolean(d))
	case 6:
		i := b.IntN(3)
		a, rev := b.adjs[i], b.adjs[[]int{0, 2, 1}[i]]
		return b.keep(kir.Fn(kir.Adjacent, kir.G(a), kir.G(rev), b.vertex(d), b.vertex(d)))
	case 7:
		return b.keep(kir.Fn(kir.Contains, b.set(d), b.vertex(d)))
	case 8:
		if b.chance(2) {
			return kir.Fn(kir.HasCell, kir.G(b.ints), convert(kir.U64, b.vertex(d)))
		}
		if b.chance(2) {
			return kir.Fn(kir.BitAt, kir.G(one(b.Choices, b.bits...)), convert(kir.U64, b.vertex(d)))
		}
		return choose(b.boolean(d), b.boolean(d), b.boolean(d))
	case 9:
		if b.chance(3) {
			return one(b.Choices, kir.True, kir.False)
		}
		return kir.Op2(one(b.Choices, kir.Eq, kir.Ne), b.boolean(d), b.boolean(d))
	}
	k := one(b.Choices, numbers...)
	op := one(b.Choices, kir.Eq, kir.Ne, kir.Lt, kir.Le, kir.Gt, kir.Ge)
	return b.keep(kir.Op2(op, b.number(k, max(0, d)), b.number(k, max(0, d))))
}
