package kir

import "math"

// Fold evaluates constant expressions, and removes code that they make unreachable.
func Fold(p *Program) {
	for _, f := range p.Funcs {
		f.Body = foldBlock(f.Body)
	}
}

func foldBlock(body []Stmt) []Stmt {
	var out []Stmt
	for _, s := range body {
		for _, x := range Operands(s) {
			*x = MapExpr(*x, foldExpr)
		}
		for _, b := range Bodies(s) {
			*b = foldBlock(*b)
		}
		switch s := s.(type) {
		case *If:
			if c, ok := s.Cond.(Const); ok {
				side := s.Then
				if c.Bits == 0 {
					side = s.Else
				}
				out = append(out, side...)
				if returns(side) {
					return out
				}
				continue
			}
			if len(s.Then) == 0 {
				s.Cond, s.Then, s.Else = foldExpr(NotX(s.Cond)), s.Else, nil
			}
			if len(s.Then) == 0 && !effects(s.Cond) {
				continue
			}
		case *Loop:
			lo, ok1 := s.Lo.(Const)
			hi, ok2 := s.Hi.(Const)
			if ok1 && ok2 && compare(s.I.T.Kind, lo.Bits, hi.Bits) >= 0 {
				continue
			}
		}
		out = append(out, s)
		if returns(out) {
			break
		}
	}
	return out
}

// effects reports whether evaluating x may do something.
func effects(x Expr) bool {
	found := false
	WalkExpr(x, func(y Expr) {
		if c, ok := y.(Invoke); ok {
			for _, v := range c.Fn.Params {
				found = found || v.Out || v.T.Mut
			}
			found = found || hands(c.Fn)
		}
	})
	return found
}

// hands reports whether f, or a function that it calls, emits or fails.
func hands(f *Func) bool {
	found := false
	WalkStmts(f.Body, func(s Stmt) {
		switch s.(type) {
		case *Emit, *Fail:
			found = true
		}
		StmtExprs(s, func(x Expr) {
			if c, ok := x.(Invoke); ok && !found {
				found = hands(c.Fn)
			}
		})
	})
	return found
}

// foldExpr simplifies x, whose parts are simple already.
func foldExpr(x Expr) Expr {
	switch x := x.(type) {
	case Unary:
		return foldUnary(x)
	case Binary:
		return foldBinary(x)
	case Select:
		if c, ok := x.If.(Const); ok {
			if c.Bits != 0 {
				return x.Then
			}
			return x.Else
		}
	case Convert:
		c, ok := x.X.(Const)
		from := x.X.Type()
		switch {
		case from == x.T:
			return x.X
		case ok && from.Kind != F64 && x.T.Kind != F64 && !(from.Kind == I64 && int64(c.Bits) < 0):
			if x.T.Kind == U32 {
				c.Bits = uint64(uint32(c.Bits))
			}
			return Const{x.T, c.Bits}
		}
	case Call:
		return foldCall(x)
	}
	return x
}

func foldUnary(x Unary) Expr {
	if x.Op != Not {
		if c, ok := x.X.(Const); ok && c.T.Kind == I64 {
			return Const{c.T, -c.Bits}
		}
		return x
	}
	switch y := x.X.(type) {
	case Const:
		return Const{y.T, 1 - y.Bits}
	case Unary:
		if y.Op == Not {
			return y.X
		}
	case Binary:
		if o, ok := opposite[y.Op]; ok && (o == Eq || o == Ne || y.X.Type().Kind != F64) {
			return Binary{o, y.X, y.Y}
		}
	}
	return x
}

// opposite operators; of floating-point numbers only (in)equality has one, for
// NaN is neither below, nor above, nor equal.
var opposite = map[Op]Op{Eq: Ne, Ne: Eq, Lt: Ge, Ge: Lt, Gt: Le, Le: Gt}

func foldBinary(x Binary) Expr {
	a, aok := x.X.(Const)
	b, bok := x.Y.(Const)
	switch {
	case x.Op == And || x.Op == Or:
		// With one side known the result is it, or the other side.
		stop := uint64(0)
		if x.Op == Or {
			stop = 1
		}
		switch {
		case aok && a.Bits == stop, bok && b.Bits == stop && !effects(x.X):
			return Const{T(Bool), stop}
		case aok:
			return x.Y
		case bok && b.Bits != stop:
			return x.X
		}
		return x
	case aok && bok:
		if c, ok := evaluate(x.Op, a, b); ok {
			return c
		}
		return x
	}
	if x.X.Type().Kind == F64 {
		return x // 0 · NaN is not 0
	}
	switch {
	case bok && b.Bits == 0 && (x.Op == Add || x.Op == Sub || x.Op == BitOr || x.Op == Shl || x.Op == Shr),
		bok && b.Bits == 1 && (x.Op == Mul || x.Op == Div):
		return x.X
	case aok && a.Bits == 0 && (x.Op == Add || x.Op == BitOr),
		aok && a.Bits == 1 && x.Op == Mul:
		return x.Y
	case aok && a.Bits == 0 && (x.Op == Mul || x.Op == BitAnd) && !effects(x.Y):
		return a
	case bok && b.Bits == 0 && (x.Op == Mul || x.Op == BitAnd) && !effects(x.X):
		return b
	}
	return x
}

// evaluate computes an operator on constants; ok is false for those that are
// left to the run.
func evaluate(op Op, a, b Const) (c Const, ok bool) {
	if a.T.Kind == F64 || a.T.Kind == U128 {
		return c, false
	}
	if op.comparison() {
		r := compare(a.T.Kind, a.Bits, b.Bits)
		holds := map[Op]bool{Eq: r == 0, Ne: r != 0, Lt: r < 0, Le: r <= 0, Gt: r > 0, Ge: r >= 0}[op]
		c.T = T(Bool)
		if holds {
			c.Bits = 1
		}
		return c, true
	}
	c.T = a.T
	switch op {
	case Add:
		c.Bits = a.Bits + b.Bits
	case Sub:
		c.Bits = a.Bits - b.Bits
	case Mul:
		c.Bits = a.Bits * b.Bits
	case BitAnd:
		c.Bits = a.Bits & b.Bits
	case BitOr:
		c.Bits = a.Bits | b.Bits
	case Min, Max:
		c.Bits = a.Bits
		if compare(a.T.Kind, a.Bits, b.Bits) > 0 == (op == Min) {
			c.Bits = b.Bits
		}
	default:
		return c, false
	}
	if c.T.Kind == U32 {
		c.Bits &= math.MaxUint32
	}
	return c, true
}

// compare orders two whole numbers of a kind.
func compare(k Kind, a, b uint64) int {
	if k == I64 {
		a, b = a^1<<63, b^1<<63
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func foldCall(x Call) Expr {
	number := func(i int) (uint64, bool) {
		c, ok := x.Args[i].(Const)
		return c.Bits, ok
	}
	switch x.Fn {
	case Slice:
		lo, ok1 := number(1)
		hi, ok2 := number(2)
		if ok1 && ok2 && lo == 0 && hi == math.MaxUint32 {
			return x.Args[0]
		}
	case Room:
		if n, ok := number(1); ok && n == 0 {
			return x.Args[0]
		}
	}
	return x
}
