package bolt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Statements that are not patterns: those that drivers and tools send to see that a server is there, and what is in it. A statement is one
// or more arms, joined by UNION. An arm is CALL, SHOW or a count of all vertices or edges, and YIELD, WHERE, UNWIND, RETURN, ORDER BY, SKIP and LIMIT.

// statement is a parsed statement.
type statement struct {
	explain, profile bool
	distinct         bool // UNION without ALL
	arms             []*arm
}

// arm is a part of a statement.
type arm struct {
	proc     *procedure
	args     []expr
	only     string // of SHOW DATABASE name
	home     bool   // of SHOW HOME DATABASE and SHOW DEFAULT DATABASE
	show     bool
	counts   string // "vertices" or "edges": count(*) is their number
	yields   []item // nil: all
	where    expr
	unwinds  []item
	returns  []item // nil: no RETURN
	all      bool   // RETURN *
	distinct bool
	order    []ordering
	skip     expr
	limit    expr
}

type item struct {
	x         expr
	name      string
	aggregate bool // it is about all rows of a group
}

type ordering struct {
	x    expr
	down bool
}

// expr computes a value of a row. rows are all of them, for aggregates.
type expr func(s *scope, row map[string]any, rows []map[string]any) (any, error)

// word is a token.
type word struct {
	text  string
	kind  byte // w: word, q: quoted name, s: text, n: number, p: parameter, o: other, 0: end, ?: none of these
	at    int
	value any
}

// statementParser reads tokens. It panics with an *Error.
type statementParser struct {
	text       string
	words      []word
	i          int
	depth      int
	aggregates bool // of the item that is read
}

// mostStatement is the largest length of a statement that is not a pattern, in bytes.
const mostStatement = 64 << 10

// parseStatement reads a statement. ok is false for a pattern.
func parseStatement(text string) (st *statement, ok bool, err error) {
	p := &statementParser{text: text}
	w := p.opening()
	switch {
	case w.is("CALL"), w.is("SHOW"), w.is("RETURN"), w.is("UNWIND"):
	case w.is("MATCH") && len(text) <= mostStatement && p.unites():
	default:
		return nil, false, nil
	}
	if len(text) > mostStatement {
		return nil, true, &Error{Code: CodeSyntax, Message: fmt.Sprintf("the statement has %d bytes, and at most %d are taken", len(text), mostStatement)}
	}
	defer func() {
		if x := recover(); x != nil {
			e, is := x.(*Error)
			if !is {
				panic(x)
			}
			st, ok, err = nil, true, e
		}
	}()
	p.scan()
	return p.statement(), true, nil
}

// opening is the first word after EXPLAIN and PROFILE.
func (p *statementParser) opening() word {
	for at := 0; ; {
		w, next := p.lex(at)
		if !w.is("EXPLAIN") && !w.is("PROFILE") {
			return w
		}
		at = next
	}
}

// FirstWord returns the first word of a text after comments, EXPLAIN and PROFILE, and its byte.
func FirstWord(text string) (at int, first string) {
	w := (&statementParser{text: text}).opening()
	if w.kind != 'w' {
		return w.at, ""
	}
	return w.at, w.text
}

// unites reports whether the text is a union, and not a pattern in which something is called Union.
func (p *statementParser) unites() bool {
	union := false
	for at := 0; ; {
		w, next := p.lex(at)
		switch {
		case w.kind == 0, w.kind == '?':
			return false
		case union && (w.is("ALL") || w.is("DISTINCT") || w.is("CALL") || w.is("MATCH") || w.is("RETURN") || w.is("SHOW") || w.is("UNWIND")):
			return true
		}
		union, at = w.is("UNION"), next
	}
}

// scan reads all tokens.
func (p *statementParser) scan() {
	for at := 0; ; {
		w, next := p.lex(at)
		if w.kind == '?' {
			p.fail(w.at, "invalid input %q", cut(p.text[w.at:], 20))
		}
		p.words = append(p.words, w)
		if w.kind == 0 {
			return
		}
		at = next
	}
}

// symbols are those of two bytes, and then the others.
var symbols = [...]string{"..", "<>", "<=", ">=", "->", "<-", "-", "+", "*", "/", "%", "=", "<", ">", "(", ")", "{", "}", "[", "]", ",", ".", ":", ";", "|", "&", "!"}

// lex reads the token at a byte of the text, after blanks and comments. Its kind is ? if there is none.
func (p *statementParser) lex(at int) (w word, next int) {
	text := p.text
	for at < len(text) {
		rest := text[at:]
		switch {
		case strings.IndexByte(" \t\r\n\v\f", rest[0]) >= 0:
			at++
		case strings.HasPrefix(rest, "//"):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				at += n
			} else {
				at = len(text)
			}
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return word{rest, '?', at, nil}, at
			}
			at += n + 4
		default:
			return p.token(at)
		}
	}
	return word{"", 0, len(text), nil}, len(text)
}

func (p *statementParser) token(at int) (w word, next int) {
	rest := p.text[at:]
	c := rest[0]
	if n := nameLength(rest); n > 0 {
		return word{rest[:n], 'w', at, nil}, at + n
	}
	switch {
	case c == '$':
		if n := nameLength(rest[1:]); n > 0 {
			return word{rest[1 : n+1], 'p', at, nil}, at + n + 1
		}
	case c == '`':
		for n := 1; n < len(rest); n++ {
			switch {
			case rest[n] != '`':
			case n+1 < len(rest) && rest[n+1] == '`':
				n++
			default:
				return word{strings.ReplaceAll(rest[1:n], "``", "`"), 'q', at, nil}, at + n + 1
			}
		}
	case c == '\'' || c == '"':
		for n := 1; n < len(rest); n++ {
			switch rest[n] {
			case '\\':
				n++
			case c:
				return word{rest[:n+1], 's', at, unquoted(rest[:n+1])}, at + n + 1
			}
		}
	case c >= '0' && c <= '9':
		return number(rest, at)
	default:
		for _, s := range symbols {
			if strings.HasPrefix(rest, s) {
				return word{s, 'o', at, nil}, at + len(s)
			}
		}
	}
	return word{rest, '?', at, nil}, at
}

// nameLength is the number of bytes of the name that a text begins with.
func nameLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return i
		}
	}
	return len(s)
}

// number reads an integer, or a number with a point and perhaps an exponent. 1..2 is a slice.
func number(rest string, at int) (w word, next int) {
	digits := func(n int) int {
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		return n
	}
	n := digits(1)
	if end := digits(min(n+1, len(rest))); n < len(rest) && rest[n] == '.' && end > n+1 {
		n = end
		if n < len(rest) && rest[n]|0x20 == 'e' {
			from := n + 1
			if from < len(rest) && (rest[from] == '-' || rest[from] == '+') {
				from++
			}
			if end := digits(min(from, len(rest))); end > from {
				n = end
			}
		}
	}
	w = word{rest[:n], 'n', at, nil}
	if x, err := strconv.ParseInt(rest[:n], 10, 64); err == nil {
		w.value = x
	} else {
		x, _ := strconv.ParseFloat(rest[:n], 64)
		w.value = x
	}
	return w, at + n
}

// unquoted is a text without its quotes and escapes.
func unquoted(s string) string {
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(s)
}

// fail panics with an error at a byte of the text.
func (p *statementParser) fail(at int, format string, args ...any) {
	panic(At(&Error{Code: CodeSyntax, Message: fmt.Sprintf(format, args...)}, p.text, at))
}

// At gives an error a place, at a byte of a text, and shows it in the message as drivers do.
func At(e *Error, text string, at int) *Error {
	at = min(max(at, 0), len(text))
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	e.Line = strings.Count(text[:at], "\n") + 1
	e.Column = utf8.RuneCountInString(text[start:at]) + 1
	e.Offset = utf8.RuneCountInString(text[:at])
	if len(line) > 200 {
		line = cut(line, 200)
	}
	e.Message = fmt.Sprintf("%s (line %d, column %d (offset: %d))\n%q\n%s^", e.Message, e.Line, e.Column, e.Offset, line, strings.Repeat(" ", min(e.Column, 200)))
	return e
}

func (p *statementParser) peek() word { return p.words[p.i] }

func (p *statementParser) take() word {
	w := p.words[p.i]
	if w.kind != 0 {
		p.i++
	}
	return w
}

func (w word) is(text string) bool {
	return (w.kind == 'w' || w.kind == 'o') && strings.EqualFold(w.text, text)
}

// maybe takes words if they come next.
func (p *statementParser) maybe(words ...string) bool {
	for i, s := range words {
		if !p.words[min(p.i+i, len(p.words)-1)].is(s) {
			return false
		}
	}
	p.i += len(words)
	return true
}

func (p *statementParser) want(text string) {
	if !p.maybe(text) {
		p.unexpected(text)
	}
}

func (p *statementParser) unexpected(want string) {
	w := p.peek()
	if w.kind == 0 {
		p.fail(w.at, "the statement ends, expected %s", want)
	}
	p.fail(w.at, "invalid input %q, expected %s", cut(p.text[w.at:min(w.at+len(w.text)+1, len(p.text))], 40), want)
}

func (p *statementParser) statement() *statement {
	st := &statement{}
	for {
		if p.maybe("EXPLAIN") {
			st.explain = true
		} else if p.maybe("PROFILE") {
			st.profile = true
		} else {
			break
		}
	}
	for {
		st.arms = append(st.arms, p.arm())
		if !p.maybe("UNION") {
			break
		}
		if !p.maybe("ALL") {
			p.maybe("DISTINCT")
			st.distinct = true
		}
	}
	p.maybe(";")
	if p.peek().kind != 0 {
		p.unexpected("the end of the statement: CALL, SHOW and RETURN of values are answered, and patterns in MATCH")
	}
	return st
}

func (p *statementParser) arm() *arm {
	a := &arm{}
	switch {
	case p.maybe("CALL"):
		p.call(a)
	case p.maybe("SHOW"):
		a.show = true
		p.shows(a)
	case p.maybe("MATCH"):
		from := p.peek().at
		for !p.peek().is("RETURN") && p.peek().kind != 0 {
			p.take()
		}
		switch strings.Join(strings.Fields(p.text[from:p.peek().at]), "") {
		case "()":
			a.counts = "vertices"
		case "()-[]->()", "()-->()", "()-[]-()", "()--()":
			a.counts = "edges"
		default:
			p.fail(from, "a union has no patterns except for counts of all nodes or relationships: MATCH () and MATCH ()-->()")
		}
	}
	if (a.proc != nil) && p.maybe("YIELD") {
		if !p.maybe("*") {
			for {
				name := p.name("the name of a column")
				y := item{x: variable(name), name: name}
				if p.maybe("AS") {
					y.name = p.name("a name")
				}
				a.yields = append(a.yields, y)
				if !p.maybe(",") {
					break
				}
			}
		} else {
			a.all = true
		}
		p.ordering(a)
	}
	if a.proc != nil && p.maybe("WHERE") {
		a.where = p.expr()
	}
	for p.maybe("UNWIND") {
		x := p.expr()
		p.want("AS")
		a.unwinds = append(a.unwinds, item{x: x, name: p.name("a name")})
	}
	if p.maybe("RETURN") {
		a.distinct = p.maybe("DISTINCT")
		if a.all = p.maybe("*"); !a.all {
			for {
				a.returns = append(a.returns, p.item())
				if !p.maybe(",") {
					break
				}
			}
		}
		a.order, a.skip, a.limit = nil, nil, nil
		p.ordering(a)
	} else if a.proc == nil || len(a.unwinds) > 0 {
		p.unexpected("RETURN")
	}
	return a
}

func (p *statementParser) ordering(a *arm) {
	if p.maybe("ORDER", "BY") {
		for {
			o := ordering{x: p.expr()}
			if o.down = p.maybe("DESC") || p.maybe("DESCENDING"); !o.down && !p.maybe("ASC") {
				p.maybe("ASCENDING")
			}
			a.order = append(a.order, o)
			if !p.maybe(",") {
				break
			}
		}
	}
	if p.maybe("SKIP") {
		a.skip = p.expr()
	}
	if p.maybe("LIMIT") {
		a.limit = p.expr()
	}
}

func (p *statementParser) item() item {
	from := p.peek().at
	p.aggregates = false
	x := p.expr()
	name := strings.TrimSpace(p.text[from:p.peek().at])
	if p.maybe("AS") {
		name = p.name("a name")
	}
	return item{x, name, p.aggregates}
}

func (p *statementParser) name(what string) string {
	if k := p.peek().kind; k != 'w' && k != 'q' {
		p.unexpected(what)
	}
	return p.take().text
}

func (p *statementParser) call(a *arm) {
	at := p.peek().at
	name := p.name("the name of a procedure")
	for p.maybe(".") {
		name += "." + p.name("the name of a procedure")
	}
	a.proc = find(name)
	if a.proc == nil || strings.HasPrefix(a.proc.name, "SHOW ") {
		panic(At(&Error{Code: CodeNoProcedure, Message: fmt.Sprintf("there is no procedure %s: CALL dbms.procedures() lists them", cut(name, 100))}, p.text, at))
	}
	if p.maybe("(") {
		for !p.maybe(")") {
			a.args = append(a.args, p.expr())
			if !p.maybe(",") && !p.peek().is(")") {
				p.unexpected(", or )")
			}
		}
	}
}

// find is the procedure of a name, in upper or lower case.
func find(name string) *procedure {
	for _, p := range procedures() {
		if strings.EqualFold(p.name, name) {
			return &p
		}
	}
	return nil
}

// shows reads what follows SHOW.
func (p *statementParser) shows(a *arm) {
	name := ""
	switch {
	case p.maybe("HOME", "DATABASE"), p.maybe("DEFAULT", "DATABASE"):
		name, a.home = "DATABASES", true
	case p.maybe("DATABASES"):
		name = "DATABASES"
	case p.maybe("DATABASE"):
		if name = "DATABASES"; p.peek().kind == 'q' || p.peek().kind == 'w' && !p.peek().is("YIELD") && !p.peek().is("WHERE") {
			a.only = p.take().text
		}
	case p.maybe("CURRENT", "USER"):
		name = "CURRENT USER"
	case p.maybe("PROCEDURES"), p.maybe("PROCEDURE"):
		name = "PROCEDURES"
	case p.maybe("ALL", "FUNCTIONS"), p.maybe("BUILT", "IN", "FUNCTIONS"), p.maybe("FUNCTIONS"), p.maybe("FUNCTION"):
		name = "FUNCTIONS"
	case p.maybe("ALL", "INDEXES"), p.maybe("INDEXES"), p.maybe("INDEX"):
		name = "INDEXES"
	case p.maybe("ALL", "CONSTRAINTS"), p.maybe("CONSTRAINTS"), p.maybe("CONSTRAINT"):
		name = "CONSTRAINTS"
	case p.maybe("SETTINGS"), p.maybe("SETTING"):
		name = "SETTINGS"
	default:
		p.unexpected("DATABASES, PROCEDURES, FUNCTIONS, INDEXES, CONSTRAINTS, SETTINGS or CURRENT USER")
	}
	if p.maybe("EXECUTABLE") {
		_ = p.maybe("BY", "CURRENT", "USER")
	}
	a.proc = find("SHOW " + name)
}

// maxStatementDepth bounds expressions inside each other.
const maxStatementDepth = 64

func (p *statementParser) expr() expr {
	if p.depth++; p.depth > maxStatementDepth {
		p.fail(p.peek().at, "expressions lie too deep inside each other")
	}
	defer func() { p.depth-- }()
	x := p.and()
	for p.maybe("OR") {
		x = logic(x, p.and(), true)
	}
	return x
}

func (p *statementParser) and() expr {
	x := p.not()
	for p.maybe("AND") {
		x = logic(x, p.not(), false)
	}
	return x
}

// logic is OR, which ends at true, or AND, which ends at false.
func logic(a, b expr, ends bool) expr {
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		x, err := a(s, row, rows)
		if err = cmp.Or(err, s.work(1)); err != nil || x == ends {
			return x, err
		}
		return b(s, row, rows)
	}
}

func (p *statementParser) not() expr {
	if p.maybe("NOT") {
		if p.depth++; p.depth > maxStatementDepth {
			p.fail(p.peek().at, "expressions lie too deep inside each other")
		}
		x := p.not()
		p.depth--
		return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
			v, err := x(s, row, rows)
			if b, ok := v.(bool); ok {
				return !b, err
			}
			return nil, err
		}
	}
	x := p.postfix()
	for _, op := range []string{"=", "<>", "<=", ">=", "<", ">", "IN", "CONTAINS", "STARTS", "ENDS"} {
		if p.maybe(op) {
			if op == "STARTS" || op == "ENDS" {
				p.want("WITH")
			}
			return comparison(op, x, p.postfix())
		}
	}
	return x
}

func comparison(op string, a, b expr) expr {
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		x, err := a(s, row, rows)
		if err != nil {
			return nil, err
		}
		y, err := b(s, row, rows)
		if err != nil || x == nil || y == nil {
			return nil, err
		}
		t, isText := x.(string)
		u, areTexts := y.(string)
		list, isList := y.([]any)
		switch op {
		case "=":
			return s.order(x, y) == 0, s.err
		case "<>":
			return s.order(x, y) != 0, s.err
		case "<":
			return s.order(x, y) < 0, s.err
		case "<=":
			return s.order(x, y) <= 0, s.err
		case ">":
			return s.order(x, y) > 0, s.err
		case ">=":
			return s.order(x, y) >= 0, s.err
		case "IN":
			if isList {
				return slices.ContainsFunc(list, func(z any) bool { return s.err != nil || s.order(x, z) == 0 }), s.err
			}
		case "CONTAINS":
			if isText && areTexts {
				return strings.Contains(t, u), s.work(len(t))
			}
		case "STARTS":
			if isText && areTexts {
				return strings.HasPrefix(t, u), s.work(len(t))
			}
		case "ENDS":
			if isText && areTexts {
				return strings.HasSuffix(t, u), s.work(len(t))
			}
		}
		return nil, nil
	}
}

// postfix reads a value and what follows it: .key, [i], [i..j].
func (p *statementParser) postfix() expr {
	x := p.primary()
	for {
		switch {
		case p.maybe("."):
			key := p.name("the name of a property")
			of := x
			x = func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
				v, err := of(s, row, rows)
				m, _ := v.(map[string]any)
				return m[key], cmp.Or(err, s.work(1))
			}
		case p.maybe("["):
			x = p.index(x)
		default:
			return x
		}
	}
}

// index reads an index or a slice of a list, after its bracket.
func (p *statementParser) index(of expr) expr {
	var from, to expr
	slice := p.maybe("..")
	if !slice {
		from = p.expr()
		slice = p.maybe("..")
	}
	if slice && !p.peek().is("]") {
		to = p.expr()
	}
	p.want("]")
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		v, err := of(s, row, rows)
		list, ok := v.([]any)
		if err = cmp.Or(err, s.work(1)); err != nil || !ok {
			return nil, err
		}
		place := func(x expr, otherwise int) (int, error) {
			if x == nil {
				return otherwise, nil
			}
			v, err := x(s, row, rows)
			n, ok := v.(int64)
			if !ok {
				return 0, cmp.Or(err, error(&Error{Code: CodeType, Message: "an index of a list is not an integer"}))
			}
			if n < 0 {
				n += int64(len(list))
			}
			return int(min(max(n, -1), int64(len(list)))), err
		}
		i, err := place(from, 0)
		if err != nil {
			return nil, err
		}
		if !slice {
			if i < 0 || i >= len(list) {
				return nil, nil
			}
			return list[i], nil
		}
		j, err := place(to, len(list))
		if err != nil {
			return nil, err
		}
		i, j = max(i, 0), max(j, 0)
		return list[min(i, j):j:j], nil
	}
}

func constant(x any) expr {
	return func(*scope, map[string]any, []map[string]any) (any, error) { return x, nil }
}

// variable is the value of a name in a row.
func variable(name string) expr {
	return func(_ *scope, row map[string]any, _ []map[string]any) (any, error) {
		x, ok := row[name]
		if !ok {
			return nil, &Error{Code: CodeSyntax, Message: fmt.Sprintf("variable `%s` is not defined", cut(name, 100))}
		}
		return x, nil
	}
}

func (p *statementParser) primary() expr {
	w := p.peek()
	switch {
	case w.kind == 's', w.kind == 'n':
		p.take()
		return constant(w.value)
	case w.kind == 'p':
		p.take()
		return func(s *scope, _ map[string]any, _ []map[string]any) (any, error) {
			x, ok := s.params[w.text]
			if !ok {
				return nil, &Error{Code: CodeParameterMissing, Message: "expected parameter(s): " + w.text}
			}
			return x, nil
		}
	case p.maybe("TRUE"):
		return constant(true)
	case p.maybe("FALSE"):
		return constant(false)
	case p.maybe("NULL"):
		return constant(nil)
	case p.maybe("-"):
		n := p.take()
		switch x := n.value.(type) {
		case int64:
			return constant(-x)
		case float64:
			return constant(-x)
		}
		p.i--
		p.unexpected("a number")
	case p.maybe("("):
		x := p.expr()
		p.want(")")
		return x
	case p.maybe("["):
		var items []expr
		for !p.maybe("]") {
			items = append(items, p.expr())
			if !p.maybe(",") && !p.peek().is("]") {
				p.unexpected(", or ]")
			}
		}
		return list(items)
	case p.maybe("{"):
		return p.mapping()
	case w.kind == 'w' && p.words[p.i+1].is("("):
		return p.function()
	case w.kind == 'w', w.kind == 'q':
		p.take()
		return variable(w.text)
	}
	p.unexpected("a value")
	return nil
}

func list(items []expr) expr {
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		out := make([]any, len(items))
		for i, x := range items {
			var err error
			if out[i], err = x(s, row, rows); err != nil {
				return nil, err
			}
		}
		return out, s.pay(out)
	}
}

func (p *statementParser) mapping() expr {
	var keys []string
	var values []expr
	for !p.maybe("}") {
		if p.peek().kind == 's' {
			keys = append(keys, p.take().value.(string))
		} else {
			keys = append(keys, p.name("a key"))
		}
		p.want(":")
		values = append(values, p.expr())
		if !p.maybe(",") && !p.peek().is("}") {
			p.unexpected(", or }")
		}
	}
	return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
		out := map[string]any{}
		for i, x := range values {
			v, err := x(s, row, rows)
			if err != nil {
				return nil, err
			}
			out[keys[i]] = v
		}
		return out, s.pay(out)
	}
}

// function reads a call of a function.
func (p *statementParser) function() expr {
	w := p.take()
	p.want("(")
	name := strings.ToLower(w.text)
	if name == "count" && p.maybe("*") {
		p.want(")")
		p.aggregates = true
		return func(s *scope, _ map[string]any, rows []map[string]any) (any, error) {
			if rows == nil {
				return s.count, nil
			}
			return int64(len(rows)), nil
		}
	}
	distinct := (name == "count" || name == "collect") && p.maybe("DISTINCT")
	x := p.expr()
	p.want(")")
	switch name {
	case "collect", "count":
		p.aggregates = true
		return func(s *scope, _ map[string]any, rows []map[string]any) (any, error) {
			out := []any{}
			n := int64(0)
			seen := map[string]bool{}
			for _, row := range rows {
				v, err := x(s, row, nil)
				if err = cmp.Or(err, s.work(1)); err != nil {
					return nil, err
				}
				if v == nil {
					continue
				}
				if distinct {
					k, err := s.key([]any{v})
					if err = cmp.Or(err, s.spend(64)); err != nil {
						return nil, err
					}
					if seen[k] {
						continue
					}
					seen[k] = true
				}
				if n++; name == "collect" {
					if err := s.spend(16); err != nil {
						return nil, err
					}
					out = append(out, v)
				}
			}
			if name == "count" {
				return n, nil
			}
			return out, nil
		}
	case "size", "head", "tolower", "toupper", "tostring":
		return func(s *scope, row map[string]any, rows []map[string]any) (any, error) {
			v, err := x(s, row, rows)
			if err != nil {
				return nil, err
			}
			list, isList := v.([]any)
			text, isText := v.(string)
			switch {
			case name == "size" && isList:
				return int64(len(list)), nil
			case name == "size" && isText:
				return int64(utf8.RuneCountInString(text)), s.work(len(text))
			case name == "head" && len(list) > 0:
				return list[0], nil
			case name == "tolower" && isText:
				return strings.ToLower(text), s.pay(text)
			case name == "toupper" && isText:
				return strings.ToUpper(text), s.pay(text)
			case name == "tostring" && v != nil:
				if err := s.pay(v); err != nil {
					return nil, err
				}
				return fmt.Sprint(v), nil
			}
			return nil, nil
		}
	}
	p.fail(w.at, "there is no function %s in statements without a pattern", cut(w.text, 60))
	return nil
}
