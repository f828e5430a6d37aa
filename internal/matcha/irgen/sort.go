package irgen

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// sorter returns a function that sorts n rows by the first component, then the second, and so
// on. Each component of the rows lies in an array of its own. The function is heapsort (J. W.
// J. Williams, Algorithm 232, 1964), which needs no memory and no recursion.
func (l *lowerer) sorter(kinds ...kir.Kind) *kir.Func {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	suffix := strings.Join(names, "_")
	sift := l.support("sift_"+suffix, func() *kir.Func { return sift(kinds) })
	return l.support("sort_"+suffix, func() *kir.Func {
		arrays := columns(kinds)
		n, i := local("n", kir.U32), local("i", kir.U32)
		f := &kir.Func{Doc: "Sorts n rows by their components.", Scope: kir.Group, Params: append(arrays, n), Result: kir.T(kir.Void)}
		call := func(root, n kir.Expr) kir.Stmt {
			var args []kir.Expr
			for _, a := range arrays {
				args = append(args, kir.R(a))
			}
			return &kir.Do{X: invoke(sift, append(args, root, n)...)}
		}
		half := kir.Op2(kir.Shr, kir.R(n), kir.C(1))
		second := local("i", kir.U32)
		end := local("end", kir.U32)
		turn := []kir.Stmt{&kir.Let{Var: end, Init: kir.Op2(kir.Sub, kir.Op2(kir.Sub, kir.R(n), kir.C(1)), kir.R(second))}}
		turn = append(turn, exchange(arrays, kir.C(0), kir.R(end))...)
		turn = append(turn, call(kir.C(0), kir.R(end)))
		f.Body = []kir.Stmt{
			&kir.Loop{I: i, Lo: kir.C(0), Hi: half, Body: []kir.Stmt{
				call(kir.Op2(kir.Sub, kir.Op2(kir.Sub, half, kir.C(1)), kir.R(i)), kir.R(n)),
			}},
			when(kir.Op2(kir.Lt, kir.R(n), kir.C(2)), &kir.Return{}),
			&kir.Loop{I: second, Lo: kir.C(0), Hi: kir.Op2(kir.Sub, kir.R(n), kir.C(1)), Body: turn},
		}
		return f
	})
}

func columns(kinds []kir.Kind) (out []*kir.Var) {
	for i, k := range kinds {
		out = append(out, &kir.Var{Name: fmt.Sprint("a", i), T: kir.ArrayOf(k, 0).Writable()})
	}
	return out
}

// exchange swaps two rows.
func exchange(arrays []*kir.Var, i, j kir.Expr) (out []kir.Stmt) {
	for _, a := range arrays {
		x, y := local("x", a.T.Elem), local("y", a.T.Elem)
		out = append(out, &kir.Let{Var: x, Init: elem(a, i)}, &kir.Let{Var: y, Init: elem(a, j)},
			&kir.Assign{To: elem(a, i), X: kir.R(y)}, &kir.Assign{To: elem(a, j), X: kir.R(x)})
	}
	return out
}

// less is the question whether row i is before row j. NaN is before all numbers.
func less(arrays []*kir.Var, i, j kir.Expr) kir.Expr {
	a := arrays[0]
	x, y := elem(a, i), elem(a, j)
	before := kir.Op2(kir.Lt, x, y)
	if a.T.Elem == kir.F64 {
		before = kir.Any(before, kir.All(kir.Op2(kir.Ne, x, x), kir.Op2(kir.Eq, y, y)))
	}
	if len(arrays) == 1 {
		return before
	}
	return kir.Any(before, kir.All(kir.Op2(kir.Eq, x, y), less(arrays[1:], i, j)))
}

// sift is a function that moves the row at root down in the heap of the first n
// rows.
func sift(kinds []kir.Kind) *kir.Func {
	arrays := columns(kinds)
	root, n := local("root", kir.U32), local("n", kir.U32)
	at, child, turn := local("at", kir.U32), local("child", kir.U32), local("turn", kir.U32)
	next := plus(kir.R(child), kir.C(1))
	body := []kir.Stmt{
		&kir.Let{Var: child, Init: plus(kir.Op2(kir.Shl, kir.R(at), kir.C(1)), kir.C(1))},
		when(kir.Op2(kir.Ge, kir.R(child), kir.R(n)), &kir.Return{}),
		when(kir.All(kir.Op2(kir.Lt, next, kir.R(n)), less(arrays, kir.R(child), next)), set(child, next)),
		when(kir.NotX(less(arrays, kir.R(at), kir.R(child))), &kir.Return{}),
	}
	body = append(body, exchange(arrays, kir.R(at), kir.R(child))...)
	body = append(body, set(at, kir.R(child)))
	return &kir.Func{
		Doc: "Moves a row down in a heap.", Scope: kir.Group, Params: append(arrays, root, n), Result: kir.T(kir.Void),
		Body: []kir.Stmt{
			&kir.Let{Var: at, Init: kir.R(root)},
			&kir.Loop{I: turn, Lo: kir.C(0), Hi: kir.C(32), Body: body},
		},
	}
}
