package gql

import (
	"math"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

func keywordOf(t token) string {
	if t.kind != tokWord {
		return ""
	}
	return strings.ToUpper(t.text)
}

// expr = conjunction { "OR" conjunction }.
func (p *parser) expr() *exprSyntax {
	defer p.enter()()
	x := p.conjunction()
	for p.keyword("OR") {
		x = p.binary(pattern.OpOr, x, p.conjunction())
	}
	return x
}

func (p *parser) conjunction() *exprSyntax {
	x := p.negation()
	for p.keyword("AND") {
		x = p.binary(pattern.OpAnd, x, p.negation())
	}
	return x
}

func (p *parser) binary(op pattern.Op, x, y *exprSyntax) *exprSyntax {
	return &exprSyntax{kind: exprBinary, op: op, pos: x.pos, end: y.end, args: []*exprSyntax{x, y}}
}

func (p *parser) negation() *exprSyntax {
	t := p.peek()
	if p.keyword("NOT") {
		defer p.enter()()
		x := p.negation()
		return &exprSyntax{kind: exprUnary, op: pattern.OpNot, pos: t.pos, end: p.since(t.pos)[1], args: []*exprSyntax{x}}
	}
	return p.comparison()
}

var comparisons = map[string]pattern.Op{
	"=": pattern.OpEq, "<>": pattern.OpNe, "!=": pattern.OpNe,
	"<": pattern.OpLt, "<=": pattern.OpLe, ">": pattern.OpGt, ">=": pattern.OpGe,
}

// comparison = sum [ op sum | "IN" sum | "IS" ["NOT"] "NULL" ].
func (p *parser) comparison() *exprSyntax {
	x := p.sum()
	t := p.peek()
	if op, ok := comparisons[t.text]; ok && t.kind == tokSymbol {
		p.i++
		if p.isSymbol("=") {
			p.fail("a value; equality is written =")
		}
		x = p.binary(op, x, p.sum())
		if next := p.peek(); next.kind == tokSymbol {
			if _, again := comparisons[next.text]; again {
				panic(errorAt(p.text, next.pos, "comparisons do not chain").expecting("a < b AND b < c"))
			}
		}
		return x
	}
	switch {
	case p.keyword("IN"):
		return p.binary(pattern.OpIn, x, p.sum())
	case p.keyword("NOT", "IN"):
		in := p.binary(pattern.OpIn, x, p.sum())
		return &exprSyntax{kind: exprUnary, op: pattern.OpNot, pos: x.pos, end: in.end, args: []*exprSyntax{in}}
	case p.keyword("IS"):
		op := pattern.OpIsNull
		if p.keyword("NOT") {
			op = pattern.OpIsNotNull
		}
		end := p.peek().end
		p.expectKeyword("NULL")
		return &exprSyntax{kind: exprUnary, op: op, pos: x.pos, end: end, args: []*exprSyntax{x}}
	}
	return x
}

func (p *parser) sum() *exprSyntax {
	x := p.product()
	for {
		switch {
		case p.symbol("+"):
			x = p.binary(pattern.OpAdd, x, p.product())
		case p.symbol("-"):
			x = p.binary(pattern.OpSub, x, p.product())
		default:
			return x
		}
	}
}

func (p *parser) product() *exprSyntax {
	x := p.signed()
	for {
		switch {
		case p.symbol("*"):
			x = p.binary(pattern.OpMul, x, p.signed())
		case p.symbol("/"):
			x = p.binary(pattern.OpDiv, x, p.signed())
		case p.symbol("%"):
			x = p.binary(pattern.OpMod, x, p.signed())
		default:
			return x
		}
	}
}

// signed = "-" signed | primary; the sign of a number belongs to the number.
func (p *parser) signed() *exprSyntax {
	t := p.peek()
	if !p.symbol("-") {
		return p.primary()
	}
	if n := p.peek(); n.kind == tokInt || n.kind == tokFloat {
		p.i++
		return &exprSyntax{kind: exprLit, pos: t.pos, end: n.end, value: p.numberValue("-"+n.text, n)}
	}
	defer p.enter()()
	x := p.signed()
	return &exprSyntax{kind: exprUnary, op: pattern.OpNeg, pos: t.pos, end: x.end, args: []*exprSyntax{x}}
}

func (p *parser) numberValue(text string, t token) any {
	if t.kind == tokInt {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		panic(errorAt(p.text, t.pos, text+" is too large for a number"))
	}
	return f
}

// primary = literal | timestamp | duration | $param | list | "(" expr ")" | "EXISTS" "{" … "}"
// | name | name "." key | name "(" args ")".
func (p *parser) primary() *exprSyntax {
	t := p.peek()
	lit := func(v any) *exprSyntax {
		p.i++
		return &exprSyntax{kind: exprLit, pos: t.pos, end: t.end, value: v}
	}
	switch t.kind {
	case tokInt, tokFloat:
		return lit(p.numberValue(t.text, t))
	case tokString:
		return lit(t.text)
	case tokParam:
		p.i++
		return &exprSyntax{kind: exprParam, pos: t.pos, end: t.end, text: t.text}
	case tokDuration:
		return lit(pattern.Duration{Nanos: p.unitDuration(t), Text: t.text})
	case tokSymbol:
		if p.symbol("(") {
			x := p.expr()
			if !p.symbol(")") {
				p.fail("an operator or )", "AND", "OR", "IN", "IS")
			}
			return x
		}
		if p.isSymbol("[") {
			return p.list()
		}
	case tokWord:
		if x := p.timeLiteral(); x != nil {
			return x
		}
		switch keywordOf(t) {
		case "TRUE":
			return lit(true)
		case "FALSE":
			return lit(false)
		case "NULL":
			return lit(nil)
		case "EXISTS":
			return p.exists()
		case "ALL_DIFFERENT":
			p.i++
			return p.function(t)
		}
		if !pattern.Reserved[keywordOf(t)] {
			return p.named()
		}
	case tokQuoted:
		return p.named()
	}
	p.fail("a value: a name, a number, a string, $parameter, [ or (", "EXISTS", "ALL_DIFFERENT", "NOT")
	return nil
}

func (p *parser) list() *exprSyntax {
	defer p.enter()()
	x := &exprSyntax{kind: exprList, pos: p.expectSymbol("[").pos}
	for !p.isSymbol("]") {
		if len(x.args) > 0 && !p.symbol(",") {
			p.fail(", or ]")
		}
		x.args = append(x.args, p.expr())
	}
	x.end = p.take().end
	return x
}

func (p *parser) named() *exprSyntax {
	t := p.take()
	if t.kind == tokWord && p.isSymbol("(") {
		return p.function(t)
	}
	x := &exprSyntax{kind: exprName, pos: t.pos, end: t.end, text: t.text}
	if p.symbol(".") {
		key := p.peek()
		p.key("the name of a property")
		return &exprSyntax{kind: exprProp, pos: t.pos, end: key.end, text: key.text, args: []*exprSyntax{x}}
	}
	return x
}

// function = name "(" [expr { "," expr }] ")", after the name; count(*) and
// count(DISTINCT SUBGRAPHS) are calls with a text in place of arguments.
func (p *parser) function(t token) *exprSyntax {
	defer p.enter()()
	x := &exprSyntax{kind: exprCall, pos: t.pos, text: strings.ToLower(t.text)}
	p.expectSymbol("(")
	if x.text == "count" {
		switch {
		case p.symbol("*"):
			x.value = "*"
		case p.keyword("DISTINCT"):
			p.expectKeyword("SUBGRAPHS")
			x.value = "distinct subgraphs"
		default:
			p.fail("* or DISTINCT SUBGRAPHS", "DISTINCT")
		}
		x.end = p.expectSymbol(")").end
		return x
	}
	for !p.isSymbol(")") {
		if len(x.args) > 0 && !p.symbol(",") {
			p.fail(", or )")
		}
		x.args = append(x.args, p.expr())
	}
	x.end = p.take().end
	return x
}

// exists = "EXISTS" "{" ["MATCH"] [mode] ["INDUCED"] patterns ["WHERE" expr] "}".
func (p *parser) exists() *exprSyntax {
	defer p.enter()()
	t := p.take()
	if p.isSymbol("(") {
		return p.function(t) // exists() of RETURN
	}
	p.expectSymbol("{")
	p.keyword("MATCH")
	x := &exprSyntax{kind: exprExists, pos: t.pos, sub: p.body()}
	x.sub.where, x.sub.whereAt = p.condition()
	if !p.isSymbol("}") {
		p.fail("an edge, a comma, WHERE or }", "WHERE")
	}
	x.end = p.take().end
	return x
}
