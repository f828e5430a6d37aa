package kir

// Assert makes p a debug build. Every access to an array, a set, a list or a column that is
// outside of its memory fails with the code that p.Places has for the statement, and is left
// out. otherwise is the code if p.Places has none. outside gives the lengths of array
// parameters of functions that are called from outside; other functions get the lengths of
// their arrays as parameters.
//
// Run it after all other passes, because it asserts the accesses that are in the program then.
func Assert(p *Program, outside map[*Var]Expr, otherwise uint32) {
	a := &asserter{p: p, outside: outside, lengths: map[*Var]Expr{}, added: map[*Func][]int{}, code: otherwise}
	for _, f := range p.Funcs {
		if !f.Indivisible { // its callers assert what it accesses
			a.function(f, otherwise)
		}
	}
	p.Funcs = append([]*Func{within, fits64}, p.Funcs...)
	for _, o := range p.Owners {
		if o.Family == "" {
			return
		}
	}
	p.Owners = append([]Owner{{}}, p.Owners...)
}

type asserter struct {
	p       *Program
	outside map[*Var]Expr
	lengths map[*Var]Expr   // of arrays
	added   map[*Func][]int // the array parameters whose lengths are parameters too
	code    uint32          // of the statement
}

// function rewrites f, whose callees have been.
func (a *asserter) function(f *Func, otherwise uint32) {
	var more []*Var
	for i, v := range f.Params {
		if v.T.Kind != Array || v.T.Len > 0 {
			continue
		}
		if n, ok := a.outside[v]; ok {
			a.lengths[v] = n
			continue
		}
		n := &Var{Name: v.Name + "_n", T: T(U64)}
		a.lengths[v] = R(n)
		a.added[f] = append(a.added[f], i)
		more = append(more, n)
	}
	f.Params = append(f.Params, more...)
	a.code = otherwise
	f.Body = a.block(f.Body)
}

func (a *asserter) block(body []Stmt) (out []Stmt) {
	for _, s := range body {
		if code, ok := a.p.Places[s]; ok {
			a.code = code
		}
		code, bodies := a.code, Bodies(s)
		s, guard := a.stmt(s)
		for _, b := range bodies {
			*b = a.block(*b)
			a.code = code
		}
		if guard != nil {
			s = &If{Cond: guard, Then: []Stmt{s}}
		}
		out = append(out, s)
	}
	return out
}

// stmt rewrites the operands of s; guard, if it is not nil, must hold where s runs.
func (a *asserter) stmt(s Stmt) (_ Stmt, guard Expr) {
	for i, x := range Operands(s) {
		to, elem := (*x).(Elem)
		if i > 0 || !writes(s) || !elem {
			*x = a.expr(*x)
			continue
		}
		to.X, to.I = a.expr(to.X), a.expr(to.I)
		*x = to
		guard = a.inside(to.I, a.length(to.X))
	}
	switch s := s.(type) {
	case *Let:
		if s.Var.T.Kind == Array && s.Var.T.Len == 0 && s.Init != nil {
			a.lengths[s.Var] = a.length(s.Init)
		}
	case *SetOp:
		need := s.room()
		room := a.fits(need, a.length(s.Out))
		if room == nil {
			break
		}
		return &If{Cond: room, Then: []Stmt{s}, Else: []Stmt{&Assign{To: s.To, X: Fn(Part, s.Out, C(0), C(0))}}}, guard
	}
	return s, guard
}

// room is the most elements that s makes.
func (s *SetOp) room() Expr {
	switch s.Op {
	case Intersect:
		return Op2(Min, Fn(Size, s.A), Fn(Size, s.B))
	case Merge:
		var n Expr
		for _, p := range s.Pieces {
			size := Fn(Size, p.Run)
			if p.Gone != nil {
				size = Op2(Sub, size, Fn(Size, p.Gone))
			}
			if n == nil {
				n = size
			} else {
				n = Op2(Add, n, size)
			}
		}
		return n
	}
	return Fn(Size, s.A)
}

// expr asserts the accesses of x, inner ones first.
func (a *asserter) expr(x Expr) Expr {
	return MapExpr(x, func(x Expr) Expr {
		switch x := x.(type) {
		case Elem:
			return guarded(a.inside(x.I, a.length(x.X)), x)
		case Invoke:
			if x.Fn.Indivisible {
				return guarded(a.inside(x.Args[1], a.length(x.Args[0])), x)
			}
			args := x.Args[:len(x.Args):len(x.Args)]
			for _, i := range a.added[x.Fn] {
				args = append(args, wide(a.length(x.Args[i])))
			}
			x.Args = args
			return x
		case Call:
			return a.call(x)
		}
		return x
	})
}

// guarded is x where cond holds, else 0.
func guarded(cond, x Expr) Expr {
	if cond == nil {
		return x
	}
	return Select{If: cond, Then: x, Else: Const{T: x.Type()}}
}

func (a *asserter) call(x Call) Expr {
	global := func() *GlobalDef {
		g, _ := x.Args[0].(Global)
		return g.G
	}
	vertex := func(i int) {
		// Another vertex's list is read in its place, which there must be.
		if in := a.inside(x.Args[i], C64(U64, uint64(global().Vertices()))); in != nil {
			x.Args = append([]Expr(nil), x.Args...)
			x.Args[i] = Select{If: in, Then: x.Args[i], Else: C(0)}
		}
	}
	rows := func(n int) Expr { return a.inside(x.Args[1], C64(U64, uint64(n))) }
	switch x.Fn {
	case List, Below, Above, Degree, EdgeFirst, EdgeEnd:
		vertex(1)
	case Adjacent:
		vertex(2)
	case EdgeTarget:
		return guarded(rows(len(global().Adj)), x)
	case Bit, BitAt:
		return guarded(rows(64*len(global().Words)), x)
	case CellInt, CellFloat:
		return guarded(rows(len(global().Words)), x)
	case HasCell:
		if g := global(); g.Valid != nil {
			return guarded(rows(64*len(g.Valid)), x)
		}
	case Item:
		return guarded(a.inside(x.Args[1], Fn(Size, x.Args[0])), x)
	case Part:
		in := a.fits(Op2(Add, wide(x.Args[1]), wide(x.Args[2])), a.length(x.Args[0]))
		if in != nil {
			zero := func(y Expr) Expr { return Select{If: in, Then: y, Else: C(0)} }
			return Fn(Part, x.Args[0], zero(x.Args[1]), zero(x.Args[2]))
		}
	}
	return x
}

// length is the number of elements of an array. A view that does not lie in its
// memory has none.
func (a *asserter) length(x Expr) Expr {
	switch x := x.(type) {
	case Ref:
		if n := a.lengths[x.Var]; n != nil {
			return n
		}
	case Global:
		return C64(U64, uint64(len(x.G.Adj)))
	case Call:
		at, whole := wide(x.Args[1]), wide(a.length(x.Args[0]))
		size := Op2(Sub, whole, at)
		if x.Fn == Room {
			return foldExpr(Select{If: foldExpr(Op2(Le, at, whole)), Then: foldExpr(size), Else: C64(U64, 0)})
		}
		n := wide(x.Args[2])
		bytes := n
		if x.Fn != IDs {
			bytes = foldExpr(Op2(Mul, n, C64(U64, 2)))
		}
		return foldExpr(Select{If: foldExpr(Op2(Le, foldExpr(Op2(Add, at, bytes)), whole)), Then: n, Else: C64(U64, 0)})
	}
	return C64(U64, uint64(x.Type().Len))
}

// wide is a number as a u64.
func wide(x Expr) Expr { return foldExpr(Convert{T: T(U64), X: x}) }

// inside is the question whether i is below n, which fails where it is not; nil
// where that is known.
func (a *asserter) inside(i, n Expr) Expr { return a.ask(within, Lt, i, n) }

// fits is the question whether need is at most n.
func (a *asserter) fits(need, n Expr) Expr { return a.ask(fits64, Le, need, n) }

func (a *asserter) ask(f *Func, op Op, x, n Expr) Expr {
	x, n = wide(x), wide(n)
	if c, ok := foldExpr(Op2(op, x, n)).(Const); ok && c.Bits != 0 {
		return nil
	}
	return Invoke{Fn: f, Args: []Expr{x, n, C(a.code)}}
}

// within and fits64 are the functions that fail.
var (
	within = question("within", "Whether i is the number of one of n elements.", Lt)
	fits64 = question("fits", "Whether i elements are at most n.", Le)
)

func question(name, doc string, op Op) *Func {
	i, n, code := &Var{Name: "i", T: T(U64)}, &Var{Name: "n", T: T(U64)}, &Var{Name: "code", T: T(U32)}
	return &Func{
		Name: name, Doc: doc, Params: []*Var{i, n, code}, Result: T(Bool),
		Body: []Stmt{
			&If{Cond: Op2(op, R(i), R(n)), Then: []Stmt{&Return{X: True}}},
			&Fail{Code: R(code)},
			&Return{X: False},
		},
	}
}
