// Package steal chooses the inner loops whose iterations workers steal from each other. Without
// it, one heavy item could keep one worker busy alone.
//
// A thief receives a path, which is the iteration of each loop around the stolen one, and
// computes the sets on that path again. The idea is STMatch's (§1.5.1).
package steal

import "github.com/weftgraph/weft/internal/kir"

// maxLevels is how deep loops of an item are shared: STMatch's StopLevel. Turns
// further in are too little work to be worth a theft.
const maxLevels = 2

// Loop is a loop over a set whose turns are shared.
type Loop struct {
	Level  int // from 1 on: one more than that of the shared loop around it
	Number int // of the function's
}

// Loops chooses the shared loops of the function of an item. If there are any, f gets a new last parameter, a
// U32. It is 0 for a worker that does a whole item. For a worker with stolen turns it is the level of the
// loop; this worker leaves out the code around the loop, and other shared loops of that level. With every,
// all loops that can be shared are; otherwise the heaviest of each level. Functions that f calls must not
// emit, and f must not return early.
func Loops(f *kir.Func, every bool) map[*kir.Each]Loop {
	forward(f)
	s := &sharer{loops: map[*kir.Each]Loop{}, every: every, stolen: &kir.Var{Name: "stolen", T: kir.T(kir.U32)}}
	f.Body = s.level(f.Body, 1)
	if len(s.loops) > 0 {
		f.Params = append(f.Params, s.stolen)
	}
	return s.loops
}

type sharer struct {
	loops  map[*kir.Each]Loop
	every  bool
	stolen *kir.Var
}

// level shares loops of a body, and what is in them.
func (s *sharer) level(body []kir.Stmt, level int) []kir.Stmt {
	if level > maxLevels {
		return body
	}
	var chosen []*kir.Each
	heaviest := 0
	candidates(body, func(e *kir.Each) {
		switch w := work(e.Body); {
		case w == 0 || !separate(e):
		case s.every:
			chosen = append(chosen, e)
		case w > heaviest:
			chosen, heaviest = []*kir.Each{e}, w
		}
	})
	if len(chosen) == 0 {
		return body
	}
	for _, e := range chosen {
		s.loops[e] = Loop{Level: level, Number: len(s.loops)}
	}
	body = s.guard(body, level-1)
	for _, e := range chosen {
		e.Body = s.level(e.Body, level+1)
	}
	return body
}

// candidates are the loops over sets that a body runs at most once.
func candidates(body []kir.Stmt, f func(*kir.Each)) {
	for _, st := range body {
		switch st := st.(type) {
		case *kir.Each:
			if st.Over.Type().Kind == kir.Set {
				f(st)
			}
		case *kir.If:
			candidates(st.Then, f)
			candidates(st.Else, f)
		}
	}
}

// work is about how much the turns of a loop are worth stealing: loops and set
// operations in its body, the further in the more.
func work(body []kir.Stmt) (n int) {
	for _, st := range body {
		inner := 0
		for _, b := range kir.Bodies(st) {
			inner += work(*b)
		}
		switch st.(type) {
		case *kir.SetOp:
			n++
		case *kir.Each, *kir.Loop:
			inner = 2*inner + 1
		}
		n += inner
		kir.StmtExprs(st, func(x kir.Expr) {
			switch x := x.(type) {
			case kir.Count, kir.Sum:
				n++
			case kir.Call:
				if x.Fn.Group {
					n++
				}
			}
		})
	}
	return n
}

// separate reports whether the turns of a loop can be split between groups: it
// changes nothing that is declared outside but the worker's sums.
func separate(e *kir.Each) bool { return onlyAdds([]kir.Stmt{e}) }

// onlyAdds reports whether all that statements leave behind is in the worker's
// sums and in what they emit.
func onlyAdds(body []kir.Stmt) bool {
	own := map[*kir.Var]bool{}
	kir.WalkStmts(body, func(st kir.Stmt) {
		switch st := st.(type) {
		case *kir.Let:
			own[st.Var] = true
		case *kir.Each:
			own[st.X] = true
		case *kir.Loop:
			own[st.I] = true
		}
	})
	ok := true
	target := func(to kir.Expr) {
		if sums(to) {
			return
		}
		kir.WalkExpr(to, func(x kir.Expr) {
			if r, is := x.(kir.Ref); is && !own[r.Var] {
				ok = false
			}
		})
	}
	kir.WalkStmts(body, func(st kir.Stmt) {
		switch st := st.(type) {
		case *kir.Let, *kir.If, *kir.Each, *kir.Loop, *kir.Emit, *kir.Fail, *kir.Comment:
		case *kir.Assign:
			target(st.To)
		case *kir.Accumulate:
			target(st.To)
		case *kir.SetOp:
			target(st.To)
		default:
			ok = false
		}
		kir.StmtExprs(st, func(x kir.Expr) {
			if call, is := x.(kir.Invoke); is {
				for i, v := range call.Fn.Params {
					if v.T.Mut || v.Out {
						target(call.Args[i])
					}
				}
			}
		})
	})
	return ok
}

// sums reports whether x is one of the worker's sums, of which only totals are read.
func sums(x kir.Expr) bool {
	_, ok := x.(kir.Field)
	return ok
}

// guard lets only workers that have come for this level, or for one further out, do the
// statements of a body, except its shared loops.
func (s *sharer) guard(body []kir.Stmt, level int) []kir.Stmt {
	var out []kir.Stmt
	for _, st := range body {
		if !s.shares(st) && acts(st) && onlyAdds([]kir.Stmt{st}) {
			out = append(out, &kir.If{Cond: kir.Op2(kir.Le, kir.R(s.stolen), kir.C(uint32(level))), Then: []kir.Stmt{st}})
			continue
		}
		if e, ok := st.(*kir.Each); !ok || !s.shared(e) {
			for _, b := range kir.Bodies(st) {
				*b = s.guard(*b, level)
			}
		}
		out = append(out, st)
	}
	return out
}

func (s *sharer) shared(e *kir.Each) bool {
	_, ok := s.loops[e]
	return ok
}

// shares reports whether a statement is a shared loop or has one.
func (s *sharer) shares(st kir.Stmt) (found bool) {
	kir.WalkStmts([]kir.Stmt{st}, func(st kir.Stmt) {
		e, ok := st.(*kir.Each)
		found = found || ok && s.shared(e)
	})
	return found
}

// acts reports whether a statement adds to sums or emits, or something in it does.
func acts(st kir.Stmt) (found bool) {
	kir.WalkStmts([]kir.Stmt{st}, func(st kir.Stmt) {
		switch st := st.(type) {
		case *kir.Emit:
			found = true
		case *kir.Accumulate:
			found = found || sums(st.To)
		}
	})
	return found
}

// forward adds to the worker's sums directly what a variable gathers for them: a
// loop that changes a variable cannot be split.
func forward(f *kir.Func) {
	for forwardIn(f, &f.Body) {
	}
}

func forwardIn(f *kir.Func, body *[]kir.Stmt) bool {
	for i, st := range *body {
		for _, b := range kir.Bodies(st) {
			if forwardIn(f, b) {
				return true
			}
		}
		a, ok := st.(*kir.Accumulate)
		if !ok || !sums(a.To) {
			continue
		}
		from, ok := a.X.(kir.Ref)
		if !ok {
			continue
		}
		for k, before := range (*body)[:i] {
			let, ok := before.(*kir.Let)
			if !ok || let.Var != from.Var || !zero(let.Init) || !gathered(f, from.Var, a) {
				continue
			}
			kir.WalkStmts(*body, func(st kir.Stmt) {
				if acc, ok := st.(*kir.Accumulate); ok && acc.To == kir.Expr(from) {
					acc.To = a.To
				}
			})
			out := append([]kir.Stmt{}, (*body)[:k]...)
			out = append(out, (*body)[k+1:i]...)
			*body = append(out, (*body)[i+1:]...)
			return true
		}
	}
	return false
}

func zero(x kir.Expr) bool {
	c, ok := x.(kir.Const)
	return ok && c.Bits == 0
}

// gathered reports whether a variable is only added to, and read only by one
// statement.
func gathered(f *kir.Func, v *kir.Var, by *kir.Accumulate) bool {
	ok := true
	kir.WalkStmts(f.Body, func(st kir.Stmt) {
		reads := kir.Operands(st)
		switch s := st.(type) {
		case *kir.Accumulate:
			if s == by {
				return
			}
			if s.To == kir.Expr(kir.R(v)) {
				reads = reads[1:]
			}
		}
		for _, x := range reads {
			kir.WalkExpr(*x, func(y kir.Expr) {
				if r, is := y.(kir.Ref); is && r.Var == v {
					ok = false
				}
			})
		}
	})
	return ok
}
