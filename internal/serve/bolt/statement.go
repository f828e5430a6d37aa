package bolt

import (
	"fmt"
	"strings"
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
