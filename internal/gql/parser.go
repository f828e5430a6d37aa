package gql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// maxDepth bounds nesting, so that hostile text cannot exhaust the stack.
const maxDepth = 200

// parser is a recursive-descent parser over the tokens of one text. Its methods
// panic with an *Error, which parse recovers: grammar rules stay readable.
type parser struct {
	text   string
	tokens []token
	i      int
	depth  int
}

// catch turns the panic of a parser or resolver into an error.
func catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case *Error:
		*err = e
	default:
		panic(e)
	}
}

func (p *parser) peek() token { return p.tokens[p.i] }

func (p *parser) peekAt(n int) token { return p.tokens[min(p.i+n, len(p.tokens)-1)] }

func (p *parser) take() token {
	t := p.tokens[p.i]
	if t.kind != tokEnd {
		p.i++
	}
	return t
}

// since is the place of what was taken from pos on.
func (p *parser) since(pos int) Span { return Span{pos, p.tokens[p.i-1].end} }

// enter counts one level of nesting; the caller defers the function returned.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		panic(errorAt(p.text, p.peek().pos, fmt.Sprintf("nested more than %d deep", maxDepth)))
	}
	return func() { p.depth-- }
}

// describe names a token in a message.
func describe(t token) string {
	switch t.kind {
	case tokEnd:
		return "end of the text"
	case tokString:
		return "a string"
	case tokQuoted:
		return pattern.QuoteName(t.text)
	case tokParam:
		return "$" + t.text
	}
	return t.text
}

// fail reports the next token; words are keywords that could have stood there.
func (p *parser) fail(expected string, words ...string) {
	t := p.peek()
	e := errorAt(p.text, t.pos, "unexpected "+describe(t)).expecting(expected)
	if t.kind == tokWord {
		e.Suggestion = pattern.Suggest(t.text, words)
	}
	panic(e)
}

// elsewhere maps words of GQL and openCypher that this language does not have, or has in
// another place, to the text to write instead.
var elsewhere = map[string]string{
	"BETWEEN":  "two comparisons with AND",
	"CONTAINS": "= or IN: there are no conditions on parts of a text",
	"DISTINCT": "items without DISTINCT, which there is in count(DISTINCT SUBGRAPHS) alone",
	"EMIT":     "CREATE WATCH name AS before the query, of which EMIT is the end",
	"ENDS":     "= or IN: there are no conditions on parts of a text",
	"GROUP":    "RETURN before GROUP BY",
	"LIMIT":    "RETURN before LIMIT, or --limit",
	"MATCH":    "a comma between paths of one MATCH",
	"OPTIONAL": "MATCH: there are no optional paths",
	"ORDER":    "the end of the text: rows have no order, and ORDERED is about times of edges",
	"SAMPLE":   "RETURN before SAMPLE",
	"SKIP":     "the end of the text: rows have no order, so that none can be skipped",
	"STARTS":   "= or IN: there are no conditions on parts of a text",
	"UNION":    "the end of the text: several queries are given with -f, or one after the other",
	"WITH":     "the end of the text: there is one MATCH and one RETURN",
	"XOR":      "<> between two conditions",
}

func (p *parser) symbol(s string) bool {
	if t := p.peek(); t.kind == tokSymbol && t.text == s {
		p.i++
		return true
	}
	return false
}

func (p *parser) isSymbol(s string) bool {
	t := p.peek()
	return t.kind == tokSymbol && t.text == s
}

func (p *parser) expectSymbol(s string) token {
	t := p.peek()
	if !p.symbol(s) {
		p.fail(s)
	}
	return t
}

// keyword takes the words, in any case of letters, if they all come next.
func (p *parser) keyword(words ...string) bool {
	for i, w := range words {
		if t := p.peekAt(i); t.kind != tokWord || !strings.EqualFold(t.text, w) {
			return false
		}
	}
	p.i += len(words)
	return true
}

func (p *parser) isKeyword(w string) bool {
	t := p.peek()
	return t.kind == tokWord && strings.EqualFold(t.text, w)
}

func (p *parser) expectKeyword(words ...string) {
	for _, w := range words {
		if !p.keyword(w) {
			p.fail(w, w)
		}
	}
}

// variable takes a name of a vertex, edge, macro or watch.
func (p *parser) variable(what string) name {
	t := p.peek()
	if t.kind == tokWord && pattern.Reserved[strings.ToUpper(t.text)] {
		panic(errorAt(p.text, t.pos, t.text+" is a keyword").expecting(what + "; a name that is a keyword goes in back quotes"))
	}
	if t.kind != tokWord && t.kind != tokQuoted {
		p.fail(what)
	}
	p.i++
	return name{t.text, t.pos}
}

// key takes the name of a property or label: any word, also a keyword.
func (p *parser) key(what string) name {
	t := p.peek()
	if t.kind != tokWord && t.kind != tokQuoted && t.kind != tokInt {
		p.fail(what)
	}
	p.i++
	return name{t.text, t.pos}
}

func (p *parser) integer(what string) int64 {
	t := p.peek()
	if t.kind != tokInt {
		p.fail(what)
	}
	n, err := strconv.ParseInt(t.text, 10, 64)
	if err != nil {
		panic(errorAt(p.text, t.pos, t.text+" is too large").expecting(what))
	}
	p.i++
	return n
}

// starts are the keywords that a query may begin with.
var starts = []string{"MATCH", "EXPLAIN", "PROFILE", "DEFINE", "CREATE"}

func startsQuery(t token) bool { return slices.Contains(starts, keywordOf(t)) }

// end requires that the query ends here, or with a semicolon.
func (p *parser) end(expected string, words ...string) {
	if p.symbol(";") && startsQuery(p.peek()) {
		return
	}
	if p.peek().kind != tokEnd {
		p.hint()
		p.fail(expected, words...)
	}
}

// hint reports the next token if it is a word that belongs elsewhere.
func (p *parser) hint() {
	t := p.peek()
	if want, ok := elsewhere[keywordOf(t)]; ok {
		panic(errorAt(p.text, t.pos, "unexpected "+describe(t)).expecting(want))
	}
}

// query = ["CREATE WATCH" …] ["EXPLAIN" | "PROFILE"] {define} "MATCH" ….
func (p *parser) query() *querySyntax {
	q := &querySyntax{pos: p.peek().pos}
	if p.keyword("CREATE") {
		p.expectKeyword("WATCH")
		n := p.variable("the name of the watch")
		q.watch = &Watch{Name: n.text, nameAt: n.pos + 1}
		p.expectKeyword("AS")
	}
	q.explainAt = p.peek().pos
	if p.keyword("EXPLAIN") {
		q.explain = true
	} else if p.keyword("PROFILE") {
		q.profile = true
	}
	for p.isKeyword("DEFINE") {
		q.defines = append(q.defines, p.define())
	}
	q.matchAt = p.peek().pos
	if !p.keyword("MATCH") {
		p.hint()
		p.fail("MATCH, EXPLAIN, PROFILE or DEFINE", starts...)
	}
	q.body = p.body()
	q.order = p.order(nil)
	q.body.where, q.body.whereAt = p.condition()
	q.order = p.order(q.order)
	expected := "WHERE, ORDERED, WITHIN, RETURN or the end of the text"
	words := []string{"WHERE", "ORDERED", "WITHIN", "RETURN"}
	switch {
	case q.body.where != nil:
		expected, words = "AND, OR, an operator, RETURN or the end of the text", []string{"AND", "OR", "ORDERED", "WITHIN", "RETURN", "IN", "IS"}
	case len(q.body.patterns) > 0 && q.order == nil:
		expected = "an edge, a comma, " + expected
	}
	if p.isKeyword("RETURN") {
		q.ret = p.returns()
		expected = "GROUP BY, LIMIT or the end of the text"
		words = []string{"GROUP", "LIMIT", "SAMPLE", "ESTIMATE", "AS"}
	}
	if q.watch != nil {
		q.watch.Emit = p.emit()
		expected, words = "EMIT, "+expected, append(words, "EMIT")
	}
	p.end(expected, words...)
	return q
}

func (p *parser) emit() Emit {
	if !p.keyword("EMIT") {
		return EmitBoth
	}
	switch {
	case p.keyword("ADDED"):
		return EmitAdded
	case p.keyword("REMOVED"):
		return EmitRemoved
	case p.keyword("BOTH"):
		return EmitBoth
	}
	p.fail("ADDED, REMOVED or BOTH", "ADDED", "REMOVED", "BOTH")
	return 0
}

// define = "DEFINE" name "(" vars ")" "AS" "{" patterns ["WHERE" expr] "}".
func (p *parser) define() *defineSyntax {
	p.expectKeyword("DEFINE")
	d := &defineSyntax{name: p.variable("the name of the macro")}
	p.expectSymbol("(")
	for !p.symbol(")") {
		if len(d.params) > 0 {
			p.expectSymbol(",")
		}
		d.params = append(d.params, p.variable("the name of a vertex"))
	}
	p.expectKeyword("AS")
	p.expectSymbol("{")
	d.body = &bodySyntax{pos: p.peek().pos, patterns: p.patterns()}
	d.body.where, d.body.whereAt = p.condition()
	p.expectSymbol("}")
	return d
}

// body = [mode] ["INDUCED"] patterns.
func (p *parser) body() *bodySyntax {
	b := &bodySyntax{pos: p.peek().pos}
	mode := pattern.Iso
	switch {
	case p.keyword("DIFFERENT"):
		switch {
		case p.keyword("NODES"):
		case p.keyword("EDGES"):
			mode = pattern.Trail
		default:
			p.fail("NODES or EDGES", "NODES", "EDGES")
		}
		b.mode = &mode
	case p.keyword("REPEATABLE"):
		p.expectKeyword("ELEMENTS")
		mode = pattern.Hom
		b.mode = &mode
	}
	b.induced = p.keyword("INDUCED")
	b.patterns = p.patterns()
	return b
}

// order = "ORDERED" e "<" e … ["ON" property] ["WITHIN" duration]
// | "WITHIN" duration ["ON" property]; seen is the order already read, if any.
func (p *parser) order(seen *orderSyntax) *orderSyntax {
	start := p.peek()
	if !p.isKeyword("ORDERED") && !p.isKeyword("WITHIN") {
		return seen
	}
	if seen != nil {
		panic(errorAt(p.text, start.pos, "the order is already given").expecting("one ORDERED or WITHIN clause"))
	}
	o := &orderSyntax{pos: start.pos}
	if p.keyword("ORDERED") {
		o.edges = append(o.edges, p.variable("the name of an edge"))
		p.expectSymbol("<")
		o.edges = append(o.edges, p.variable("the name of an edge"))
		for p.symbol("<") {
			o.edges = append(o.edges, p.variable("the name of an edge"))
		}
	}
	for {
		switch {
		case o.on == "" && p.keyword("ON"):
			o.on = p.key("the name of a property").text
		case o.within == 0 && p.keyword("WITHIN"):
			o.within, o.duration = p.duration()
		default:
			return o
		}
	}
}

// duration takes 24h, or a plain number in the unit of the property.
func (p *parser) duration() (n int64, unit bool) {
	const what = "a duration such as 24h, 7d or 500ms, or a number in the property's own unit"
	t, at := p.peek(), p.i
	switch t.kind {
	case tokInt:
		n = p.integer(what)
	case tokDuration:
		n, unit = p.unitDuration(t), true
		p.i++
	default:
		x := p.timeLiteral()
		d, ok := pattern.Duration{}, false
		if x != nil {
			d, ok = x.value.(pattern.Duration)
		}
		if !ok {
			p.i = at
			p.fail(what)
		}
		n, unit = d.Nanos, true
	}
	if n <= 0 {
		panic(errorAt(p.text, t.pos, "WITHIN needs more than nothing").expecting(what))
	}
	return n, unit
}

// unitDuration is the duration of a token such as 24h, in nanoseconds.
func (p *parser) unitDuration(t token) int64 {
	digits := strings.TrimRightFunc(t.text, func(r rune) bool { return r < '0' || r > '9' })
	count, err := strconv.ParseInt(digits, 10, 64)
	size := unitSize(t.text[len(digits):])
	if err != nil || count > (1<<63-1)/size {
		panic(errorAt(p.text, t.pos, t.text+" is too long: a duration has at most 292 years"))
	}
	return count * size
}

// timeLiteral = ("TIMESTAMP" | "DATE") string | "DURATION" string. It returns nil if the next
// tokens are something else. The words are not keywords: they may be names elsewhere.
func (p *parser) timeLiteral() *exprSyntax {
	t := p.peek()
	word := keywordOf(t)
	if word != "TIMESTAMP" && word != "DATE" && word != "DURATION" || p.peekAt(1).kind != tokString {
		return nil
	}
	s := p.peekAt(1)
	p.i += 2
	x := &exprSyntax{kind: exprLit, pos: t.pos, end: s.end}
	text := p.text[t.pos:s.end]
	if word == "DURATION" {
		ns, msg := pattern.ParseDuration(s.text)
		if msg != "" {
			panic(errorAt(p.text, s.pos, msg).expecting("weeks, days, hours, minutes and seconds as in 'P2W', 'P1D', 'PT1H30M' or 'PT0.5S'"))
		}
		x.value = pattern.Duration{Nanos: ns, Text: text}
		return x
	}
	ns, msg := pattern.ParseTimestamp(s.text)
	if msg != "" {
		panic(errorAt(p.text, s.pos, msg).expecting("'2024-03-10', '2024-03-10T12:00:00Z' or '2024-03-10T12:00:00+01:00'"))
	}
	x.value = pattern.Timestamp{Nanos: ns, Text: text}
	return x
}
