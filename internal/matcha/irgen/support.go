package irgen

import "github.com/weftgraph/weft/internal/kir"

// Functions that generated programs call, each written once for a program that
// needs it.

// support is a function of a name, which make writes.
func (l *lowerer) support(name string, write func() *kir.Func) *kir.Func {
	f, ok := l.supported[name]
	if !ok {
		f = write()
		f.Name = name
		l.supported[name] = f
		l.helpers = append(l.helpers, f)
	}
	return f
}

func invoke(f *kir.Func, args ...kir.Expr) kir.Expr { return kir.Invoke{Fn: f, Args: args} }

// when is a condition without another side.
func when(cond kir.Expr, then ...kir.Stmt) kir.Stmt { return &kir.If{Cond: cond, Then: then} }

func local(name string, k kir.Kind) *kir.Var { return &kir.Var{Name: name, T: kir.T(k)} }

func array(name string, k kir.Kind) *kir.Var {
	return &kir.Var{Name: name, T: kir.ArrayOf(k, 0)}
}

func elem(a *kir.Var, i kir.Expr) kir.Expr { return kir.Elem{X: kir.R(a), I: i} }

func plus(x, y kir.Expr) kir.Expr { return kir.Op2(kir.Add, x, y) }

func set(v *kir.Var, x kir.Expr) kir.Stmt { return &kir.Assign{To: kir.R(v), X: x} }

// search is a function that returns the place of the first of n ascending values that is not
// less than x. at gives the value at a place, and params are the parameters of at.
func search(params []*kir.Var, kind kir.Kind, at func(i kir.Expr) kir.Expr) *kir.Func {
	n, x := local("n", kir.U32), local("x", kind)
	lo, hi, half, turn := local("lo", kir.U32), local("hi", kir.U32), local("half", kir.U32), local("turn", kir.U32)
	middle := kir.Op2(kir.Shr, kir.Op2(kir.Sub, kir.R(hi), kir.R(lo)), kir.C(1))
	return &kir.Func{
		Doc:    "Returns the place of the first of n ascending values that is not less than x.",
		Params: append(params, n, x), Result: kir.T(kir.U32),
		Body: []kir.Stmt{
			&kir.Let{Var: lo, Init: kir.C(0)},
			&kir.Let{Var: hi, Init: kir.R(n)},
			&kir.Loop{I: turn, Lo: kir.C(0), Hi: kir.C(33), Body: []kir.Stmt{
				when(kir.Op2(kir.Ge, kir.R(lo), kir.R(hi)), &kir.Return{X: kir.R(lo)}),
				&kir.Let{Var: half, Init: plus(kir.R(lo), middle)},
				&kir.If{
					Cond: kir.Op2(kir.Lt, at(kir.R(half)), kir.R(x)),
					Then: []kir.Stmt{set(lo, plus(kir.R(half), kir.C(1)))}, Else: []kir.Stmt{set(hi, kir.R(half))},
				},
			}},
			&kir.Return{X: kir.R(lo)},
		},
	}
}
