package irgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// sortRows writes the sort of n rows by the first component, then the second, and so on. Each component of the
// rows lies in an array of its own, a view of memory.
//
// NaN is before all numbers and equal to itself, and -0.0 is equal to 0.0. Rows that are equal so far are in the
// order of the words of their floats. So the order does not depend on the one from before.
func (l *lowerer) sortRows(arrays []kir.Expr, n kir.Expr) {
	args := slices.Clone(arrays)
	var kinds []kir.Kind
	for _, a := range arrays {
		k := a.Type().Elem
		kinds = append(kinds, k)
		if k == kir.F64 {
			args = append(args, kir.Fn(kir.Words, a.(kir.Call).Args...))
		}
	}
	l.do(&kir.Do{X: invoke(l.sorter(kinds), append(args, n)...)})
}

// sorted is the parameters of a function that sorts: the arrays of rows, and those of floats again as words.
type sorted struct{ arrays, words []*kir.Var }

func sortedOf(kinds []kir.Kind) (s sorted) {
	for i, k := range kinds {
		s.arrays = append(s.arrays, &kir.Var{Name: fmt.Sprint("a", i), T: kir.ArrayOf(k, 0).Writable()})
		if k == kir.F64 {
			s.words = append(s.words, &kir.Var{Name: fmt.Sprint("w", i), T: kir.ArrayOf(kir.I64, 0).Writable()})
		}
	}
	return s
}

func (s sorted) params(more ...*kir.Var) []*kir.Var { return slices.Concat(s.arrays, s.words, more) }

// call calls a function with the same parameters, and more.
func (s sorted) call(f *kir.Func, more ...kir.Expr) kir.Stmt {
	var args []kir.Expr
	for _, a := range s.params() {
		args = append(args, kir.R(a))
	}
	return &kir.Do{X: invoke(f, append(args, more...)...)}
}

// exchange swaps two rows.
func (s sorted) exchange(i, j kir.Expr) (out []kir.Stmt) {
	for _, a := range s.arrays {
		x, y := local("x", a.T.Elem), local("y", a.T.Elem)
		out = append(out, &kir.Let{Var: x, Init: elem(a, i)}, &kir.Let{Var: y, Init: elem(a, j)},
			&kir.Assign{To: elem(a, i), X: kir.R(y)}, &kir.Assign{To: elem(a, j), X: kir.R(x)})
	}
	return out
}

// less is the question whether row i is before row j.
func (s sorted) less(i, j kir.Expr) kir.Expr { return lessIn(s.params(), i, j) }

func lessIn(arrays []*kir.Var, i, j kir.Expr) kir.Expr {
	a := arrays[0]
	x, y := elem(a, i), elem(a, j)
	before, equal := kir.Op2(kir.Lt, x, y), kir.Op2(kir.Eq, x, y)
	if a.T.Elem == kir.F64 {
		none, other := kir.Op2(kir.Ne, x, x), kir.Op2(kir.Ne, y, y)
		before = kir.Any(before, kir.All(none, kir.NotX(other)))
		equal = kir.Any(equal, kir.All(none, other))
	}
	if len(arrays) == 1 {
		return before
	}
	return kir.Any(before, kir.All(equal, lessIn(arrays[1:], i, j)))
}

// maxInserted is the most rows that are sorted by insertion: it is faster than heapsort for as many.
const maxInserted = 16

// sorter returns a function that sorts n rows, its last parameter. Few rows are sorted by insertion, more by
// heapsort (J. W. J. Williams, Algorithm 232, 1964), which needs no memory and no recursion.
func (l *lowerer) sorter(kinds []kir.Kind) *kir.Func {
	var names []string
	for _, k := range kinds {
		names = append(names, k.String())
	}
	suffix := strings.Join(names, "_")
	sift := l.support("sift_"+suffix, func() *kir.Func { return sift(kinds) })
	insert := l.support("insert_"+suffix, func() *kir.Func { return insert(kinds) })
	return l.support("sort_"+suffix, func() *kir.Func {
		s := sortedOf(kinds)
		n, i, j, k := local("n", kir.U32), local("i", kir.U32), local("i", kir.U32), local("i", kir.U32)
		half, last, end := kir.Op2(kir.Shr, kir.R(n), kir.C(1)), kir.Op2(kir.Sub, kir.R(n), kir.C(1)), local("end", kir.U32)
		turn := []kir.Stmt{&kir.Let{Var: end, Init: kir.Op2(kir.Sub, last, kir.R(k))}}
		turn = append(turn, s.exchange(kir.C(0), kir.R(end))...)
		turn = append(turn, s.call(sift, kir.C(0), kir.R(end)))
		return &kir.Func{
			Doc: "Sorts n rows by their components.", Scope: kir.Group, Params: s.params(n), Result: kir.T(kir.Void),
			Body: []kir.Stmt{
				when(kir.Op2(kir.Le, kir.R(n), kir.C(maxInserted)),
					&kir.Loop{I: i, Lo: kir.C(1), Hi: kir.R(n), Body: []kir.Stmt{s.call(insert, kir.R(i))}},
					&kir.Return{},
				),
				&kir.Loop{I: j, Lo: kir.C(0), Hi: half, Body: []kir.Stmt{
					s.call(sift, kir.Op2(kir.Sub, kir.Op2(kir.Sub, half, kir.C(1)), kir.R(j)), kir.R(n)),
				}},
				&kir.Loop{I: k, Lo: kir.C(0), Hi: last, Body: turn},
			},
		}
	})
}

// insert is a function that moves the row at a place to its place among the rows before it, which are sorted.
func insert(kinds []kir.Kind) *kir.Func {
	s := sortedOf(kinds)
	from, back, at := local("from", kir.U32), local("back", kir.U32), local("at", kir.U32)
	before := kir.Op2(kir.Sub, kir.R(at), kir.C(1))
	return &kir.Func{
		Doc: "Moves a row to its place among the sorted ones before it.", Scope: kir.Group, Params: s.params(from), Result: kir.T(kir.Void),
		Body: []kir.Stmt{
			&kir.Loop{I: back, Lo: kir.C(0), Hi: kir.R(from), Body: append([]kir.Stmt{
				&kir.Let{Var: at, Init: kir.Op2(kir.Sub, kir.R(from), kir.R(back))},
				when(kir.NotX(s.less(kir.R(at), before)), &kir.Return{}),
			}, s.exchange(kir.R(at), before)...)},
		},
	}
}

// sift is a function that moves the row at root down in the heap of the first n
// rows.
func sift(kinds []kir.Kind) *kir.Func {
	s := sortedOf(kinds)
	root, n := local("root", kir.U32), local("n", kir.U32)
	at, child, turn := local("at", kir.U32), local("child", kir.U32), local("turn", kir.U32)
	next := plus(kir.R(child), kir.C(1))
	body := []kir.Stmt{
		&kir.Let{Var: child, Init: plus(kir.Op2(kir.Shl, kir.R(at), kir.C(1)), kir.C(1))},
		when(kir.Op2(kir.Ge, kir.R(child), kir.R(n)), &kir.Return{}),
		when(kir.All(kir.Op2(kir.Lt, next, kir.R(n)), s.less(kir.R(child), next)), set(child, next)),
		when(kir.NotX(s.less(kir.R(at), kir.R(child))), &kir.Return{}),
	}
	body = append(body, s.exchange(kir.R(at), kir.R(child))...)
	body = append(body, set(at, kir.R(child)))
	return &kir.Func{
		Doc: "Moves a row down in a heap.", Scope: kir.Group, Params: s.params(root, n), Result: kir.T(kir.Void),
		Body: []kir.Stmt{
			&kir.Let{Var: at, Init: kir.R(root)},
			&kir.Loop{I: turn, Lo: kir.C(0), Hi: kir.C(32), Body: body},
		},
	}
}
