package kir

import "math"

// Constructors that keep lowerings short.

// C is a u32 constant.
func C(x uint32) Expr { return Const{T(U32), uint64(x)} }

// C64 is an integer constant of a kind.
func C64(k Kind, x uint64) Expr { return Const{T(k), x} }

// F is an f64 constant.
func F(x float64) Expr { return Const{T(F64), math.Float64bits(x)} }

// True and False are the Bool constants.
var (
	True  Expr = Const{T(Bool), 1}
	False Expr = Const{T(Bool), 0}
)

// R reads a variable.
func R(v *Var) Expr { return Ref{v} }

// G reads a global.
func G(g *GlobalDef) Expr { return Global{g} }

// Op2 is x op y.
func Op2(op Op, x, y Expr) Expr { return Binary{op, x, y} }

// Fn calls a run-time function.
func Fn(b *Builtin, args ...Expr) Expr { return Call{b, args} }

// NotX is the negation of a Bool.
func NotX(x Expr) Expr { return Unary{Not, x} }

// All is the conjunction of xs; none: true.
func All(xs ...Expr) Expr { return join(And, True, xs) }

// Any is the disjunction of xs; none: false.
func Any(xs ...Expr) Expr { return join(Or, False, xs) }

func join(op Op, none Expr, xs []Expr) Expr {
	if len(xs) == 0 {
		return none
	}
	x := xs[0]
	for _, y := range xs[1:] {
		x = Binary{op, x, y}
	}
	return x
}
