package pattern

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// precedence of operators, weakest first; comparisons do not associate.
var precedence = map[Op]int{
	OpOr: 1, OpAnd: 2, OpNot: 3,
	OpEq: 4, OpNe: 4, OpLt: 4, OpLe: 4, OpGt: 4, OpGe: 4, OpIn: 4, OpIsNull: 4, OpIsNotNull: 4,
	OpAdd: 5, OpSub: 5, OpMul: 6, OpDiv: 6, OpMod: 6, OpNeg: 7,
}

// expr is x as text, in parentheses where it binds weaker than least.
func (f *formatter) expr(x Expr, least int) string {
	if _, ok := x.(Binary); !ok {
		return f.operand(x, least)
	}
	var b strings.Builder
	f.write(&b, x, least)
	return b.String()
}

// write adds expr to b: a chain of operators is written once, however long it is.
func (f *formatter) write(b *strings.Builder, x Expr, least int) {
	y, ok := x.(Binary)
	if !ok {
		b.WriteString(f.operand(x, least))
		return
	}
	prec := precedence[y.Op]
	left, right := prec, prec+1
	if prec == precedence[OpEq] {
		left++
	}
	if prec < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	f.write(b, y.X, left)
	b.WriteString(" " + y.Op.String() + " ")
	f.write(b, y.Y, right)
}

// operand is expr for expressions other than a Binary.
func (f *formatter) operand(x Expr, least int) string {
	var s string
	prec := 8
	switch x := x.(type) {
	case Unary:
		prec = precedence[x.Op]
		s = f.unary(x)
	case Lit:
		s = formatLit(x.Value)
	case Param:
		s = "$" + QuoteName(x.Name)
	case Prop:
		s = f.ref(x.Of) + "." + QuoteName(x.Key)
	case ID:
		s = "id(" + f.ref(Ref{VertexRef, x.Vertex}) + ")"
	case Deg:
		s = "deg(" + f.ref(Ref{VertexRef, x.Vertex}) + ")"
	case RefExpr:
		s = f.ref(x.Of)
	case List:
		items := make([]string, len(x.Items))
		for i, e := range x.Items {
			items[i] = f.expr(e, 0)
		}
		s = "[" + strings.Join(items, ", ") + "]"
	case AllDifferent:
		refs := make([]string, len(x.Refs))
		for i, r := range x.Refs {
			refs[i] = f.ref(r)
		}
		s = "ALL_DIFFERENT(" + strings.Join(refs, ", ") + ")"
	case Exists:
		sub := newFormatter(x.Sub, f, x.Outer)
		s = "EXISTS { " + sub.body(x.Sub.Mode != f.p.Mode) + " }"
	default:
		s = fmt.Sprintf("%T", x)
	}
	if prec < least {
		return "(" + s + ")"
	}
	return s
}

func (f *formatter) unary(x Unary) string {
	switch x.Op {
	case OpNot:
		return "NOT " + f.expr(x.X, precedence[OpNot])
	case OpNeg:
		// A number or a second minus directly after the minus would be read as
		// part of a number or as the arrow's dashes.
		switch x.X.(type) {
		case Lit, Unary:
			return "-(" + f.expr(x.X, 0) + ")"
		}
		return "-" + f.expr(x.X, precedence[OpNeg])
	}
	return f.expr(x.X, precedence[OpIsNull]+1) + " " + x.Op.String()
}

// ref writes a name; an edge without one is "_" inside its own brackets.
func (f *formatter) ref(r Ref) string {
	name := f.edge
	if r.Kind == VertexRef {
		name = f.vertex
	}
	if name[r.Index] == "" {
		return "_"
	}
	return QuoteVar(name[r.Index])
}

func formatLit(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		s := floatExponent.Replace(strconv.FormatFloat(v, 'g', -1, 64))
		if !strings.ContainsAny(s, ".e") && !math.IsInf(v, 0) && !math.IsNaN(v) {
			s += ".0"
		}
		return s
	case string:
		return quoteString(v)
	case Timestamp:
		if v.Text == "" {
			return FormatTimestamp(v.Nanos)
		}
		return v.Text
	case Duration:
		if v.Text == "" {
			return FormatDuration(v.Nanos)
		}
		return v.Text
	case []any:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = formatLit(e)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// floatExponent writes 1e+06 as 1e6.
var floatExponent = strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-")

var stringEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func quoteString(s string) string { return "'" + stringEscapes.Replace(s) + "'" }
