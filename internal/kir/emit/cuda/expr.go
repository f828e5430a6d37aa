package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// Binding strengths of C++ operators, the weakest first.
const (
	bindSelect = iota
	bindOr
	bindAnd
	bindBitOr
	bindBitAnd
	bindEqual
	bindLess
	bindShift
	bindAdd
	bindMul
	bindUnary
	bindPrimary
)

var binding = map[kir.Op]int{
	kir.Add: bindAdd, kir.Sub: bindAdd, kir.Mul: bindMul, kir.Div: bindMul, kir.Mod: bindMul,
	kir.BitAnd: bindBitAnd, kir.BitOr: bindBitOr, kir.Shl: bindShift, kir.Shr: bindShift,
	kir.Eq: bindEqual, kir.Ne: bindEqual, kir.Lt: bindLess, kir.Le: bindLess, kir.Gt: bindLess, kir.Ge: bindLess,
	kir.And: bindAnd, kir.Or: bindOr,
}

// expr is the text of x where nothing binds it from outside.
func (w *writer) expr(x kir.Expr) string { return w.bound(x, bindSelect) }

// bound is the text of x, in parentheses if it binds weaker than least.
func (w *writer) bound(x kir.Expr, least int) string {
	text, strength := w.bare(x)
	if strength < least {
		return "(" + text + ")"
	}
	return text
}

// bare is the text of x and how strongly it binds.
func (w *writer) bare(x kir.Expr) (string, int) {
	switch x := x.(type) {
	case kir.Const:
		return constant(x), bindPrimary
	case kir.Ref:
		return w.fn.name(x.Var), bindPrimary
	case kir.Global:
		return global(x.G), bindPrimary
	case kir.Field:
		return w.bound(x.X, bindPrimary) + "." + x.Name, bindPrimary
	case kir.Elem:
		if i, ok := x.I.(kir.Const); ok {
			return fmt.Sprintf("%s[%d]", w.bound(x.X, bindPrimary), i.Bits), bindPrimary
		}
		return fmt.Sprintf("%s[%s]", w.bound(x.X, bindPrimary), w.expr(x.I)), bindPrimary
	case kir.Unary:
		if x.Op == kir.Neg && x.X.Type().Kind == kir.I64 {
			return fmt.Sprintf("i64(-u64(%s))", w.expr(x.X)), bindPrimary
		}
		return x.Op.String() + w.bound(x.X, bindUnary), bindUnary
	case kir.Binary:
		return w.binary(x)
	case kir.Select:
		return fmt.Sprintf("%s ? %s : %s", w.bound(x.If, bindOr), w.bound(x.Then, bindOr), w.bound(x.Else, bindSelect)), bindSelect
	case kir.Convert:
		return fmt.Sprintf("%s(%s)", scalar(x.T.Kind), w.expr(x.X)), bindPrimary
	case kir.Call:
		return w.call(x)
	case kir.Invoke:
		return w.invoke(x), bindPrimary
	case kir.Count:
		return fmt.Sprintf("count_if(g, %s, %s)", w.expr(x.Over), w.lambda(x.X, x.Keep)), bindPrimary
	case kir.Sum:
		return fmt.Sprintf("sum_each(g, %s, %s)", w.expr(x.Over), w.lambda(x.X, x.Value)), bindPrimary
	}
	panic(fmt.Sprintf("cuda: no text for %T", x))
}

func wraps(op kir.Op, k kir.Kind) bool {
	return k == kir.I64 && (op == kir.Add || op == kir.Sub || op == kir.Mul)
}

func (w *writer) binary(x kir.Binary) (string, int) {
	switch x.Op {
	case kir.Min, kir.Max:
		return fmt.Sprintf("%s(%s, %s)", x.Op, w.expr(x.X), w.expr(x.Y)), bindPrimary
	}
	if x.Op == kir.Div && x.X.Type().Kind == kir.U128 {
		return fmt.Sprintf("divide(%s, %s)", w.expr(x.X), w.expr(x.Y)), bindPrimary
	}
	if wraps(x.Op, x.X.Type().Kind) {
		// Signed numbers wrap in kir, and must not overflow in C++.
		b := binding[x.Op]
		return fmt.Sprintf("i64(u64(%s) %s %s)", w.expr(x.X), x.Op, w.bound(x.Y, b+1)), bindPrimary
	}
	b := binding[x.Op]
	right := b + 1 // operators group to the left
	if x.Op == kir.And || x.Op == kir.Or {
		right = b
	}
	left := b
	if x.Op == kir.Or {
		left = bindOr
	}
	return fmt.Sprintf("%s %s %s", w.bound(x.X, left), x.Op, w.bound(x.Y, right)), b
}

func (w *writer) call(x kir.Call) (string, int) {
	args := make([]string, len(x.Args))
	for i, a := range x.Args {
		args[i] = w.expr(a)
	}
	switch x.Fn {
	case kir.IDs, kir.Words, kir.Floats:
		return w.view(x)
	case kir.Size:
		return w.bound(x.Args[0], bindPrimary) + ".n", bindPrimary
	case kir.Item:
		return fmt.Sprintf("%s.p[%s]", w.bound(x.Args[0], bindPrimary), args[1]), bindPrimary
	case kir.EdgeTarget:
		return fmt.Sprintf("%s.adj[%s]", args[0], args[1]), bindPrimary
	case kir.Slice:
		if w.fn.Scope == kir.Group && !w.lane {
			return "slice(g, " + strings.Join(args, ", ") + ")", bindPrimary
		}
	case kir.Part:
		return fmt.Sprintf("Set{%s + %s, %s}", w.bound(x.Args[0], bindAdd), w.bound(x.Args[1], bindMul), args[2]), bindPrimary
	case kir.Room:
		return fmt.Sprintf("%s + %s", w.bound(x.Args[0], bindAdd), w.bound(x.Args[1], bindMul)), bindAdd
	}
	if x.Fn.Group {
		args = append([]string{"g"}, args...)
	}
	return fmt.Sprintf("%s(%s)", x.Fn.Name, strings.Join(args, ", ")), bindPrimary
}

func (w *writer) invoke(x kir.Invoke) string {
	name := x.Fn.Name
	if x.Fn.Family != "" {
		name = fmt.Sprintf("%s<%d>::%s", x.Fn.Family, x.Fn.Index, name)
	}
	args := []string{"q"}
	if x.Fn.Scope == kir.Group || fails(x.Fn) {
		args = []string{"g", "q"}
	}
	for _, a := range x.Args {
		args = append(args, w.expr(a))
	}
	return fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
}

func global(g *kir.GlobalDef) string {
	if g.Kind == kir.U32 {
		return fmt.Sprintf("q.limit[%d]", g.Index)
	}
	for _, m := range members {
		if m.kind == g.Kind {
			return fmt.Sprintf("q.%s[%d]", m.name, g.Index)
		}
	}
	panic("cuda: no global of kind " + g.Kind.String())
}

func constant(x kir.Const) string {
	switch x.T.Kind {
	case kir.Bool:
		return strconv.FormatBool(x.Bits != 0)
	case kir.U32:
		if x.Bits == math.MaxUint32 {
			return "~0u"
		}
		return fmt.Sprintf("%du", x.Bits)
	case kir.U64:
		return fmt.Sprintf("%dull", x.Bits)
	case kir.U128:
		return fmt.Sprintf("u128(%dull)", x.Bits)
	case kir.I64:
		if int64(x.Bits) == math.MinInt64 {
			return "(-9223372036854775807ll - 1)"
		}
		if int64(x.Bits) < 0 {
			return fmt.Sprintf("(%dll)", int64(x.Bits))
		}
		return fmt.Sprintf("%dll", int64(x.Bits))
	case kir.F64:
		return float(math.Float64frombits(x.Bits))
	}
	panic("cuda: no constant of type " + x.T.String())
}

// float is exact: hexadecimal, or an expression for what no literal names.
func float(x float64) string {
	switch {
	case math.IsNaN(x):
		return "(0.0 / 0.0)"
	case math.IsInf(x, 1):
		return "(1.0 / 0.0)"
	case math.IsInf(x, -1):
		return "(-1.0 / 0.0)"
	}
	return "(" + strconv.FormatFloat(x, 'x', -1, 64) + ")"
}
