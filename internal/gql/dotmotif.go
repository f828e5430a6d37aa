package gql

import (
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// ParseDotmotif reads a pattern in the DotMotif language (Matelsky et al., DotMotif: an
// open-source tool for connectome subgraph isomorphism search, 2021). It reads
//
//   - edges "A -> B" and "A -> B [weight > 3] as e", and absent edges "A !> B" and "A ~> B";
//   - constraints "A.size > 3" and "A['size'] > B['size']";
//   - macros "m(x, y) { … }" and their calls;
//   - "A === B", which keeps one of two interchangeable matches by id(A) < id(B).
//
// Edges are directed. The operators in and contains, and the signed edges -|, -- and -+, have
// no counterpart here and are errors. An error is a *Error.
func ParseDotmotif(name, text string) (q *Query, err error) {
	defer catch(&err)
	tokens, err := lex(blankComments(text))
	if err != nil {
		return nil, inText(err, text)
	}
	d := &dotmotif{parser: parser{text: text, tokens: tokens}}
	s := &querySyntax{body: &bodySyntax{}}
	for d.peek().kind != tokEnd {
		d.item(s.body, s)
	}
	if s.body.patterns == nil {
		d.fail("an edge such as A -> B")
	}
	q = resolveQuery(text, tokens, s)
	q.Name = name
	q.Pattern.Name = name
	return q, nil
}

// inText shows the line of an error as the user wrote it.
func inText(err error, text string) error {
	if e, ok := err.(*Error); ok {
		line := strings.TrimSuffix(strings.Split(text, "\n")[e.Line-1], "\r")
		e.Source = strings.ToValidUTF8(line, "\ufffd")
	}
	return err
}

// blankComments replaces comments, from # to the end of the line, by blanks, so
// that all offsets stay.
func blankComments(text string) string {
	out := []byte(text)
	var quote byte
	comment := false
	for i, c := range out {
		switch {
		case c == '\n':
			comment, quote = false, 0
		case comment:
			out[i] = ' '
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#':
			comment = true
			out[i] = ' '
		}
	}
	return string(out)
}

type dotmotif struct {
	parser
	inMacro bool
}

// item reads an edge, a constraint, a macro or a call.
func (d *dotmotif) item(b *bodySyntax, q *querySyntax) {
	if d.symbol(";") {
		return
	}
	n := d.name("the name of a vertex or macro")
	switch {
	case d.isSymbol("("):
		d.macroOrCall(n, b, q)
	case d.isSymbol(".") || d.isSymbol("["):
		d.and(b, d.constraint(d.property(n)))
	case d.isSymbol("="):
		for range 3 {
			d.expectSymbol("=")
		}
		m := d.name("the name of a vertex")
		x, y := idOf(n), idOf(m)
		d.and(b, d.binary(pattern.OpLt, x, y))
	default:
		d.edge(n, b)
	}
}

func idOf(n name) *exprSyntax {
	arg := &exprSyntax{kind: exprName, pos: n.pos, text: n.text}
	return &exprSyntax{kind: exprCall, pos: n.pos, text: "id", args: []*exprSyntax{arg}}
}

func (d *dotmotif) name(what string) name {
	t := d.peek()
	if t.kind != tokWord {
		d.fail(what)
	}
	d.i++
	return name{t.text, t.pos}
}

func (d *dotmotif) and(b *bodySyntax, x *exprSyntax) {
	if b.where == nil {
		b.where = x
	} else {
		b.where = d.binary(pattern.OpAnd, b.where, x)
	}
}

func (d *dotmotif) macroOrCall(n name, b *bodySyntax, q *querySyntax) {
	d.expectSymbol("(")
	var params []name
	for !d.symbol(")") {
		if len(params) > 0 {
			d.expectSymbol(",")
		}
		params = append(params, d.name("the name of a vertex"))
	}
	if !d.isSymbol("{") {
		c := &callSyntax{name: n}
		for _, p := range params {
			c.args = append(c.args, argSyntax{name: p})
		}
		b.patterns = append(b.patterns, patternSyntax{pos: n.pos, call: c})
		return
	}
	open := d.take()
	if d.inMacro {
		panic(errorAt(d.text, open.pos, "a macro cannot be defined inside a macro"))
	}
	m := &defineSyntax{name: n, params: params, body: &bodySyntax{pos: open.pos}}
	d.inMacro = true
	for !d.symbol("}") {
		if d.peek().kind == tokEnd {
			d.fail("}")
		}
		d.item(m.body, q)
	}
	d.inMacro = false
	q.defines = append(q.defines, m)
}

// edge reads the text after the first vertex of an edge.
func (d *dotmotif) edge(from name, b *bodySyntax) {
	pos := d.peek().pos
	not := false
	switch {
	case d.symbol("!"), d.symbol("~"):
		not = true
	case d.symbol("-"):
	default:
		d.fail("an edge (-> or !>), a constraint (.) or a macro call (()")
	}
	if !d.symbol(">") {
		if d.isSymbol("|") || d.isSymbol("-") || d.isSymbol("+") {
			panic(errorAt(d.text, pos, "signed edges have no counterpart in weft").expecting("-> with a constraint, as in A -> B [sign = -1]"))
		}
		d.fail(">")
	}
	to := d.name("the name of a vertex")
	e := edgeSyntax{pos: pos, right: true, min: 1, max: 1}
	if d.symbol("[") {
		d.clauses(&e)
	}
	if d.keyword("as") {
		e.name = d.name("the name of the edge")
	}
	nodes := []nodeSyntax{{pos: from.pos, name: from}, {pos: to.pos, name: to}}
	if not {
		// Absent edges declare their vertices in this language.
		for _, n := range nodes {
			b.patterns = append(b.patterns, patternSyntax{pos: n.pos, nodes: []nodeSyntax{n}})
		}
	}
	b.patterns = append(b.patterns, patternSyntax{pos: from.pos, not: not, nodes: nodes, edges: []edgeSyntax{e}})
}

// clauses = clause { "," clause } "]"; clause = key op value.
func (d *dotmotif) clauses(e *edgeSyntax) {
	for {
		t := d.peek()
		key := d.propertyKey()
		self := &exprSyntax{kind: exprName, pos: t.pos, text: "_"}
		x := d.constraint(&exprSyntax{kind: exprProp, pos: t.pos, end: t.end, text: key, args: []*exprSyntax{self}})
		if e.where == nil {
			e.where = x
		} else {
			e.where = d.binary(pattern.OpAnd, e.where, x)
		}
		if !d.symbol(",") {
			break
		}
	}
	if !d.symbol("]") {
		d.fail(", or ]")
	}
}

func (d *dotmotif) propertyKey() string {
	t := d.peek()
	if t.kind != tokWord && t.kind != tokString || t.text == "" {
		d.fail("the name of a property")
	}
	d.i++
	return t.text
}

// property reads .key or ['key'] after the name of a vertex or edge.
func (d *dotmotif) property(n name) *exprSyntax {
	x := &exprSyntax{kind: exprProp, pos: n.pos}
	x.args = []*exprSyntax{{kind: exprName, pos: n.pos, text: n.text}}
	if d.symbol(".") {
		x.text = d.propertyKey()
	} else {
		d.expectSymbol("[")
		x.text = d.propertyKey()
		d.expectSymbol("]")
	}
	x.end = d.tokens[d.i-1].end
	return x
}

// constraint reads op value after a property.
func (d *dotmotif) constraint(left *exprSyntax) *exprSyntax {
	t := d.peek()
	op, ok := comparisons[t.text]
	if !ok || t.kind != tokSymbol {
		not := 0
		if d.isSymbol("!") {
			not = 1
		}
		if w := d.peekAt(not); strings.EqualFold(w.text, "in") || strings.EqualFold(w.text, "contains") {
			panic(errorAt(d.text, t.pos, "the operator "+w.text+" of DotMotif has no counterpart in weft").expecting("=, !=, <, <=, > or >="))
		}
		d.fail("=, !=, <, <=, > or >=")
	}
	d.i++
	if op == pattern.OpEq {
		d.symbol("=")
	}
	return d.binary(op, left, d.value())
}

// value reads a number, a string, a word or the property of a vertex.
func (d *dotmotif) value() *exprSyntax {
	t := d.peek()
	switch t.kind {
	case tokInt, tokFloat, tokString:
		return d.primary()
	case tokSymbol:
		if t.text == "-" {
			d.i++
			if n := d.peek(); n.kind == tokInt || n.kind == tokFloat {
				d.i++
				return &exprSyntax{kind: exprLit, pos: t.pos, end: n.end, value: d.numberValue("-"+n.text, n)}
			}
		}
	case tokWord:
		d.i++
		if d.isSymbol(".") || d.isSymbol("[") {
			return d.property(name{t.text, t.pos})
		}
		var v any = t.text
		if b := strings.ToLower(t.text); b == "true" || b == "false" {
			v = b == "true"
		}
		return &exprSyntax{kind: exprLit, pos: t.pos, end: t.end, value: v}
	}
	d.fail("a number, a string or a property")
	return nil
}
