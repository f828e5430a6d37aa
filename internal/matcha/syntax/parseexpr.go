package syntax

import (
	"math"
	"strconv"
)

// Operators between expressions, by how tightly they bind.
const (
	bindLambda = iota
	bindOr
	bindAnd
	bindNot
	bindCompare
	bindSum
	bindProduct
	bindMinus
	bindWord
)

var binding = map[string]int{
	"or": bindOr, "and": bindAnd,
	"==": bindCompare, "!=": bindCompare, "<": bindCompare, "<=": bindCompare, ">": bindCompare, ">=": bindCompare,
	"+": bindSum, "-": bindSum, "*": bindProduct, "/": bindProduct, "%": bindProduct,
}

func (p *parser) expr() Expr { return p.tighter(bindLambda) }

// tighter reads an expression whose operators bind at least as tightly as min.
func (p *parser) tighter(min int) Expr {
	defer p.deeper()()
	x := p.prefix(min)
	for {
		t := p.peek()
		level, ok := binding[t.word]
		if !ok || t.kind != symbol && t.kind != keyword || level < min {
			return x
		}
		p.next()
		y := p.tighter(level + 1)
		if level == bindCompare && binding[p.peek().word] == bindCompare && p.peek().kind == symbol {
			p.fail(p.peek().at, "comparisons cannot be chained", "'and'", "write a < b and b < c")
		}
		x = &Binary{t.at, t.word, x, y}
	}
}

func (p *parser) prefix(min int) Expr {
	t := p.peek()
	switch {
	case p.is("lambda"):
		if min > bindLambda {
			p.fail(t.at, "a lambda inside an expression", "the function as an argument, or in brackets", "")
		}
		p.next()
		params := p.params(":")
		p.want(":")
		return &Lambda{t.at, params, p.tighter(bindLambda)}
	case p.is("not"):
		if min > bindNot {
			p.fail(t.at, "'not' binds less tightly than the operator before it", "'not' in brackets: (not …)", "")
		}
		p.next()
		return &Unary{t.at, "not", p.tighter(bindNot)}
	case p.is("-"):
		p.next()
		x := p.tighter(bindMinus)
		return &Unary{t.at, "-", x}
	}
	return p.operand()
}

func (p *parser) operand() Expr {
	t := p.peek()
	switch t.kind {
	case name:
		p.next()
		if p.is("(") {
			return p.call(t)
		}
		return &Name{t.at, t.word}
	case integer:
		p.next()
		return p.int(t)
	case decimal:
		p.next()
		v, err := strconv.ParseFloat(t.word, 64)
		if err != nil || math.IsInf(v, 0) {
			p.fail(t.at, "the number "+t.word+" is too large", "", "")
		}
		return &Float{t.at, v}
	case text:
		p.next()
		return &String{t.at, t.word}
	case keyword:
		switch t.word {
		case "True", "False":
			p.next()
			return &Bool{t.at, t.word == "True"}
		case "None":
			p.next()
			return &None{t.at}
		case "int", "float", "bool", "Tuple", "List", "Graph":
			return &TypeName{p.typ()}
		}
	case symbol:
		switch t.word {
		case "(":
			p.next()
			x := p.expr()
			p.want(")")
			return x
		case "[":
			p.next()
			l := &ListLit{At: t.at}
			for !p.is("]") {
				l.Items = append(l.Items, p.expr())
				if !p.skip(",") && !p.is("]") {
					p.unexpected("',' or ']'")
				}
			}
			p.next()
			return l
		}
	}
	p.unexpected("an expression")
	return nil
}

func (p *parser) call(f token) Expr {
	c := &Call{At: f.at, Func: f.word}
	p.next()
	for !p.is(")") {
		a := Arg{At: p.peek().at}
		if p.peek().kind == name && p.tokens[1].kind == symbol && p.tokens[1].word == "=" {
			a.Name = p.next().word
			p.next()
		}
		a.X = p.expr()
		c.Args = append(c.Args, a)
		if !p.skip(",") && !p.is(")") {
			p.unexpected("',' or ')'")
		}
	}
	p.next()
	return c
}
