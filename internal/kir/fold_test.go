package kir

import "testing"

// TestFoldNot: not x < y is x ≥ y of whole numbers, and of floating-point numbers only
// (in)equality has an opposite, for NaN.
func TestFoldNot(t *testing.T) {
	opposites := map[Op]Op{Eq: Ne, Ne: Eq, Lt: Ge, Ge: Lt, Gt: Le, Le: Gt}
	for _, typ := range []Type{T(U32), T(U64), T(I64), T(F64)} {
		x, y := Expr(Ref{Var: &Var{Name: "x", T: typ}}), Expr(Ref{Var: &Var{Name: "y", T: typ}})
		for op, opposite := range opposites {
			folded, ok := foldExpr(Unary{Op: Not, X: Op2(op, x, y)}).(Binary)
			want := typ.Kind != F64 || op == Eq || op == Ne
			if ok != want || ok && folded.Op != opposite {
				t.Errorf("not (x %v y) of %v: folded %t, to %v", op, typ, ok, folded.Op)
			}
		}
	}
}
