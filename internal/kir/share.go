package kir

// Share computes an expression once if it is needed several times and is worth a variable. It
// is computed where it is first certain to be needed. The values that it reads must not change
// in between.
func Share(p *Program) {
	for _, f := range p.Funcs {
		s := &sharer{f: f, keys: keys{}, assigned: newChanges().add(nil)}
		s.note(f.Body)
		f.Body = s.block(f.Body)
	}
}

type sharer struct {
	f        *Func
	keys     keys
	assigned *changes // changes of the function after the variable's declaration
}

// note gathers the variables that are assigned.
func (s *sharer) note(body []Stmt) {
	s.assigned.add(body)
	WalkStmts(body, func(st Stmt) {
		if l, ok := st.(*Let); ok {
			delete(s.assigned.vars, l.Var)
		}
	})
	WalkStmts(body, func(st Stmt) {
		if writes(st) {
			s.assigned.target(*Operands(st)[0])
		}
	})
}

func (s *sharer) block(body []Stmt) []Stmt {
	for i := 0; i < len(body); i++ {
		if let := s.first(body[i:]); let != nil {
			body = append(body[:i:i], append([]Stmt{let}, body[i:]...)...)
			i-- // the variable's value, and then the statement, may have more
			continue
		}
		for _, b := range Bodies(body[i]) {
			*b = s.block(*b)
		}
	}
	return body
}

// first finds an expression of the first statement that is needed again, and gives it a
// variable. That is a new variable, whose declaration it returns, or the one that the statement
// declares.
func (s *sharer) first(rest []Stmt) (let Stmt) {
	var found Expr
	done := map[string]bool{}
	evaluated(rest[0], func(x Expr) {
		if found != nil || !worth(x) {
			return
		}
		key := s.keys.of(x)
		if done[key] {
			return
		}
		done[key] = true
		own, isLet := rest[0].(*Let)
		if isLet && own.Init != nil && s.keys.of(own.Init) == key && !s.assigned.vars[own.Var] {
			s.use(x, key, R(own.Var), rest[1:])
			return
		}
		if s.count(x, key, rest) > 1 {
			found = x
		}
	})
	if found == nil {
		return nil
	}
	v := &Var{Name: nameOf(found), T: found.Type()}
	s.use(found, s.keys.of(found), R(v), rest)
	return &Let{Var: v, Init: found}
}

// count is how often an expression occurs before its value may change.
func (s *sharer) count(x Expr, key string, rest []Stmt) (n int) {
	s.each(x, rest, func(y *Expr) {
		WalkExpr(*y, func(z Expr) {
			if s.keys.of(z) == key {
				n++
			}
		})
	})
	return n
}

// use puts v for an expression until its value may change.
func (s *sharer) use(x Expr, key string, v Expr, rest []Stmt) {
	s.each(x, rest, func(y *Expr) { *y = s.keys.replace(*y, key, v) })
}

// each calls f for the operands in which x has the value that it has before the
// first statement.
func (s *sharer) each(x Expr, rest []Stmt, f func(*Expr)) {
	for _, st := range rest {
		touched := newChanges().add([]Stmt{st}).touch(x)
		s.operands(st, touched, f)
		if touched {
			return
		}
		for _, b := range Bodies(st) {
			s.each(x, *b, f)
		}
	}
}

// operands calls f for the operands of st itself. These are evaluated before the statement
// changes anything. It calls f for predicates only if the statement does not change the values
// that x reads.
func (s *sharer) operands(st Stmt, touched bool, f func(*Expr)) {
	for i, x := range Operands(st) {
		op, filter := st.(*SetOp)
		switch {
		case i == 0 && writes(st):
			if _, ok := (*x).(Ref); !ok {
				*x = mapParts(*x, func(y Expr) Expr { f(&y); return y })
			}
		case filter && x == &op.Keep && touched:
		default:
			f(x)
		}
	}
}
