package c

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
)

// Binding strengths of C operators, the weakest first.
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

// helpers are the operators that are functions of the run-time library where
// they are not of a constant that makes them safe.
var helpers = map[kir.Op]string{
	kir.Min: "min", kir.Max: "max", kir.Div: "div", kir.Mod: "mod", kir.Shl: "shl", kir.Shr: "shr",
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
		if x.Var.Out {
			return "(*" + w.fn.name(x.Var) + ")", bindPrimary
		}
		return w.fn.name(x.Var), bindPrimary
	case kir.Global:
		return global(x.G), bindPrimary
	case kir.Field:
		return w.bound(x.X, bindPrimary) + "->" + x.Name, bindPrimary
	case kir.Elem:
		if i, ok := x.I.(kir.Const); ok {
			return fmt.Sprintf("%s[%d]", w.bound(x.X, bindPrimary), i.Bits), bindPrimary
		}
		return fmt.Sprintf("%s[%s]", w.bound(x.X, bindPrimary), w.expr(x.I)), bindPrimary
	case kir.Unary:
		return x.Op.String() + w.bound(x.X, bindUnary+1), bindUnary
	case kir.Binary:
		return w.binary(x)
	case kir.Select:
		return fmt.Sprintf("%s ? %s : %s", w.bound(x.If, bindOr), w.bound(x.Then, bindOr), w.bound(x.Else, bindSelect)), bindSelect
	case kir.Convert:
		if from := x.X.Type().Kind; from == kir.F64 && x.T.Kind == kir.U32 {
			return "(u32)(u64)" + w.bound(x.X, bindUnary), bindUnary
		}
		return fmt.Sprintf("(%s)%s", scalar(x.T.Kind), w.bound(x.X, bindUnary)), bindUnary
	case kir.Call:
		return w.call(x)
	case kir.Invoke:
		return w.invoke(x), bindPrimary
	case kir.Count:
		return w.reduce("u32", x.Over, x.X, w.bound(x.Keep, bindOr)+" ? 1 : 0"), bindPrimary
	case kir.Sum:
		return w.reduce("u64", x.Over, x.X, w.expr(x.Value)), bindPrimary
	}
	panic(fmt.Sprintf("c: no text for %T", x))
}

// reduce is the sum over the elements x of a set.
func (w *writer) reduce(t string, over kir.Expr, x *kir.Var, value string) string {
	w.temps++
	k := w.temps
	return fmt.Sprintf("({ const Set w_s%d = %s; %s w_n%d = 0; for (u32 w_i%d = 0; w_i%d < w_s%d.n; ++w_i%d) { const u32 %s = w_s%d.p[w_i%d]; w_n%d += %s; } w_n%d; })",
		k, w.expr(over), t, k, k, k, k, k, w.fn.name(x), k, k, k, value, k)
}

func (w *writer) binary(x kir.Binary) (string, int) {
	kind := x.X.Type().Kind
	if name := helpers[x.Op]; name != "" && !plain(x, kind) {
		return fmt.Sprintf("w_%s_%s(%s, %s)", name, kind, w.expr(x.X), w.expr(x.Y)), bindPrimary
	}
	b := binding[x.Op]
	right := b + 1 // operators group to the left
	if x.Op == kir.And || x.Op == kir.Or {
		right = b
	}
	left := b
	switch x.Op {
	case kir.Or, kir.BitOr: // compilers warn of && in || without parentheses
		left, right = max(left, bindBitOr), max(right, bindBitOr)
	}
	return fmt.Sprintf("%s %s %s", w.bound(x.X, left), x.Op, w.bound(x.Y, right)), b
}

// plain reports whether C's operator does what kir's does: there is nothing to
// test of a division of fractions, or by a constant.
func plain(x kir.Binary, kind kir.Kind) bool {
	c, constant := x.Y.(kir.Const)
	switch x.Op {
	case kir.Div:
		return kind == kir.F64 || constant && c.Bits != 0 && c.Bits != math.MaxUint64
	case kir.Mod:
		return constant && c.Bits != 0 && c.Bits != math.MaxUint64
	case kir.Shl, kir.Shr:
		return constant && c.Bits < 32 && kind != kir.I64
	}
	return false
}

func (w *writer) call(x kir.Call) (string, int) {
	args := make([]string, len(x.Args))
	for i, a := range x.Args {
		args[i] = w.expr(a)
		if a.Type().Kind == kir.Adj {
			args[i] = "&" + args[i]
		}
	}
	switch x.Fn {
	case kir.Words, kir.Floats:
		return fmt.Sprintf("(%s *)(%s + %s)", scalar(x.Fn.Result.Elem), w.bound(x.Args[0], bindAdd), w.bound(x.Args[1], bindMul)), bindUnary
	case kir.Item:
		return fmt.Sprintf("%s.p[%s]", w.bound(x.Args[0], bindPrimary), args[1]), bindPrimary
	case kir.EdgeTarget:
		return fmt.Sprintf("%s.adj[%s]", strings.TrimPrefix(args[0], "&"), args[1]), bindPrimary
	case kir.Size:
		return w.bound(x.Args[0], bindPrimary) + ".n", bindPrimary
	case kir.Part:
		return fmt.Sprintf("(Set){%s + %s, %s, 0}", w.bound(x.Args[0], bindAdd), w.bound(x.Args[1], bindMul), args[2]), bindPrimary
	case kir.Room, kir.IDs:
		return fmt.Sprintf("%s + %s", w.bound(x.Args[0], bindAdd), w.bound(x.Args[1], bindMul)), bindAdd
	case kir.BitAt:
		return fmt.Sprintf("w_bit(%s)", strings.Join(args, ", ")), bindPrimary
	}
	if x.Fn.Group {
		args = append([]string{"q"}, args...)
	}
	return fmt.Sprintf("w_%s(%s)", x.Fn.Name, strings.Join(args, ", ")), bindPrimary
}

func (w *writer) invoke(x kir.Invoke) string {
	args := []string{"q", "w"}
	for i, a := range x.Args {
		text := w.expr(a)
		if x.Fn.Params[i].Out {
			text = "&" + w.bound(a, bindPrimary)
		}
		args = append(args, text)
	}
	return fmt.Sprintf("%s(%s)", Name(x.Fn), strings.Join(args, ", "))
}

func global(g *kir.GlobalDef) string {
	if g.Kind == kir.U32 {
		return fmt.Sprintf("q->limit[%d]", g.Index)
	}
	for _, m := range members {
		if m.kind == g.Kind {
			return fmt.Sprintf("q->%s[%d]", m.name, g.Index)
		}
	}
	panic("c: no global of kind " + g.Kind.String())
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
		return fmt.Sprintf("(u128)%dull", x.Bits)
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
	panic("c: no constant of type " + x.T.String())
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
