package kir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format returns p as text for readers and golden tests. It has no parser.
func Format(p *Program) string {
	w := &printer{}
	if p.Doc != "" {
		w.line(0, "# %s", p.Doc)
	}
	for _, g := range p.Globals {
		w.line(0, "global %s: %s", globalName(g), g.Name)
	}
	for _, r := range p.Records {
		var fields []string
		for _, f := range r.Fields {
			fields = append(fields, f.Name+" "+f.Type.String())
		}
		w.line(0, "record %s(%s)", r.Name, strings.Join(fields, ", "))
	}
	for _, f := range p.Funcs {
		w.b.WriteString(FormatFunc(f))
	}
	return w.b.String()
}

// FormatFunc returns one function as text.
func FormatFunc(f *Func) string {
	w := &printer{names: map[*Var]string{}, taken: map[string]bool{}, last: map[string]int{}}
	var params []string
	for _, v := range f.Params {
		out := ""
		if v.Out {
			out = "out "
		}
		params = append(params, w.name(v)+" "+out+v.T.String())
	}
	scope := f.Scope.String()
	if f.Indivisible {
		scope = "indivisible " + scope
	}
	w.line(0, "%s %s(%s) %s", scope, f.FullName(), strings.Join(params, ", "), f.Result)
	w.block(1, f.Body)
	return w.b.String()
}

type printer struct {
	b     strings.Builder
	names map[*Var]string
	taken map[string]bool
	last  map[string]int // the numbers behind names so far
}

func (w *printer) line(indent int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// name tells variables of the same name apart.
func (w *printer) name(v *Var) string {
	s, ok := w.names[v]
	if ok {
		return s
	}
	s = v.Name
	for w.taken[s] {
		i := max(w.last[v.Name], 1) + 1
		w.last[v.Name] = i
		s = fmt.Sprintf("%s'%d", v.Name, i)
	}
	w.names[v], w.taken[s] = s, true
	return s
}

func (w *printer) block(in int, body []Stmt) {
	for _, s := range body {
		w.stmt(in, s)
	}
}

func (w *printer) stmt(in int, s Stmt) {
	switch s := s.(type) {
	case *Comment:
		w.line(in, "# %s", s.Text)
	case *Let:
		if s.Init == nil {
			w.line(in, "let %s %s", w.name(s.Var), s.Var.T)
			return
		}
		w.line(in, "let %s %s = %s", w.name(s.Var), s.Var.T, w.expr(s.Init))
	case *Assign:
		w.line(in, "%s = %s", w.expr(s.To), w.expr(s.X))
	case *Accumulate:
		w.line(in, "%s += %s", w.expr(s.To), w.expr(s.X))
	case *If:
		w.line(in, "if %s", w.expr(s.Cond))
		w.block(in+1, s.Then)
		if len(s.Else) > 0 {
			w.line(in, "else")
			w.block(in+1, s.Else)
		}
	case *Each:
		w.line(in, "for %s in %s", w.name(s.X), w.expr(s.Over))
		w.block(in+1, s.Body)
	case *Loop:
		w.line(in, "for %s = %s … %s", w.name(s.I), w.expr(s.Lo), w.expr(s.Hi))
		w.block(in+1, s.Body)
	case *SetOp:
		if s.Op == Merge {
			var pieces []string
			for _, p := range s.Pieces {
				text := w.expr(p.Run)
				if p.Gone != nil {
					text += " - " + w.expr(p.Gone)
				}
				pieces = append(pieces, text)
			}
			w.line(in, "%s = merge(%s) at %s", w.expr(s.To), strings.Join(pieces, ", "), w.expr(s.Out))
			return
		}
		if s.Op == Filter {
			w.line(in, "%s = filter(%s, %s) at %s", w.expr(s.To), w.expr(s.A), w.lambda(s.X, s.Keep), w.expr(s.Out))
			return
		}
		w.line(in, "%s = %s(%s, %s) at %s", w.expr(s.To), s.Op, w.expr(s.A), w.expr(s.B), w.expr(s.Out))
	case *Emit:
		w.line(in, "emit %s", w.exprs(s.Row))
	case *Fail:
		w.line(in, "fail %s", w.expr(s.Code))
	case *Do:
		w.line(in, "%s", w.expr(s.X))
	case *Return:
		if s.X == nil {
			w.line(in, "return")
			return
		}
		w.line(in, "return %s", w.expr(s.X))
	default:
		w.line(in, "%T", s)
	}
}

func (w *printer) lambda(x *Var, keep Expr) string {
	return w.name(x) + ": " + w.expr(keep)
}

func (w *printer) exprs(xs []Expr) string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = w.expr(x)
	}
	return strings.Join(out, ", ")
}

func (w *printer) expr(x Expr) string {
	switch x := x.(type) {
	case Const:
		return constText(x)
	case Ref:
		return w.name(x.Var)
	case Global:
		return globalName(x.G)
	case Field:
		return w.expr(x.X) + "." + x.Name
	case Elem:
		return fmt.Sprintf("%s[%s]", w.expr(x.X), w.expr(x.I))
	case Unary:
		return x.Op.String() + w.operand(x.X)
	case Binary:
		if x.Op == Min || x.Op == Max {
			return fmt.Sprintf("%s(%s, %s)", x.Op, w.expr(x.X), w.expr(x.Y))
		}
		return fmt.Sprintf("%s %s %s", w.operand(x.X), x.Op, w.operand(x.Y))
	case Select:
		return fmt.Sprintf("(%s if %s else %s)", w.expr(x.Then), w.expr(x.If), w.expr(x.Else))
	case Convert:
		return fmt.Sprintf("%s(%s)", x.T, w.expr(x.X))
	case Call:
		return fmt.Sprintf("%s(%s)", x.Fn.Name, w.exprs(x.Args))
	case Invoke:
		return fmt.Sprintf("%s(%s)", x.Fn.FullName(), w.exprs(x.Args))
	case Count:
		return fmt.Sprintf("count(%s, %s)", w.expr(x.Over), w.lambda(x.X, x.Keep))
	case Sum:
		return fmt.Sprintf("sum(%s, %s)", w.expr(x.Over), w.lambda(x.X, x.Value))
	}
	return fmt.Sprintf("%T", x)
}

// operand is an expression inside another.
func (w *printer) operand(x Expr) string {
	if b, ok := x.(Binary); ok && b.Op != Min && b.Op != Max {
		return "(" + w.expr(x) + ")"
	}
	return w.expr(x)
}

func globalName(g *GlobalDef) string {
	if g.Kind == U32 {
		return fmt.Sprintf("number%d", g.Index)
	}
	return fmt.Sprintf("%s%d", g.Kind, g.Index)
}

func constText(x Const) string {
	switch x.T.Kind {
	case Bool:
		return strconv.FormatBool(x.Bits != 0)
	case I64:
		return strconv.FormatInt(int64(x.Bits), 10)
	case F64:
		return strconv.FormatFloat(math.Float64frombits(x.Bits), 'g', -1, 64)
	}
	return strconv.FormatUint(x.Bits, 10)
}
