package syntax

import "strings"

// Parse reads a program. The error is an *Error.
func Parse(text string) (*File, error) { return parse("", text) }

// ParseNamed reads a program whose errors name the file that it is from.
func ParseNamed(name, text string) (*File, error) { return parse(name, text) }

func parse(fileName, text string) (*File, error) {
	text, marked := strings.CutPrefix(text, "\ufeff") // a byte order mark, which some editors write
	f := &File{Name: fileName, lines: strings.Split(text, "\n")}
	if marked {
		f.mark = len("\ufeff")
	}
	tokens, comments, err := lex(f)
	if err != nil {
		return nil, err
	}
	p := &parser{file: f, tokens: tokens, comments: comments}
	if err := p.program(); err != nil {
		return nil, err
	}
	return f, nil
}

// parser is recursive descent. The first mistake unwinds it by a panic, which
// program catches.
type parser struct {
	file     *File
	tokens   []token
	comments []Comment // not yet given to a statement
	line     int       // the last line that a statement or comment took
	depth    int
}

// maxDepth bounds what is nested, so that no text exhausts the stack.
const maxDepth = 100

func (p *parser) program() (err error) {
	defer func() {
		if e := recover(); e != nil {
			mistake, ok := e.(*Error)
			if !ok {
				panic(e)
			}
			err = mistake
		}
	}()
	for p.peek().kind != endOfText {
		p.file.Body = append(p.file.Body, p.statement(true))
	}
	p.file.Tail = p.takeComments(len(p.file.lines) + 1)
	return nil
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != endOfText {
		p.tokens = p.tokens[1:]
	}
	return t
}

// is reports whether the next token is a word: a keyword or symbol.
func (p *parser) is(word string) bool {
	t := p.peek()
	return (t.kind == keyword || t.kind == symbol) && t.word == word
}

// skip passes over a word if it is next.
func (p *parser) skip(word string) bool {
	if p.is(word) {
		p.next()
		return true
	}
	return false
}

func (p *parser) fail(at Pos, msg, expected, hint string) {
	e := p.file.ErrorAt(at, msg)
	e.Expected, e.Hint = expected, hint
	panic(e)
}

// unexpected is the mistake of the next token.
func (p *parser) unexpected(expected string) {
	p.fail(p.peek().at, p.peek().String()+" cannot stand here", expected, "")
}

func (p *parser) want(word string) token {
	if !p.is(word) {
		p.unexpected("'" + word + "'")
	}
	return p.next()
}

func (p *parser) wantKind(k kind, expected string) token {
	if p.peek().kind != k {
		p.unexpected(expected)
	}
	return p.next()
}

// deeper counts nesting; the result ends it.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek().at, "nested too deeply", "", "name a part with let, or with def")
	}
	return func() { p.depth-- }
}

// takeComments takes the comments above a line.
func (p *parser) takeComments(line int) []Comment {
	n := 0
	for n < len(p.comments) && p.comments[n].line < line {
		c := &p.comments[n]
		c.Blank = p.line > 0 && c.line > p.line+1
		p.line = c.line
		n++
	}
	out := p.comments[:n:n]
	p.comments = p.comments[n:]
	return out
}

// endLine ends a line of a statement that began with token from, and gives it
// the comments in it and next to it.
func (p *parser) endLine(n *Notes, expected string) {
	end := p.peek().at.Line
	if p.peek().kind != newline {
		p.unexpected(expected)
	}
	p.next()
	inside := p.takeComments(end)
	for i := range inside {
		inside[i].Blank = false
	}
	n.Above = append(n.Above, inside...)
	if len(p.comments) > 0 && p.comments[0].line == end {
		n.Right = p.comments[0].Text
		p.comments = p.comments[1:]
	}
	p.line = end
}

// statement reads a statement; top: outside of functions.
func (p *parser) statement(top bool) Stmt {
	defer p.deeper()()
	n := Notes{}
	first := p.peek()
	n.Above = p.takeComments(first.at.Line)
	n.Blank = p.line > 0 && first.at.Line > p.line+1
	switch {
	case first.kind == indent:
		p.fail(first.at, "an indented line outside a function", "a statement at the margin of the one above", "")
	case p.skip("input"):
		if !top {
			p.fail(first.at, "an input inside a function", "", "declare inputs at the top of the program")
		}
		s := &Input{Notes: n}
		t := p.wantKind(name, "a name")
		s.At, s.Name = t.at, t.word
		p.want(":")
		s.Type = p.typ()
		p.endLine(&s.Notes, "the end of the line")
		return s
	case p.skip("def"):
		return p.def(n)
	case p.skip("let"):
		s := &Let{Notes: n}
		t := p.wantKind(name, "a name")
		s.At, s.Name = t.at, t.word
		p.want("=")
		s.X = p.expr()
		p.endLine(&s.Notes, "an operator or the end of the line")
		return s
	case p.skip("return"):
		s := &Return{Notes: n, At: first.at}
		s.X = p.expr()
		p.endLine(&s.Notes, "an operator or the end of the line")
		return s
	}
	s := &Do{Notes: n}
	switch first.kind {
	case name, integer, decimal, symbol, keyword, text:
	default:
		p.unexpected("a statement")
	}
	s.X = p.expr()
	if p.is("=") {
		if v, ok := s.X.(*Name); ok {
			p.fail(first.at, "a value is named with let", "'let "+v.Name+" = …'", "")
		}
	}
	p.endLine(&s.Notes, "an operator or the end of the line")
	return s
}

func (p *parser) def(n Notes) Stmt {
	s := &Def{Notes: n}
	t := p.wantKind(name, "a name")
	s.At, s.Name = t.at, t.word
	p.want("(")
	s.Params = p.params(")")
	p.want(")")
	p.want(":")
	p.endLine(&s.Notes, "the end of the line, and an indented block")
	if p.peek().kind != indent {
		p.fail(p.peek().at, p.peek().String()+" cannot stand here", "the indented body of "+s.Name, "")
	}
	p.next()
	for p.peek().kind != dedent && p.peek().kind != endOfText {
		s.Body = append(s.Body, p.statement(false))
	}
	if p.peek().kind == dedent {
		p.next()
	}
	return s
}

// params reads names up to an end, which it leaves.
func (p *parser) params(end string) []Param {
	var out []Param
	for !p.is(end) {
		t := p.wantKind(name, "a parameter's name or '"+end+"'")
		for _, o := range out {
			if o.Name == t.word {
				p.fail(t.at, "two parameters named "+t.word, "another name", "")
			}
		}
		out = append(out, Param{t.at, t.word})
		if !p.skip(",") && !p.is(end) {
			p.unexpected("',' or '" + end + "'")
		}
	}
	return out
}
