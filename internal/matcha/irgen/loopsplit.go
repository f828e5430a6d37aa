package irgen

import "github.com/weftgraph/weft/internal/kir"

// separable reports whether the turns of a loop can be taken in any order and concurrently. Of
// the variables declared outside, a turn may change only sums of whole numbers that it does not
// read, and its own worker's memory; and, of a loop that is apart, the memory of all.
func (d *division) separable(loop *kir.Loop) bool {
	own := inside(loop.Body)
	own[loop.I] = true
	sums, read := map[*kir.Var]bool{}, map[*kir.Var]bool{}
	ok := true
	// private checks the target of a write: a variable of the turn or its memory.
	private := func(x kir.Expr) {
		kir.WalkExpr(x, func(y kir.Expr) {
			r, is := y.(kir.Ref)
			if is && !own[r.Var] && r.Var != d.l.mem && !(r.Var == d.l.shared && d.l.apart[loop]) {
				ok = false
			}
		})
	}
	kir.WalkStmts(loop.Body, func(s kir.Stmt) {
		reads := kir.Operands(s)
		switch s := s.(type) {
		case *kir.Let, *kir.If, *kir.Each, *kir.Loop, *kir.Emit, *kir.Fail, *kir.Do, *kir.Comment:
		case *kir.SetOp:
			private(s.To)
			private(s.Out)
		case *kir.Assign:
			private(s.To)
		case *kir.Accumulate:
			if r, is := s.To.(kir.Ref); is && !own[r.Var] && d.home[r.Var] != nil && r.Var.T.Kind == kir.I64 {
				sums[r.Var] = true
				reads = reads[1:]
				break
			}
			private(s.To)
		default:
			ok = false
		}
		for _, x := range reads {
			kir.WalkExpr(*x, func(y kir.Expr) {
				if call, is := y.(kir.Invoke); is {
					for i, v := range call.Fn.Params {
						if v.T.Mut || v.Out {
							private(call.Args[i])
						}
					}
				}
				if r, is := y.(kir.Ref); is {
					read[r.Var] = true
				}
			})
		}
	})
	for v := range sums {
		ok = ok && !read[v]
	}
	return ok
}

// inside are the variables that statements declare, themselves or further in.
func inside(body []kir.Stmt) map[*kir.Var]bool {
	out := map[*kir.Var]bool{}
	kir.WalkStmts(body, func(s kir.Stmt) {
		switch s := s.(type) {
		case *kir.Let:
			out[s.Var] = true
		case *kir.Each:
			out[s.X] = true
		case *kir.Loop:
			out[s.I] = true
		case *kir.SetOp:
			out[s.X] = true
		}
		kir.StmtExprs(s, func(x kir.Expr) {
			switch x := x.(type) {
			case kir.Count:
				out[x.X] = true
			case kir.Sum:
				out[x.X] = true
			}
		})
	})
	return out
}

// changed are the variables that statements assign and do not declare.
func changed(body []kir.Stmt) map[*kir.Var]bool {
	out := map[*kir.Var]bool{}
	own := inside(body)
	mark := func(x kir.Expr) {
		if r, ok := x.(kir.Ref); ok && !own[r.Var] {
			out[r.Var] = true
		}
	}
	kir.WalkStmts(body, func(s kir.Stmt) {
		switch s := s.(type) {
		case *kir.Assign:
			mark(s.To)
		case *kir.Accumulate:
			mark(s.To)
		case *kir.SetOp:
			mark(s.To)
		}
	})
	return out
}
