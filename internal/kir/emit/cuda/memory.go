package cuda

import (
	"fmt"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/ctext"
)

// view is the text of a view of memory.
func (w *writer) view(x kir.Call) (string, int) {
	if x.Fn == kir.IDs {
		return fmt.Sprintf("%s + %s", w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul)), ctext.Add
	}
	return fmt.Sprintf("(%s*)(%s + %s)", scalar(x.Fn.Result.Elem), w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul)), ctext.Unary
}

// put assigns to memory that a group's lanes share. All lanes compute the value before one of
// them stores it.
func (w *writer) put(to, x kir.Expr) {
	v := w.fn.fresh("x")
	w.Line("{")
	w.Indent++
	w.Line("const %s %s = %s;", scalar(to.Type().Kind), v, w.expr(x))
	w.Line("g.sync();")
	w.Line("if (g.leader()) %s = %s;", w.expr(to), v)
	w.Line("g.sync();")
	w.Indent--
	w.Line("}")
}

// writes reports whether lanes write to memory while they evaluate operands of s.
func writes(s kir.Stmt) bool {
	found := false
	kir.StmtExprs(s, func(x kir.Expr) {
		sum, ok := x.(kir.Sum)
		if !ok {
			return
		}
		kir.WalkExpr(sum.Value, func(y kir.Expr) {
			call, ok := y.(kir.Invoke)
			for i := 0; ok && i < len(call.Fn.Params); i++ {
				found = found || call.Fn.Params[i].T.Mut
			}
		})
	})
	return found
}

// fails reports whether a function, or one that it calls, may fail: then it must
// know its group, which fail is told.
func fails(f *kir.Func) bool {
	found := false
	kir.WalkStmts(f.Body, func(s kir.Stmt) {
		if _, ok := s.(*kir.Fail); ok {
			found = true
		}
		kir.StmtExprs(s, func(x kir.Expr) {
			if call, ok := x.(kir.Invoke); ok {
				found = found || fails(call.Fn)
			}
		})
	})
	return found
}
