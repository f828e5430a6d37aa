package c

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/ctext"
)

// helpers are the operators that are functions of the run-time library, unless ctext.Plain says that C's do the same.
var helpers = map[kir.Op]string{
	kir.Min: "min", kir.Max: "max", kir.Div: "div", kir.Mod: "mod", kir.Shl: "shl", kir.Shr: "shr",
}

// expr is the text of x where nothing binds it from outside.
func (w *writer) expr(x kir.Expr) string { return w.bound(x, ctext.Select) }

// bound is the text of x, in parentheses if it binds weaker than least.
func (w *writer) bound(x kir.Expr, least int) string {
	text, strength := w.bare(x)
	return ctext.Bound(text, strength, least)
}

// bare is the text of x and how strongly it binds.
func (w *writer) bare(x kir.Expr) (string, int) {
	switch x := x.(type) {
	case kir.Const:
		return ctext.Constant(x), ctext.Primary
	case kir.Ref:
		if x.Var.Out {
			return "(*" + w.fn.name(x.Var) + ")", ctext.Primary
		}
		return w.fn.name(x.Var), ctext.Primary
	case kir.Global:
		return global(x.G), ctext.Primary
	case kir.Field:
		return w.bound(x.X, ctext.Primary) + "->" + x.Name, ctext.Primary
	case kir.Elem:
		if i, ok := x.I.(kir.Const); ok {
			return fmt.Sprintf("%s[%d]", w.bound(x.X, ctext.Primary), i.Bits), ctext.Primary
		}
		return fmt.Sprintf("%s[%s]", w.bound(x.X, ctext.Primary), w.expr(x.I)), ctext.Primary
	case kir.Unary:
		return x.Op.String() + w.bound(x.X, ctext.Unary+1), ctext.Unary
	case kir.Binary:
		return w.binary(x)
	case kir.Select:
		return fmt.Sprintf("%s ? %s : %s", w.bound(x.If, ctext.Or), w.bound(x.Then, ctext.Or), w.bound(x.Else, ctext.Select)), ctext.Select
	case kir.Convert:
		if from := x.X.Type().Kind; from == kir.F64 && x.T.Kind == kir.U32 {
			return "(u32)(u64)" + w.bound(x.X, ctext.Unary), ctext.Unary
		}
		return fmt.Sprintf("(%s)%s", scalar(x.T.Kind), w.bound(x.X, ctext.Unary)), ctext.Unary
	case kir.Call:
		return w.call(x)
	case kir.Invoke:
		return w.invoke(x), ctext.Primary
	case kir.Count:
		return w.reduce("u32", x.Over, x.X, w.bound(x.Keep, ctext.Or)+" ? 1 : 0"), ctext.Primary
	case kir.Sum:
		return w.reduce("u64", x.Over, x.X, w.expr(x.Value)), ctext.Primary
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
	if name := helpers[x.Op]; name != "" && (x.Op == kir.Min || x.Op == kir.Max || !ctext.Plain(x)) {
		return fmt.Sprintf("w_%s_%s(%s, %s)", name, kind, w.expr(x.X), w.expr(x.Y)), ctext.Primary
	}
	b := ctext.Strength[x.Op]
	right := b + 1 // operators group to the left
	if x.Op == kir.And || x.Op == kir.Or {
		right = b
	}
	left := b
	switch x.Op {
	case kir.Or, kir.BitOr: // compilers warn of && in || without parentheses
		left, right = max(left, ctext.BitOr), max(right, ctext.BitOr)
	}
	return fmt.Sprintf("%s %s %s", w.bound(x.X, left), x.Op, w.bound(x.Y, right)), b
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
		return fmt.Sprintf("(%s *)(%s + %s)", scalar(x.Fn.Result.Elem), w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul)), ctext.Unary
	case kir.Item:
		return fmt.Sprintf("%s.p[%s]", w.bound(x.Args[0], ctext.Primary), args[1]), ctext.Primary
	case kir.EdgeTarget:
		return fmt.Sprintf("%s.adj[%s]", strings.TrimPrefix(args[0], "&"), args[1]), ctext.Primary
	case kir.Size:
		return w.bound(x.Args[0], ctext.Primary) + ".n", ctext.Primary
	case kir.Part:
		return fmt.Sprintf("(Set){%s + %s, %s, 0}", w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul), args[2]), ctext.Primary
	case kir.Room, kir.IDs:
		return fmt.Sprintf("%s + %s", w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul)), ctext.Add
	case kir.BitAt:
		return fmt.Sprintf("w_bit(%s)", strings.Join(args, ", ")), ctext.Primary
	}
	name := x.Fn.Name
	if slices.ContainsFunc(x.Args, sparse) {
		name = "sparse_" + name
	}
	if x.Fn.Group {
		args = append([]string{"q"}, args...)
	}
	return fmt.Sprintf("w_%s(%s)", name, strings.Join(args, ", ")), ctext.Primary
}

// sparse reports whether x is neighbour lists of which few vertices have any.
func sparse(x kir.Expr) bool {
	g, ok := x.(kir.Global)
	return ok && g.G.Sparse != nil
}

func (w *writer) invoke(x kir.Invoke) string {
	args := []string{"q", "w"}
	for i, a := range x.Args {
		text := w.expr(a)
		if x.Fn.Params[i].Out {
			text = "&" + w.bound(a, ctext.Primary)
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
