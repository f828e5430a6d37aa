package bolt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// statementParser reads tokens. It panics with an *Error.
type statementParser struct {
	text       string
	words      []word
	i          int
	depth      int
	aggregates bool // of the item that is read
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
