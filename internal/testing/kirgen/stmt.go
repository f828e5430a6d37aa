package kirgen

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
)

// maxCost bounds the steps of a program, and depths of expressions and blocks.
const (
	maxCost   = 20000
	deep      = 3
	maxBlocks = 3
)

func (b *body) name() string { return one(b.Choices, "a", "b", "n", "v", "x", "int", "w_x", "q") }

// function makes a function.
func (g *gen) function(scope kir.Scope) {
	b := &body{gen: g, scope: scope, locked: map[int]bool{}, turns: 1, left: 6 + g.IntN(14)}
	b.f = &kir.Func{Name: fmt.Sprintf("f%d", len(g.funcs)), Scope: scope, Rare: g.chance(3), Index: len(g.funcs)}
	if g.chance(3) {
		b.f.Family = "Part"
	}
	g.own(b.f)
	if scope == kir.Group || g.chance(2) {
		b.s = &kir.Var{Name: "s", T: kir.Of(g.state)}
		if scope == kir.Group || g.chance(2) {
			b.s.T = b.s.T.Writable()
		}
		b.f.Params = append(b.f.Params, b.s)
	}
	if scope == kir.Group {
		b.slots = &kir.Var{Name: "slots", T: kir.ArrayOf(kir.U32, 0).Writable()}
		b.mem = &kir.Var{Name: "mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
		b.f.Params = append(b.f.Params, b.slots, b.mem)
	}
	param := func(r role, t kir.Type, out bool) {
		v := &kir.Var{Name: b.name(), T: t, Out: out}
		b.f.Params = append(b.f.Params, v)
		b.vars = append(b.vars, variable{v, r, !out, -1})
	}
	param(vertex, kir.T(kir.U32), false)
	for range g.IntN(3) {
		param(number, kir.T(one(g.Choices, numbers...)), !g.Flat && g.chance(2))
	}
	if g.chance(2) {
		param(set, kir.T(kir.Set), false)
	}
	b.f.Result = kir.T(one(g.Choices, kir.U32, kir.U64, kir.U128, kir.Bool, kir.I64))
	b.sum = &kir.Var{Name: "sum", T: kir.T(kir.U64)}
	b.vars = append(b.vars, variable{b.sum, number, true, -1})
	b.f.Body = []kir.Stmt{&kir.Let{Var: b.sum, Init: kir.C64(kir.U64, 1)}}
	if g.Flat {
		x := b.number(one(g.Choices, numbers...), 4)
		b.f.Body = append(b.f.Body, b.see(x)...)
		b.f.Result = kir.T(kir.U64)
	} else {
		b.f.Body = append(b.f.Body, b.block(0)...)
	}
	b.f.Body = append(b.f.Body, &kir.Return{X: b.result()})
	g.p.Funcs = append(g.p.Funcs, b.f)
	g.funcs = append(g.funcs, &function{b.f, b.cost, b.states})
}

// own gives a function an owner of its own, so that texts have it where it stands.
func (g *gen) own(f *kir.Func) {
	g.p.Owners = append(g.p.Owners, kir.Owner{Family: f.Family, Index: f.Index})
}

func (b *body) result() kir.Expr {
	k := b.f.Result.Kind
	if k == kir.Bool {
		return kir.Op2(kir.Eq, b.boolean(2), kir.Op2(kir.Lt, kir.Op2(kir.BitAnd, kir.R(b.sum), kir.C64(kir.U64, 7)), kir.C64(kir.U64, 4)))
	}
	return kir.Op2(kir.Add, b.number(k, 2), convert(k, kir.R(b.sum)))
}

// see adds x to what the function computes, in most cases.
func (b *body) see(x kir.Expr) []kir.Stmt {
	if b.chance(4) {
		return nil
	}
	switch x.Type().Kind {
	case kir.Bool:
		x = choose(x, kir.C64(kir.U64, 5), kir.C64(kir.U64, 2))
	case kir.F64:
		x = choose(kir.Op2(kir.Lt, x, kir.F(0.5)), kir.C64(kir.U64, 3), kir.C64(kir.U64, 6))
	case kir.Set:
		x = kir.Fn(kir.Size, x)
	}
	return []kir.Stmt{&kir.Assign{To: kir.R(b.sum), X: kir.Op2(kir.Add, kir.Op2(kir.Mul, kir.R(b.sum), kir.C64(kir.U64, 31)), convert(kir.U64, x))}}
}

// block makes statements at a depth of blocks, and forgets their variables.
func (b *body) block(depth int) (out []kir.Stmt) {
	vars := len(b.vars)
	for range 2 + b.IntN(5) {
		if b.left--; b.left < 0 {
			break
		}
		b.cost += b.turns
		out = append(out, b.stmt(depth)...)
	}
	if depth > 0 {
		b.vars = b.vars[:vars]
	}
	return out
}

// stmt makes a statement, with those that it needs.
func (b *body) stmt(depth int) []kir.Stmt {
	kinds := 6
	if b.scope == kir.Group {
		kinds = 11
	}
	if depth < maxBlocks {
		switch b.IntN(5) {
		case 1:
			return b.branch(depth)
		case 2:
			return b.loop(depth)
		case 3:
			if b.chance(2) {
				return b.guarded(depth)
			}
			if b.s != nil {
				return b.changed()
			}
		}
	}
	if depth > 0 && b.chance(10) {
		return []kir.Stmt{&kir.If{Cond: b.boolean(2), Then: []kir.Stmt{&kir.Return{X: b.result()}}}}
	}
	switch b.IntN(kinds) {
	case 0, 1:
		return b.let()
	case 2, 3:
		return b.assign()
	case 4:
		if s := b.invoke(); s != nil {
			return s
		}
	case 5:
		if !b.Tame && depth > 0 && b.chance(4) {
			return []kir.Stmt{&kir.If{Cond: b.boolean(2), Then: []kir.Stmt{&kir.Fail{Code: kir.C(uint32(1 + b.IntN(3)))}}}}
		}
	case 6, 7, 8:
		return b.setOp()
	case 9:
		var row []kir.Expr
		for range 2 {
			row = append(row, convert(kir.U64, b.number(one(b.Choices, kir.U32, kir.U64, kir.I64, kir.U128), deep)))
		}
		return []kir.Stmt{&kir.Emit{Row: row}}
	case 10:
		return b.write()
	}
	return b.let()
}

func (b *body) declare(v *kir.Var, r role, x kir.Expr) []kir.Stmt {
	b.vars = append(b.vars, variable{v, r, false, -1})
	out := append([]kir.Stmt{&kir.Let{Var: v, Init: x}}, b.see(kir.R(v))...)
	if r == number && v.T.Kind != kir.F64 && b.chance(4) {
		out = append(out, &kir.Accumulate{To: kir.R(v), X: b.number(v.T.Kind, 1)})
		out = append(out, b.see(kir.R(v))...)
	}
	return out
}

// let declares a variable.
func (b *body) let() []kir.Stmt {
	v := &kir.Var{Name: b.name()}
	switch b.IntN(5) {
	case 0:
		v.T = kir.T(kir.U32)
		return b.declare(v, vertex, b.vertex(deep))
	case 1:
		v.T = kir.T(kir.Bool)
		return b.declare(v, flag, b.boolean(deep))
	case 2: // a set that no operation writes
		v.T = kir.T(kir.Set)
		return b.declare(v, set, kir.Fn(one(b.Choices, kir.List, kir.Below), kir.G(one(b.Choices, b.adjs...)), b.vertex(2)))
	}
	if b.chance(4) { // what is worth a variable
		v.T = kir.T(kir.U32)
		return b.declare(v, number, kir.Fn(kir.Degree, kir.G(one(b.Choices, b.adjs...)), b.vertex(0)))
	}
	v.T = kir.T(one(b.Choices, numbers...))
	return b.declare(v, number, b.number(v.T.Kind, deep))
}

// assign stores to a variable or field, or adds to it.
func (b *body) assign() []kir.Stmt {
	k := one(b.Choices, numbers...)
	if v := b.pick(number, kir.T(k), true); v != nil && b.chance(2) {
		return b.store(kir.R(v), k)
	}
	if v := b.pick(vertex, kir.T(kir.U32), true); v != nil && b.chance(2) {
		return []kir.Stmt{&kir.Assign{To: kir.R(v), X: b.vertex(2)}}
	}
	if v := b.pick(flag, kir.T(kir.Bool), true); v != nil && b.chance(2) {
		return []kir.Stmt{&kir.Assign{To: kir.R(v), X: b.boolean(2)}}
	}
	if b.s == nil || !b.s.T.Mut {
		return b.let()
	}
	switch b.IntN(6) {
	case 0:
		return []kir.Stmt{&kir.Assign{To: at(b.field("m"), uint32(b.IntN(3))), X: b.vertex(deep)}}
	case 1:
		return b.store(b.field("n"), kir.U32)
	case 2:
		return b.store(b.field("w"), kir.I64)
	case 3:
		return b.store(b.field("t"), kir.U128)
	case 4:
		return []kir.Stmt{&kir.Assign{To: b.field("f"), X: convert(kir.F64, kir.Op2(kir.BitAnd, b.number(kir.U32, 2), kir.C(15)))}}
	}
	to := at(b.field("k"), uint32(b.IntN(2)))
	if b.chance(4) {
		to = kir.Elem{X: b.field("k"), I: kir.Op2(kir.BitAnd, b.number(kir.U32, 1), kir.C(1))}
	}
	return b.store(to, kir.U64)
}

// store writes or adds a number. Fractions stay small.
func (b *body) store(to kir.Expr, k kir.Kind) []kir.Stmt {
	if k == kir.F64 {
		return []kir.Stmt{&kir.Assign{To: to, X: convert(k, kir.Op2(kir.BitAnd, b.number(kir.U32, 2), kir.C(15)))}}
	}
	if b.chance(2) {
		return []kir.Stmt{&kir.Accumulate{To: to, X: b.number(k, 2)}}
	}
	return []kir.Stmt{&kir.Assign{To: to, X: b.number(k, deep)}}
}

// write stores in memory.
func (b *body) write() []kir.Stmt {
	switch b.IntN(3) {
	case 0:
		return []kir.Stmt{&kir.Assign{To: at(kir.Fn(kir.Words, kir.R(b.mem), kir.C(ids), kir.C(words)), uint32(b.IntN(words))), X: b.number(kir.I64, 2)}}
	case 1:
		return []kir.Stmt{&kir.Assign{To: at(kir.Fn(kir.IDs, kir.R(b.mem), kir.C(2), kir.C(4)), uint32(b.IntN(4))), X: b.number(kir.U32, 2)}}
	}
	i := kir.Op2(kir.Mod, b.number(kir.U32, 1), kir.C(ids))
	if b.chance(2) {
		i = kir.C(uint32(b.IntN(2)))
	}
	return b.storeIn(kir.Elem{X: kir.R(b.mem), I: i})
}

func (b *body) storeIn(to kir.Expr) []kir.Stmt {
	if b.chance(2) {
		return []kir.Stmt{&kir.Accumulate{To: to, X: b.number(kir.U32, 2)}}
	}
	return []kir.Stmt{&kir.Assign{To: to, X: b.number(kir.U32, 2)}}
}

// branch makes an If, or one around the access that its condition makes safe.
func (b *body) branch(depth int) []kir.Stmt {
	s := &kir.If{Cond: b.boolean(deep)}
	if b.chance(4) {
		s.Cond = one(b.Choices, kir.True, kir.False)
	}
	s.Then = b.block(depth + 1)
	if b.chance(2) {
		s.Else = b.block(depth + 1)
	}
	if b.chance(6) {
		s.Then = nil
	}
	return []kir.Stmt{s}
}

// changed makes statements that compute something, change what it may have read, and
// compute it again.
func (b *body) changed() []kir.Stmt {
	var x kir.Expr
	switch b.IntN(5) {
	case 0:
		x = at(b.field("k"), uint32(b.IntN(2)))
	case 1:
		x = kir.Fn(kir.Degree, kir.G(one(b.Choices, b.adjs...)), at(b.field("m"), uint32(b.IntN(3))))
	case 2:
		x = kir.Fn(kir.Slice, at(b.field("set"), uint32(b.IntN(2))), at(b.field("m"), uint32(b.IntN(3))), kir.G(b.limits[0]))
	case 3:
		x = kir.Fn(kir.Contains, kir.Fn(kir.List, kir.G(b.adjs[1]), at(b.field("m"), 0)), b.vertex(1))
	default:
		memory := func(i uint32) kir.Expr {
			if v := b.pick(number, kir.T(kir.U32), true); v != nil && b.chance(2) {
				return kir.R(v)
			}
			if b.mem == nil {
				return b.field("n")
			}
			return at(kir.R(b.mem), i)
		}
		x = kir.Fn(kir.Slice, kir.Fn(kir.List, kir.G(b.adjs[0]), b.vertex(0)), kir.Op2(kir.BitAnd, memory(0), kir.C(3)), kir.Op2(kir.BitAnd, memory(1), kir.C(15)))
	}
	out := b.see(x)
	switch b.IntN(6) {
	case 0:
		out = append(out, b.assign()...)
	case 1, 2, 3:
		out = append(out, b.invoke()...)
	case 4:
		if b.scope == kir.Group {
			out = append(out, b.setOp()...)
		}
	default:
		if b.scope == kir.Group {
			out = append(out, b.write()...)
		}
	}
	if b.scope == kir.Group && b.chance(4) {
		i := kir.Op2(kir.BitAnd, b.number(kir.U32, 0), kir.C(1))
		out = append(out, &kir.Assign{To: kir.Elem{X: b.field("k"), I: i}, X: kir.R(b.sum)}, &kir.Assign{To: at(b.field("m"), uint32(b.IntN(3))), X: b.vertex(1)})
	}
	return append(out, b.see(x)...)
}

// guarded makes statements that run only where a number is an index of ids, and use it so.
func (b *body) guarded(depth int) []kir.Stmt {
	v := &kir.Var{Name: "i", T: kir.T(kir.U32)}
	out := []kir.Stmt{&kir.Let{Var: v, Init: kir.Op2(kir.BitAnd, b.number(kir.U32, 2), kir.C(15))}}
	b.vars = append(b.vars, variable{v, number, true, -1})
	inside := kir.Op2(kir.Lt, kir.R(v), kir.C(uint32(len(b.ids.Adj))))
	block := func() []kir.Stmt {
		before := b.index
		b.index = v
		defer func() { b.index = before }()
		return append(b.block(depth+1), b.see(kir.Fn(kir.Degree, kir.G(b.adjs[0]), kir.Elem{X: kir.G(b.ids), I: kir.R(v)}))...)
	}
	element := kir.Elem{X: kir.G(b.ids), I: kir.R(v)}
	switch b.IntN(8) {
	case 1:
		j := &kir.Var{Name: "j", T: kir.T(kir.U32)}
		return append(out, &kir.Loop{I: j, Lo: kir.C(0), Hi: choose(inside, kir.C(2), kir.C(0)), Body: block()})
	case 5: // no turns
		j := &kir.Var{Name: "j", T: kir.T(kir.U32)}
		return append(out, &kir.Loop{I: j, Lo: kir.C(1), Hi: kir.C(1), Body: block()})
	case 6: // behind conditions, twice
		test := kir.Op2(kir.And, inside, kir.Fn(kir.Bit, kir.G(b.bits[0]), element))
		if b.chance(2) {
			test = kir.Op2(kir.Or, kir.NotX(inside), kir.Fn(kir.Bit, kir.G(b.bits[0]), element))
		}
		return append(append(out, b.see(test)...), b.see(test)...)
	case 7:
		x := choose(inside, kir.Fn(kir.Degree, kir.G(b.adjs[1]), element), kir.C(1))
		if b.chance(2) {
			x = choose(kir.NotX(inside), kir.C(1), kir.Fn(kir.Degree, kir.G(b.adjs[1]), element))
		}
		return append(append(out, b.see(x)...), b.see(x)...)
	case 2:
		nothing := kir.Fn(kir.Part, kir.G(b.ids), kir.C(0), kir.C(0))
		over := kir.Fn(kir.List, kir.G(b.adjs[0]), b.vertex(0))
		turns := b.turns
		b.turns *= vertices
		defer func() { b.turns = turns }()
		return append(out, &kir.Each{X: b.element(), Over: choose(inside, over, nothing), Body: block()})
	case 3:
		j := &kir.Var{Name: "j", T: kir.T(kir.U32)}
		body := append([]kir.Stmt{&kir.If{Cond: kir.NotX(inside), Then: []kir.Stmt{&kir.Return{X: b.result()}}}}, block()...)
		return append(out, &kir.Loop{I: j, Lo: kir.C(0), Hi: kir.C(2), Body: body})
	case 4:
		if b.scope == kir.Group {
			x := b.element()
			count := kir.Count{Over: b.set(1), X: x, Keep: b.each(x, func() kir.Expr {
				list := kir.Fn(kir.List, kir.G(b.adjs[0]), kir.Elem{X: kir.G(b.ids), I: kir.R(v)})
				return kir.Op2(kir.And, inside, kir.Fn(kir.Contains, list, kir.R(x)))
			})}
			n := &kir.Var{Name: b.name(), T: kir.T(kir.U32)}
			return append(out, b.declare(n, number, count)...)
		}
	}
	return append(out, &kir.If{Cond: inside, Then: block()})
}

// loop makes a loop over a set or numbers.
func (b *body) loop(depth int) []kir.Stmt {
	around := b.turns
	defer func() { b.turns = around }()
	if b.chance(2) {
		k := one(b.Choices, kir.U32, kir.U64, kir.I64, kir.U128)
		i := &kir.Var{Name: b.name(), T: kir.T(k)}
		lo := kir.C64(k, uint64(b.IntN(3)))
		hi := kir.C64(k, uint64(b.IntN(5)))
		if b.chance(2) {
			hi = convert(k, kir.Op2(kir.BitAnd, b.number(kir.U32, 2), kir.C(3)))
		}
		b.turns *= 4
		return []kir.Stmt{&kir.Loop{I: i, Lo: lo, Hi: hi, Body: b.inside(i, number, depth)}}
	}
	over := b.set(2)
	var mine []int
	kir.WalkExpr(over, func(x kir.Expr) {
		for _, r := range b.regionsOf(x) {
			if !b.locked[r] {
				b.locked[r] = true
				mine = append(mine, r)
			}
		}
	})
	b.turns *= vertices
	x := b.element()
	out := []kir.Stmt{&kir.Each{X: x, Over: over, Body: b.inside(x, vertex, depth)}}
	for _, r := range mine {
		delete(b.locked, r)
	}
	return out
}

// regionsOf are the regions of memory whose sets x itself reads.
func (b *body) regionsOf(x kir.Expr) (out []int) {
	switch x := x.(type) {
	case kir.Ref:
		for i := range b.vars {
			if b.vars[i].Var == x.Var && b.vars[i].region >= 0 {
				out = append(out, b.vars[i].region)
			}
			if b.vars[i].Var == x.Var && b.vars[i].role == set && b.vars[i].region < 0 {
				out = append(out, 0, 1) // a parameter may be one of the state's
			}
		}
	case kir.Field:
		if x.Name == "set" {
			out = append(out, 0, 1)
		}
	}
	return out
}

// inside is the body of a loop with its variable.
func (b *body) inside(x *kir.Var, r role, depth int) []kir.Stmt {
	b.vars = append(b.vars, variable{x, r, true, -1})
	out := b.block(depth + 1)
	b.vars = b.vars[:len(b.vars)-1]
	return out
}

// setOp makes a set in its own memory.
func (b *body) setOp() []kir.Stmt {
	var out []kir.Stmt
	s := &kir.SetOp{Op: one(b.Choices, kir.Intersect, kir.Subtract, kir.Filter)}
	region := -1
	switch b.IntN(3) {
	case 1: // one that is there
		for i := range b.vars {
			if v := &b.vars[i]; v.region >= 0 && !b.locked[v.region] && b.chance(2) {
				region, s.To = v.region, kir.R(v.Var)
			}
		}
	case 2:
		if r := b.IntN(2); !b.locked[r] {
			region, s.To = r, at(b.field("set"), uint32(r))
			b.states = true
		}
	}
	var made *kir.Var
	if region < 0 {
		region = b.regions
		b.regions++
		made = &kir.Var{Name: b.name(), T: kir.T(kir.Set)}
		out = append(out, &kir.Let{Var: made})
		s.To = kir.R(made)
	}
	s.Out = kir.Fn(kir.Room, kir.R(b.slots), kir.C(uint32(region*room)))
	s.A = b.operand(region)
	if s.Op == kir.Filter {
		s.X = b.element()
		s.Keep = b.each(s.X, func() kir.Expr { return b.predicate(region) })
	} else {
		s.B = b.operand(region)
	}
	if made != nil {
		b.vars = append(b.vars, variable{made, set, true, region})
	}
	return append(out, s)
}

// operand is a set that does not lie in a region.
func (b *body) operand(region int) kir.Expr {
	for range 4 {
		if x := b.set(2); !b.lies(x, region) {
			return x
		}
	}
	return kir.Fn(kir.List, kir.G(b.adjs[0]), b.vertex(0))
}

// predicate is a condition that does not read a region, which is being written.
func (b *body) predicate(region int) kir.Expr {
	for range 4 {
		if x := b.boolean(deep); !b.lies(x, region) {
			return x
		}
	}
	return kir.True
}

// lies reports whether x reads sets of a region.
func (b *body) lies(x kir.Expr, region int) (found bool) {
	kir.WalkExpr(x, func(y kir.Expr) {
		for _, r := range b.regionsOf(y) {
			found = found || r == region
		}
	})
	return found
}

// invoke calls a function made before, or returns nil.
func (b *body) invoke() []kir.Stmt {
	var all []*function
	for _, f := range b.funcs {
		if b.cost+b.turns*f.cost < maxCost && (b.scope == kir.Group || f.Scope == kir.Lane) && !(f.states && (b.locked[0] || b.locked[1])) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	f := one(b.Choices, all...)
	call := kir.Invoke{Fn: f.Func}
	taken := map[*kir.Var]bool{}
	vertexTaken := false
	for _, p := range f.Params {
		var x kir.Expr
		switch {
		case p.Out:
			for i := range b.vars {
				if v := &b.vars[i]; v.role == number && v.T == p.T && !v.fixed && !v.Out && !taken[v.Var] {
					x = kir.R(v.Var)
					taken[v.Var] = true
					break
				}
			}
		case p.T.Kind == kir.Rec:
			if b.s != nil && (b.s.T.Mut || !p.T.Mut) {
				x = kir.R(b.s)
			}
		case p.T.Kind == kir.Array && p.Name == "slots":
			x = kir.R(b.slots)
		case p.T.Kind == kir.Array:
			x = kir.R(b.mem)
		case p.T.Kind == kir.Set:
			x = b.set(2)
			if f.states && (b.lies(x, 0) || b.lies(x, 1)) {
				x = kir.Fn(kir.List, kir.G(b.adjs[1]), b.vertex(1))
			}
		case !vertexTaken:
			x = b.vertex(2)
			vertexTaken = true
		default:
			x = b.number(p.T.Kind, 2)
		}
		if x == nil {
			return nil
		}
		call.Args = append(call.Args, x)
	}
	b.cost += b.turns * f.cost
	b.states = b.states || f.states
	if b.chance(3) {
		return []kir.Stmt{&kir.Do{X: call}}
	}
	if to := b.pick(number, f.Result, true); to != nil && !taken[to] && b.chance(3) {
		return []kir.Stmt{&kir.Assign{To: kir.R(to), X: call}}
	}
	v := &kir.Var{Name: b.name(), T: f.Result}
	if f.Result.Kind == kir.Bool {
		if b.chance(2) {
			s := &kir.If{Cond: call, Then: b.block(maxBlocks)}
			if b.chance(3) {
				s.Then = nil
			}
			return []kir.Stmt{s}
		}
		return b.declare(v, flag, call)
	}
	return b.declare(v, number, call)
}

// main calls all functions and emits what they left.
func (g *gen) main() *kir.Func {
	b := &body{gen: g, scope: kir.Group, locked: map[int]bool{}, turns: 1}
	b.s = &kir.Var{Name: "s", T: kir.Of(g.state).Writable()}
	b.slots = &kir.Var{Name: "slots", T: kir.ArrayOf(kir.U32, 0).Writable()}
	b.mem = &kir.Var{Name: "mem", T: kir.ArrayOf(kir.U32, 0).Writable()}
	root := &kir.Var{Name: "root", T: kir.T(kir.U32)}
	b.vars = []variable{{root, vertex, true, -1}}
	f := &kir.Func{Name: "main_of", Index: len(g.funcs), Scope: kir.Group, Params: []*kir.Var{b.s, b.slots, b.mem, root}, Result: kir.T(kir.U64)}
	b.f = f
	g.own(f)
	emit := func(x kir.Expr) {
		row := []kir.Expr{convert(kir.U64, x), kir.C64(kir.U64, 0)}
		switch x.Type().Kind {
		case kir.Bool:
			row[0] = choose(x, kir.C64(kir.U64, 1), kir.C64(kir.U64, 0))
		case kir.U128:
			row[1] = convert(kir.U64, kir.Op2(kir.Div, x, kir.C64(kir.U128, 1<<63)))
		case kir.F64: // a half at least, and not negative
			row[0] = convert(kir.U64, kir.Op2(kir.Mul, kir.F(2), x))
		}
		f.Body = append(f.Body, &kir.Emit{Row: row})
	}
	for _, called := range g.funcs {
		b.call(called.Func, root, emit)
		if g.Flat {
			b.call(called.Func, root, emit)
		}
	}
	for i := range uint32(3) {
		emit(at(b.field("m"), i))
	}
	for i := range uint32(2) {
		emit(at(b.field("k"), i))
		x := b.element()
		f.Body = append(f.Body, &kir.Each{X: x, Over: at(b.field("set"), i), Body: []kir.Stmt{
			&kir.Emit{Row: []kir.Expr{convert(kir.U64, kir.R(x)), kir.C64(kir.U64, 1)}},
		}})
	}
	emit(b.field("n"))
	emit(b.field("w"))
	emit(b.field("t"))
	emit(b.field("f"))
	for i := range uint32(mem) {
		emit(at(kir.R(b.mem), i))
	}
	f.Body = append(f.Body, &kir.Return{X: kir.C64(kir.U64, 0)})
	g.p.Funcs = append(g.p.Funcs, f)
	return f
}

// numbersFrom is the place of a function's first parameter that is a number: a vertex.
func (b *body) numbersFrom(fn *kir.Func) (i int) {
	for fn.Params[i].T.Kind == kir.Rec || fn.Params[i].T.Kind == kir.Array {
		i++
	}
	return i
}

// call calls a function for a vertex and emits its results.
func (b *body) call(fn *kir.Func, root *kir.Var, emit func(kir.Expr)) {
	call := kir.Invoke{Fn: fn}
	var results []*kir.Var
	for _, p := range fn.Params {
		switch {
		case p.Out:
			v := &kir.Var{Name: "out", T: p.T}
			results = append(results, v)
			start := b.constant(p.T.Kind)
			if p.T.Kind == kir.F64 {
				start = kir.F(0.5)
			}
			b.f.Body = append(b.f.Body, &kir.Let{Var: v, Init: start})
			call.Args = append(call.Args, kir.R(v))
		case p.T.Kind == kir.Rec:
			call.Args = append(call.Args, kir.R(b.s))
		case p.T.Kind == kir.Array && p.Name == b.slots.Name:
			call.Args = append(call.Args, kir.R(b.slots))
		case p.T.Kind == kir.Array:
			call.Args = append(call.Args, kir.R(b.mem))
		case p.T.Kind == kir.Set:
			call.Args = append(call.Args, kir.Fn(kir.List, kir.G(b.adjs[0]), kir.R(root)))
		case p == fn.Params[b.numbersFrom(fn)]:
			call.Args = append(call.Args, kir.R(root))
		default:
			call.Args = append(call.Args, b.constant(p.T.Kind))
		}
	}
	r := &kir.Var{Name: "result", T: fn.Result}
	b.f.Body = append(b.f.Body, &kir.Let{Var: r, Init: call})
	for _, v := range append(results, r) {
		emit(kir.R(v))
	}
}
