package cuda

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/ctext"
)

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
		return w.fn.name(x.Var), ctext.Primary
	case kir.Global:
		return global(x.G), ctext.Primary
	case kir.Field:
		return w.bound(x.X, ctext.Primary) + "." + x.Name, ctext.Primary
	case kir.Elem:
		if i, ok := x.I.(kir.Const); ok {
			return fmt.Sprintf("%s[%d]", w.bound(x.X, ctext.Primary), i.Bits), ctext.Primary
		}
		return fmt.Sprintf("%s[%s]", w.bound(x.X, ctext.Primary), w.expr(x.I)), ctext.Primary
	case kir.Unary:
		if x.Op == kir.Neg && x.X.Type().Kind == kir.I64 {
			return fmt.Sprintf("i64(-u64(%s))", w.expr(x.X)), ctext.Primary
		}
		least := ctext.Unary
		if x.Op == kir.Neg {
			least++ // two signs would be an operator of their own
		}
		return x.Op.String() + w.bound(x.X, least), ctext.Unary
	case kir.Binary:
		return w.binary(x)
	case kir.Select:
		return fmt.Sprintf("%s ? %s : %s", w.bound(x.If, ctext.Or), w.bound(x.Then, ctext.Or), w.bound(x.Else, ctext.Select)), ctext.Select
	case kir.Convert:
		return fmt.Sprintf("%s(%s)", scalar(x.T.Kind), w.expr(x.X)), ctext.Primary
	case kir.Call:
		return w.call(x)
	case kir.Invoke:
		return w.invoke(x), ctext.Primary
	case kir.Count:
		return fmt.Sprintf("count_if(g, %s, %s)", w.expr(x.Over), w.lambda(x.X, x.Keep)), ctext.Primary
	case kir.Sum:
		return fmt.Sprintf("sum_each(g, %s, %s)", w.expr(x.Over), w.lambda(x.X, x.Value)), ctext.Primary
	}
	panic(fmt.Sprintf("cuda: no text for %T", x))
}

func wraps(op kir.Op, k kir.Kind) bool {
	return k == kir.I64 && (op == kir.Add || op == kir.Sub || op == kir.Mul)
}

// guards are the functions of base/arithmetic.cuh for operators that C++ leaves undefined for some operands.
var guards = map[kir.Op]string{kir.Div: "divide", kir.Mod: "modulo", kir.Shl: "shift_left", kir.Shr: "shift_right"}

// guarded reports whether an operator is one of the guards: C++ has not all of it, or devices have none for 128 bits.
func guarded(x kir.Binary) bool {
	wide := x.X.Type().Kind == kir.U128 && (x.Op == kir.Div || x.Op == kir.Mod)
	return guards[x.Op] != "" && (wide || !ctext.Plain(x))
}

func (w *writer) binary(x kir.Binary) (string, int) {
	switch {
	case x.Op == kir.Min || x.Op == kir.Max:
		return fmt.Sprintf("%s(%s, %s)", x.Op, w.expr(x.X), w.expr(x.Y)), ctext.Primary
	case guarded(x):
		return fmt.Sprintf("%s(%s, %s)", guards[x.Op], w.expr(x.X), w.expr(x.Y)), ctext.Primary
	}
	if wraps(x.Op, x.X.Type().Kind) {
		// Signed numbers wrap in kir, and must not overflow in C++.
		b := ctext.Strength[x.Op]
		return fmt.Sprintf("i64(u64(%s) %s %s)", w.expr(x.X), x.Op, w.bound(x.Y, b+1)), ctext.Primary
	}
	b := ctext.Strength[x.Op]
	right := b + 1 // operators group to the left
	if x.Op == kir.And || x.Op == kir.Or {
		right = b
	}
	left := b
	if x.Op == kir.Or {
		left = ctext.Or
	}
	return fmt.Sprintf("%s %s %s", w.bound(x.X, left), x.Op, w.bound(x.Y, right)), b
}

// hoisted is the text of a test of a predicate's element against the list of a vertex that is
// the same for all elements. The members of that list are a variable before the statement.
func (w *writer) hoisted(x kir.Call) (string, bool) {
	if !w.o.Neighbours || x.Fn != kir.Adjacent || w.element == nil {
		return "", false
	}
	varies := func(y kir.Expr) (found bool) {
		kir.WalkExpr(y, func(z kir.Expr) {
			r, ok := z.(kir.Ref)
			found = found || ok && r.Var == w.element
		})
		return found
	}
	if varies(x.Args[2]) {
		return "", false
	}
	near := w.fn.fresh("near")
	w.Line("const auto %s = neighbours(%s, %s);", near, w.expr(x.Args[0]), w.expr(x.Args[2]))
	return fmt.Sprintf("%s.has(%s)", near, w.expr(x.Args[3])), true
}

func (w *writer) call(x kir.Call) (string, int) {
	if text, ok := w.hoisted(x); ok {
		return text, ctext.Primary
	}
	args := make([]string, len(x.Args))
	for i, a := range x.Args {
		args[i] = w.expr(a)
	}
	switch x.Fn {
	case kir.IDs, kir.Words, kir.Floats:
		return w.view(x)
	case kir.Size:
		return w.bound(x.Args[0], ctext.Primary) + ".n", ctext.Primary
	case kir.Item:
		return fmt.Sprintf("%s.p[%s]", w.bound(x.Args[0], ctext.Primary), args[1]), ctext.Primary
	case kir.EdgeTarget:
		lists := args[0]
		if g, ok := x.Args[0].(kir.Global); ok && g.G.Sparse != nil {
			lists += ".a"
		}
		return fmt.Sprintf("%s.adj[%s]", lists, args[1]), ctext.Primary
	case kir.Slice:
		if w.fn.Scope == kir.Group && !w.lane {
			return "slice(g, " + strings.Join(args, ", ") + ")", ctext.Primary
		}
	case kir.Part:
		return fmt.Sprintf("Set{%s + %s, %s}", w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul), args[2]), ctext.Primary
	case kir.Room:
		return fmt.Sprintf("%s + %s", w.bound(x.Args[0], ctext.Add), w.bound(x.Args[1], ctext.Mul)), ctext.Add
	}
	if x.Fn.Group {
		args = append([]string{"g"}, args...)
	}
	return fmt.Sprintf("%s(%s)", x.Fn.Name, strings.Join(args, ", ")), ctext.Primary
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
		if m.kind == g.Kind && g.Sparse != nil {
			return fmt.Sprintf("SparseAdj{q.%s[%d]}", m.name, g.Index)
		}
		if m.kind == g.Kind {
			return fmt.Sprintf("q.%s[%d]", m.name, g.Index)
		}
	}
	panic("cuda: no global of kind " + g.Kind.String())
}
