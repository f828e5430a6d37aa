package kir

// Hoist moves invariant expressions that are worth a variable out of loops and predicates.
//
// From a loop it takes an expression only if every turn evaluates it. From a predicate it also
// takes one after && or ||, which choose among elements. A moved expression must be certain to
// have a value even without turns and elements. Other expressions leave only a loop that is
// known to have a turn.
func Hoist(p *Program) {
	for _, f := range p.Funcs {
		h := &hoister{keys: keys{}}
		f.Body = h.block(f.Body)
	}
}

type hoister struct{ keys keys }

func (h *hoister) block(body []Stmt) []Stmt {
	var out []Stmt
	for _, s := range body {
		for _, b := range Bodies(s) {
			*b = h.block(*b)
		}
		switch s := s.(type) {
		case *Each:
			out = append(out, h.loop(s.X, &s.Body, false)...)
		case *Loop:
			out = append(out, h.loop(s.I, &s.Body, turns(s))...)
		}
		out = append(out, h.predicates(s)...)
		out = append(out, s)
	}
	return out
}

// turns reports whether a loop is known to have a turn.
func turns(s *Loop) bool {
	lo, ok1 := s.Lo.(Const)
	hi, ok2 := s.Hi.(Const)
	return ok1 && ok2 && compare(s.I.T.Kind, lo.Bits, hi.Bits) < 0
}

// loop takes invariant expressions out of a loop's body. turns says that the loop has at least
// one turn.
func (h *hoister) loop(v *Var, body *[]Stmt, turns bool) (out []Stmt) {
	changed := newChanges().add(*body)
	changed.vars[v] = true
	var kept []Stmt
	reached := turns // every turn comes to s, and there is one
	for _, s := range *body {
		let, ok := s.(*Let)
		if ok && let.Init != nil && worth(let.Init) && (reached || certain(let.Init)) && !changed.touch(let.Init) && !assignedIn(*body, let.Var) {
			out = append(out, let)
			delete(changed.vars, let.Var)
			continue
		}
		kept = append(kept, s)
		reached = reached && !mayLeave(s)
	}
	*body = kept
	for again := true; again; {
		again = false
		var found Expr
		for _, s := range *body {
			evaluated(s, func(x Expr) {
				if found == nil && worth(x) && (turns || certain(x)) && !changed.touch(x) {
					found = x
				}
			})
			if found != nil || mayLeave(s) {
				break // not every turn evaluates the statements that follow
			}
		}
		if found != nil {
			out = append(out, h.name(found, func(key string, v Expr) {
				h.replaceIn(*body, key, v)
			}))
			again = true
		}
	}
	return out
}

// assignedIn reports whether a variable changes after its declaration.
func assignedIn(body []Stmt, v *Var) bool {
	n := 0
	WalkStmts(body, func(s Stmt) {
		if _, ok := s.(*Let); !ok && newChanges().add([]Stmt{s}).vars[v] {
			n++
		}
	})
	return n > 0
}

// mayLeave reports whether a statement can leave the function.
func mayLeave(s Stmt) bool {
	found := false
	WalkStmts([]Stmt{s}, func(s Stmt) {
		_, ok := s.(*Return)
		found = found || ok
	})
	return found
}

// predicates takes invariant expressions out of the predicates of a statement.
func (h *hoister) predicates(s Stmt) (out []Stmt) {
	changed := newChanges().add([]Stmt{s})
	if op, ok := s.(*SetOp); ok && op.Op == Filter {
		delete(changed.vars, op.X)
		h.predicate(op.X, op.Keep, changed, func(key string, v Expr) {
			op.Keep = h.keys.replace(op.Keep, key, v)
		}, &out)
	}
	evaluated(s, func(x Expr) {
		if c, ok := x.(Count); ok {
			h.predicate(c.X, c.Keep, newChanges(), func(key string, v Expr) {
				for _, y := range Operands(s) {
					*y = h.keys.replace(*y, key, v)
				}
			}, &out)
		}
	})
	return out
}

func (h *hoister) predicate(x *Var, keep Expr, changed *changes, use func(string, Expr), out *[]Stmt) {
	changed.vars[x] = true
	var visit func(y Expr)
	visit = func(y Expr) {
		if worth(y) && certain(y) && !changed.touch(y) {
			*out = append(*out, h.name(y, use))
			return
		}
		if s, ok := y.(Select); ok {
			visit(s.If)
			return
		}
		for _, z := range parts(y) {
			visit(z)
		}
	}
	seen := map[string]bool{}
	inner := visit
	visit = func(y Expr) {
		if k := h.keys.of(y); !seen[k] {
			seen[k] = true
			inner(y)
		}
	}
	visit(keep)
}

// name declares a variable for x and puts it where x was.
func (h *hoister) name(x Expr, use func(key string, v Expr)) Stmt {
	v := &Var{Name: nameOf(x), T: x.Type()}
	use(h.keys.of(x), R(v))
	return &Let{Var: v, Init: x}
}

// replaceIn puts v for an expression everywhere in statements, but where it is
// assigned.
func (h *hoister) replaceIn(body []Stmt, key string, v Expr) {
	WalkStmts(body, func(s Stmt) {
		for i, x := range Operands(s) {
			if i == 0 && writes(s) {
				*x = mapParts(*x, func(y Expr) Expr { return h.keys.replace(y, key, v) })
				continue
			}
			*x = h.keys.replace(*x, key, v)
		}
	})
}
