package kir

// Dead drops variables that nothing reads. Globals stay: their places in the
// struct of globals are known outside.
func Dead(p *Program) {
	for _, f := range p.Funcs {
		for dropUnread(f) {
		}
	}
}

// dropUnread drops declarations and assignments of variables that are never
// read, and reports whether there were any.
func dropUnread(f *Func) bool {
	read := map[*Var]bool{}
	for _, v := range f.Params {
		read[v] = true
	}
	WalkStmts(f.Body, func(s Stmt) {
		for i, x := range Operands(s) {
			if _, ok := (*x).(Ref); ok && i == 0 && writes(s) {
				continue // assigned, not read
			}
			WalkExpr(*x, func(y Expr) {
				if r, ok := y.(Ref); ok {
					read[r.Var] = true
				}
			})
		}
	})
	unread := func(x Expr) bool {
		r, ok := x.(Ref)
		return ok && !read[r.Var]
	}
	changed := false
	var clean func(body []Stmt) []Stmt
	clean = func(body []Stmt) []Stmt {
		var out []Stmt
		for _, s := range body {
			for _, b := range Bodies(s) {
				*b = clean(*b)
			}
			var effect Expr // the effect of a dropped expression
			gone := false
			switch s := s.(type) {
			case *Let:
				gone, effect = !read[s.Var], s.Init
			case *Assign:
				gone, effect = unread(s.To), s.X
			case *Accumulate:
				gone, effect = unread(s.To), s.X
			case *SetOp:
				gone = unread(s.To)
			case *If:
				gone, effect = len(s.Then)+len(s.Else) == 0, s.Cond
			}
			changed = changed || gone
			switch {
			case gone && effect != nil && effects(effect):
				out = append(out, &Do{X: effect})
				continue
			case gone:
				continue
			}
			out = append(out, s)
		}
		return out
	}
	f.Body = clean(f.Body)
	return changed
}

// writes reports whether a statement's first operand is where it stores.
func writes(s Stmt) bool {
	switch s.(type) {
	case *Assign, *Accumulate, *SetOp:
		return true
	}
	return false
}
