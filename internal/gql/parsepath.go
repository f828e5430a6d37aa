package gql

import (
	"math"

	"github.com/weftgraph/weft/internal/pattern"
)

// patterns = pattern { ("," | ";") pattern }.
func (p *parser) patterns() []patternSyntax {
	var out []patternSyntax
	for {
		out = append(out, p.pattern())
		if p.isSymbol(";") && (p.peekAt(1).kind == tokEnd || startsQuery(p.peekAt(1))) {
			return out
		}
		if !p.symbol(",") && !p.symbol(";") {
			return out
		}
	}
}

// pattern = ["NOT" | "!"] path | name "(" args ")".
func (p *parser) pattern() patternSyntax {
	t := p.peek()
	out := patternSyntax{pos: t.pos}
	if p.symbol("!") || p.keyword("NOT") {
		out.not = true
		if !p.isSymbol("(") {
			p.fail("a path, which begins with (")
		}
	}
	switch {
	case p.isSymbol("("):
		p.path(&out)
	case t.kind == tokQuoted || t.kind == tokWord && !pattern.Reserved[keywordOf(t)]:
		out.call = p.call()
	default:
		p.fail("a path, which begins with (, or the name of a pattern", "NOT", "INDUCED", "DIFFERENT", "REPEATABLE")
	}
	out.end = p.since(out.pos)[1]
	return out
}

// path = node { edge node }.
func (p *parser) path(out *patternSyntax) {
	out.nodes = append(out.nodes, p.node())
	for p.isSymbol("-") || p.isSymbol("<") && p.peekAt(1).text == "-" {
		out.edges = append(out.edges, p.edge())
		if !p.isSymbol("(") {
			p.fail("a node, which begins with (")
		}
		out.nodes = append(out.nodes, p.node())
	}
}

// node = "(" [var] [":" labels] [props] ["WHERE" expr] ")".
func (p *parser) node() nodeSyntax {
	n := nodeSyntax{pos: p.expectSymbol("(").pos}
	n.name = p.optionalName("a name, a label after :, properties in {}, WHERE or )")
	n.label, n.at.label = p.labels()
	n.props, n.at.props = p.props()
	n.where, n.at.where = p.condition()
	if !p.symbol(")") {
		p.fail(closing(n.name.text != "", n.label != nil, n.props != nil, n.where != nil)+")", "WHERE")
	}
	n.at.whole = p.since(n.pos)
	return n
}

// closing lists the texts that could have come before the closing bracket.
func closing(named, label, props, where bool) string {
	switch {
	case where:
		return "AND, OR, an operator or "
	case props:
		return "WHERE or "
	case label:
		return "|, &, properties in {}, WHERE or "
	case named:
		return ":, properties in {}, WHERE or "
	}
	return "a name, :, properties in {}, WHERE or "
}

// optionalName takes a name if one comes next; "_" is not a name.
func (p *parser) optionalName(what string) name {
	t := p.peek()
	if t.kind == tokQuoted || t.kind == tokWord && keywordOf(t) != "WHERE" {
		n := p.variable(what)
		if t.kind == tokWord && n.text == "_" {
			return name{}
		}
		return n
	}
	if t.kind == tokInt {
		panic(errorAt(p.text, t.pos, "a name cannot be a number").expecting(what).suggesting(":" + t.text + ", the label"))
	}
	return name{}
}

// edge = "-[" body "]->" | "<-[" body "]-" | "-[" body "]-" | "-->" | "<--" | "--".
func (p *parser) edge() edgeSyntax {
	e := edgeSyntax{pos: p.peek().pos, min: 1, max: 1}
	e.left = p.symbol("<")
	p.expectSymbol("-")
	if p.symbol("[") {
		p.edgeBody(&e)
		if !p.symbol("]") {
			p.fail(closing(e.name.text != "", e.label != nil, e.props != nil, e.where != nil)+"]", "WHERE")
		}
	}
	if !p.symbol("-") {
		p.fail("-, as in -->, -- or ]->")
	}
	if e.left && p.isSymbol(">") {
		panic(errorAt(p.text, e.pos, "an edge cannot point both ways").expecting("-->, <-- or --, which means either way"))
	}
	e.right = p.symbol(">")
	e.at.whole = p.since(e.pos)
	return e
}

// edgeBody = [var] [":" labels] ["*" int ".." int] [props] ["WHERE" expr].
func (p *parser) edgeBody(e *edgeSyntax) {
	e.name = p.optionalName("a name, a label after :, *, properties in {}, WHERE or ]")
	e.label, e.at.label = p.labels()
	if star := p.peek(); p.symbol("*") {
		e.min = p.length()
		e.max = e.min
		if p.symbol("..") {
			e.max = p.length()
		}
		if e.max < e.min || e.max == 0 {
			panic(errorAt(p.text, star.pos, "no path has such a length").expecting("*least..most"))
		}
		e.at.length = p.since(star.pos)
	}
	e.props, e.at.props = p.props()
	e.where, e.at.where = p.condition()
}

// maxLength bounds variable-length edges.
const maxLength = 1000

func (p *parser) length() int {
	t := p.peek()
	n := p.integer("a length, as in *1..3")
	if n > maxLength {
		panic(errorAt(p.text, t.pos, "a path may have at most 1000 edges"))
	}
	return int(n)
}

// labels = [":" label].
func (p *parser) labels() (*pattern.Label, Span) {
	if !p.symbol(":") {
		return nil, Span{}
	}
	pos := p.peek().pos
	l := p.label(0)
	return l, p.since(pos)
}

// condition = ["WHERE" expr].
func (p *parser) condition() (*exprSyntax, Span) {
	if !p.keyword("WHERE") {
		return nil, Span{}
	}
	pos := p.peek().pos
	x := p.expr()
	return x, p.since(pos)
}

// label algebra: | binds weaker than &, and ! strongest.
func (p *parser) label(prec int) *pattern.Label {
	defer p.enter()()
	if prec == 2 {
		return p.labelAtom()
	}
	sym, op := "|", pattern.LabelOr
	if prec == 1 {
		sym, op = "&", pattern.LabelAnd
	}
	l := p.label(prec + 1)
	for p.symbol(sym) {
		p.symbol(":") // openCypher writes :A|:B
		l = &pattern.Label{Op: op, X: l, Y: p.label(prec + 1)}
	}
	return l
}

func (p *parser) labelAtom() *pattern.Label {
	const what = "a label: a name, a number, %, ! or ("
	switch {
	case p.symbol("%"):
		return &pattern.Label{Op: pattern.LabelAny}
	case p.symbol("!"):
		return &pattern.Label{Op: pattern.LabelNot, X: p.label(2)}
	case p.symbol("("):
		l := p.label(0)
		p.expectSymbol(")")
		return l
	}
	return &pattern.Label{Op: pattern.LabelName, Name: p.key(what).text}
}

// props = "{" key ":" value { "," key ":" value } "}".
func (p *parser) props() ([]propSyntax, Span) {
	pos := p.peek().pos
	if !p.symbol("{") {
		return nil, Span{}
	}
	out := []propSyntax{}
	for !p.symbol("}") {
		if len(out) > 0 {
			p.expectSymbol(",")
		}
		key := p.key("the name of a property")
		p.expectSymbol(":")
		out = append(out, propSyntax{key, p.sum()})
	}
	return out, p.since(pos)
}

// call = name ["(" args ")"]; a name may have a prefix, as stmatch:q7.
func (p *parser) call() *callSyntax {
	c := &callSyntax{name: p.variable("the name of a pattern")}
	if p.symbol(":") {
		c.name.text += ":" + p.key("the name of a pattern").text
	}
	if !p.symbol("(") {
		return c
	}
	for !p.symbol(")") {
		if len(c.args) > 0 {
			p.expectSymbol(",")
		}
		if t := p.peek(); t.kind == tokInt {
			n := p.integer("a number")
			c.args = append(c.args, argSyntax{name{"", t.pos}, int(min(n, math.MaxInt))})
			continue
		}
		c.args = append(c.args, argSyntax{name: p.variable("a number or the name of a vertex")})
	}
	return c
}
