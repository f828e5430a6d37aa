package syntax

import (
	"strconv"
	"strings"
)

// Format is the program in its canonical form: four blanks a level, one blank
// around operators, brackets only where they are needed, long calls with one
// argument a line. Comments stay.
func Format(f *File) string {
	p := &printer{}
	p.block(f.Body, 0)
	for _, c := range f.Tail {
		p.comment(c, 0)
	}
	return p.b.String()
}

// width is how long a line may become before its calls are taken apart.
const width = 100

type printer struct{ b strings.Builder }

func (p *printer) line(depth int, s string) {
	p.b.WriteString(strings.Repeat("    ", depth) + s + "\n")
}

func (p *printer) comment(c Comment, depth int) {
	if c.Blank {
		p.b.WriteByte('\n')
	}
	p.line(depth, c.Text)
}

func (p *printer) block(body []Stmt, depth int) {
	for _, s := range body {
		n := s.notes()
		for _, c := range n.Above {
			p.comment(c, depth)
		}
		if n.Blank {
			p.b.WriteByte('\n')
		}
		head := func(s string) {
			if n.Right != "" {
				s += "  " + n.Right
			}
			p.line(depth, s)
		}
		switch s := s.(type) {
		case *Input:
			head("input " + s.Name + ": " + s.Type.String())
		case *Let:
			head(wrap("let "+s.Name+" = ", s.X, depth))
		case *Return:
			head(wrap("return ", s.X, depth))
		case *Do:
			head(wrap("", s.X, depth))
		case *Def:
			head("def " + s.Name + "(" + names(s.Params) + "):")
			p.block(s.Body, depth+1)
		}
	}
}

func names(ps []Param) string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Name)
	}
	return strings.Join(out, ", ")
}

// String is the type as it is written.
func (t *Type) String() string {
	switch {
	case t.Lo != nil:
		return "int in " + t.Lo.String() + ".." + t.Hi.String()
	case t.Key != nil:
		return t.Kind + "[" + t.Elem.String() + ", " + Quote(t.Key.Value) + "]"
	case t.Elem != nil && t.N != nil:
		return t.Kind + "[" + t.Elem.String() + ", " + t.N.String() + "]"
	case t.Elem != nil:
		return t.Kind + "[" + t.Elem.String() + "]"
	}
	return t.Kind
}

// String is the number as it is written.
func (x *Int) String() string {
	s := strconv.FormatUint(x.Value, 10)
	if x.Neg {
		return "-" + s
	}
	return s
}

// Int64 is the number, whose sign is that of Neg.
func (x *Int) Int64() int64 {
	if x.Neg {
		return -int64(x.Value)
	}
	return int64(x.Value)
}

// wrap writes an expression behind some text, on as many lines as it needs.
func wrap(before string, x Expr, depth int) string {
	if flat := before + ExprString(x); len(flat)+4*depth <= width {
		return flat
	}
	c, ok := x.(*Call)
	if !ok || len(c.Args) == 0 {
		return before + ExprString(x)
	}
	margin := "\n" + strings.Repeat("    ", depth+1)
	var b strings.Builder
	b.WriteString(before + c.Func + "(")
	for i, a := range c.Args {
		if i > 0 {
			b.WriteByte(',')
		}
		if a.Name != "" {
			b.WriteString(margin + wrap(a.Name+"=", a.X, depth+1))
		} else {
			b.WriteString(margin + wrap("", a.X, depth+1))
		}
	}
	return b.String() + "\n" + strings.Repeat("    ", depth) + ")"
}

// Quote writes a text.
func Quote(text string) string {
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// ExprString is an expression on one line.
func ExprString(x Expr) string { return expr(x, bindLambda) }

// expr writes x where operators that bind as tightly as min, or more, may stand.
func expr(x Expr, min int) string {
	s, level := "", bindWord
	switch x := x.(type) {
	case *Name:
		s = x.Name
	case *Int:
		s = x.String()
	case *Float:
		if s = strconv.FormatFloat(x.Value, 'g', -1, 64); !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
	case *Bool:
		if s = "False"; x.Value {
			s = "True"
		}
	case *None:
		s = "None"
	case *String:
		s = Quote(x.Value)
	case *TypeName:
		s = x.Type.String()
	case *Lambda:
		level, s = bindLambda, "lambda"
		if len(x.Params) > 0 {
			s += " " + names(x.Params)
		}
		s += ": " + expr(x.X, bindLambda)
	case *Unary:
		if x.Op == "not" {
			level, s = bindNot, "not "+expr(x.X, bindNot)
		} else {
			level, s = bindMinus, "-"+expr(x.X, bindMinus)
		}
	case *Binary:
		level = binding[x.Op]
		left := level
		if level == bindCompare {
			left++
		}
		s = expr(x.X, left) + " " + x.Op + " " + expr(x.Y, level+1)
	case *Call:
		var args []string
		for _, a := range x.Args {
			if a.Name != "" {
				args = append(args, a.Name+"="+ExprString(a.X))
			} else {
				args = append(args, ExprString(a.X))
			}
		}
		s = x.Func + "(" + strings.Join(args, ", ") + ")"
	case *ListLit:
		var items []string
		for _, i := range x.Items {
			items = append(items, ExprString(i))
		}
		s = "[" + strings.Join(items, ", ") + "]"
	}
	if level < min {
		return "(" + s + ")"
	}
	return s
}
