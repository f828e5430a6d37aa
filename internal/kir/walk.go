package kir

// WalkStmts calls f for each statement, outer ones first.
func WalkStmts(body []Stmt, f func(Stmt)) {
	for _, s := range body {
		f(s)
		for _, b := range Bodies(s) {
			WalkStmts(*b, f)
		}
	}
}

// Bodies are the blocks inside a statement.
func Bodies(s Stmt) []*[]Stmt {
	switch s := s.(type) {
	case *If:
		return []*[]Stmt{&s.Then, &s.Else}
	case *Each:
		return []*[]Stmt{&s.Body}
	case *Loop:
		return []*[]Stmt{&s.Body}
	}
	return nil
}

// Operands returns the expressions of a statement itself, without those of the statements
// inside it.
func Operands(s Stmt) []*Expr {
	switch s := s.(type) {
	case *Let:
		if s.Init == nil {
			return nil
		}
		return []*Expr{&s.Init}
	case *Assign:
		return []*Expr{&s.To, &s.X}
	case *If:
		return []*Expr{&s.Cond}
	case *Each:
		return []*Expr{&s.Over}
	case *Loop:
		return []*Expr{&s.Lo, &s.Hi}
	case *SetOp:
		out := []*Expr{&s.To, &s.Out}
		switch s.Op {
		case Filter:
			return append(out, &s.A, &s.Keep)
		case Merge:
			for i := range s.Pieces {
				p := &s.Pieces[i]
				if out = append(out, &p.Run); p.Gone != nil {
					out = append(out, &p.Gone)
				}
			}
			return out
		}
		return append(out, &s.A, &s.B)
	case *Accumulate:
		return []*Expr{&s.To, &s.X}
	case *Emit:
		out := make([]*Expr, len(s.Row))
		for i := range s.Row {
			out[i] = &s.Row[i]
		}
		return out
	case *Fail:
		return []*Expr{&s.Code}
	case *Do:
		return []*Expr{&s.X}
	case *Return:
		if s.X == nil {
			return nil
		}
		return []*Expr{&s.X}
	}
	return nil
}

// StmtExprs calls f for every expression of a statement itself and for all that
// they are made of.
func StmtExprs(s Stmt, f func(Expr)) {
	for _, x := range Operands(s) {
		WalkExpr(*x, f)
	}
}

// WalkExpr calls f for x and all that it is made of, outer ones first.
func WalkExpr(x Expr, f func(Expr)) {
	f(x)
	for _, y := range parts(x) {
		WalkExpr(y, f)
	}
}

func parts(x Expr) []Expr {
	switch x := x.(type) {
	case Field:
		return []Expr{x.X}
	case Elem:
		return []Expr{x.X, x.I}
	case Unary:
		return []Expr{x.X}
	case Binary:
		return []Expr{x.X, x.Y}
	case Select:
		return []Expr{x.If, x.Then, x.Else}
	case Convert:
		return []Expr{x.X}
	case Call:
		return x.Args
	case Invoke:
		return x.Args
	case Count:
		return []Expr{x.Over, x.Keep}
	case Sum:
		return []Expr{x.Over, x.Value}
	}
	return nil
}

// MapExpr rebuilds x bottom up, with f applied to each expression after its
// parts.
func MapExpr(x Expr, f func(Expr) Expr) Expr {
	return f(mapParts(x, func(y Expr) Expr { return MapExpr(y, f) }))
}

// mapParts rebuilds x with f applied to its direct parts.
func mapParts(x Expr, f func(Expr) Expr) Expr {
	switch y := x.(type) {
	case Field:
		y.X = f(y.X)
		return y
	case Elem:
		y.X, y.I = f(y.X), f(y.I)
		return y
	case Unary:
		y.X = f(y.X)
		return y
	case Binary:
		y.X, y.Y = f(y.X), f(y.Y)
		return y
	case Select:
		y.If, y.Then, y.Else = f(y.If), f(y.Then), f(y.Else)
		return y
	case Convert:
		y.X = f(y.X)
		return y
	case Call:
		y.Args = mapAll(y.Args, f)
		return y
	case Invoke:
		y.Args = mapAll(y.Args, f)
		return y
	case Count:
		y.Over, y.Keep = f(y.Over), f(y.Keep)
		return y
	case Sum:
		y.Over, y.Value = f(y.Over), f(y.Value)
		return y
	}
	return x
}

func mapAll(xs []Expr, f func(Expr) Expr) []Expr {
	out := make([]Expr, len(xs))
	for i, x := range xs {
		out[i] = f(x)
	}
	return out
}
