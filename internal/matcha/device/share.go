package device

import "github.com/weftgraph/weft/internal/kir"

// maxLevels is how deep loops of an item are shared: STMatch's StopLevel. Turns
// further in are too little work to be worth a theft.
const maxLevels = 2

// share prepares the function of an item for crew.cuh: it chooses the loops whose
// turns groups may steal from each other, by their level from 1 on, and lets
// statements around them act only where stolen, a new parameter, says that the
// group has not merely come for a loop further in.
func share(f *kir.Func) map[*kir.Each]int {
	forward(f)
	stolen := &kir.Var{Name: "stolen", T: kir.T(kir.U32)}
	f.Params = append(f.Params, stolen)
	s := &sharer{loops: map[*kir.Each]int{}, stolen: stolen}
	f.Body = s.level(f.Body, 1)
	return s.loops
}

type sharer struct {
	loops  map[*kir.Each]int
	stolen *kir.Var
}

// level shares a loop of a body, and what is in it.
func (s *sharer) level(body []kir.Stmt, level int) []kir.Stmt {
	if level > maxLevels {
		return body
	}
	loop, weight := (*kir.Each)(nil), 0
	candidates(body, func(e *kir.Each) {
		if w := work(e.Body); w > weight && separate(e) {
			loop, weight = e, w
		}
	})
	if loop == nil {
		return body
	}
	s.loops[loop] = level
	body = s.guard(body, loop, level-1)
	loop.Body = s.level(loop.Body, level+1)
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
func separate(e *kir.Each) bool {
	own := map[*kir.Var]bool{e.X: true}
	kir.WalkStmts(e.Body, func(st kir.Stmt) {
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
	kir.WalkStmts(e.Body, func(st kir.Stmt) {
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

// guard lets what a body does, but for one of its loops, be done only by groups
// that have come for this level or one further out.
func (s *sharer) guard(body []kir.Stmt, but *kir.Each, level int) []kir.Stmt {
	var out []kir.Stmt
	for _, st := range body {
		if st == kir.Stmt(but) {
			out = append(out, st)
			continue
		}
		for _, b := range kir.Bodies(st) {
			*b = s.guard(*b, but, level)
		}
		does := false
		switch st := st.(type) {
		case *kir.Emit:
			does = true
		case *kir.Accumulate:
			does = sums(st.To)
		}
		if does {
			st = &kir.If{Cond: kir.Op2(kir.Le, kir.R(s.stolen), kir.C(uint32(level))), Then: []kir.Stmt{st}}
		}
		out = append(out, st)
	}
	return out
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
