package gql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/pattern"
)

type tokenKind uint8

const (
	tokEnd      tokenKind = iota
	tokWord               // identifier or keyword
	tokQuoted             // `name`; text is unquoted
	tokInt                // digits
	tokFloat              // 1.5, 1e6
	tokDuration           // 24h
	tokString             // 'text'; text is unquoted
	tokParam              // $name; text is the name
	tokSymbol             // one of symbols
)

// token is one lexical unit. text is its meaning, and pos and end are its place.
type token struct {
	kind     tokenKind
	text     string
	pos, end int
}

// symbols, longest first where one begins another. Dashes and angle brackets
// stay single, since whether they make an arrow depends on the place; so do "<"
// and "-" in a.x<-5.
var symbols = []string{"<=", ">=", "<>", "!=", "..", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "|", "&", "!", "%", "<", ">", "=", "+", "-", "*", "/", "~"}

// lex cuts text into tokens; the last is tokEnd.
func lex(text string) ([]token, error) {
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	l := lexer{text: text}
	for {
		if err := l.skipBlank(); err != nil {
			return nil, err
		}
		start := l.pos
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		t.pos, t.end = start, l.pos
		l.tokens = append(l.tokens, t)
		if t.kind == tokEnd {
			return l.tokens, nil
		}
	}
}

// checkUTF8 returns an *Error at the first byte that is not part of a character.
func checkUTF8(text string) error {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return errorAt(text, i, "the text is not valid UTF-8")
		}
		i += size
	}
	return nil
}

type lexer struct {
	text   string
	pos    int
	tokens []token
}

// skipBlank skips white space and comments.
func (l *lexer) skipBlank() error {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			l.pos += size
		case strings.HasPrefix(rest, "//"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				l.pos += end
			} else {
				l.pos = len(l.text)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errorAt(l.text, l.pos, "this comment has no end").expecting("*/")
			}
			l.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (e *Error) expecting(what string) *Error {
	e.Expected = what
	return e
}

func (e *Error) suggesting(what string) *Error {
	e.Suggestion = what
	return e
}

func letter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func (l *lexer) next() (token, error) {
	rest := l.text[l.pos:]
	if rest == "" {
		return token{kind: tokEnd}, nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case letter(r):
		return token{kind: tokWord, text: l.word()}, nil
	case r >= '0' && r <= '9':
		return l.number()
	case r == '`':
		return l.quotedName()
	case r == '\'' || r == '"':
		return l.quotedString(byte(r))
	case r == '$':
		return l.param()
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			l.pos += len(s)
			return token{kind: tokSymbol, text: s}, nil
		}
	}
	err := errorAt(l.text, l.pos, "the character "+string(r)+" has no meaning here")
	if r == '#' {
		err.Expected = "// before a comment"
	}
	return token{}, err
}

func (l *lexer) word() string {
	start := l.pos
	for l.pos < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.pos:])
		if !letter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			break
		}
		l.pos += size
	}
	return l.text[start:l.pos]
}

func (l *lexer) digits() {
	for l.pos < len(l.text) && l.text[l.pos] >= '0' && l.text[l.pos] <= '9' {
		l.pos++
	}
}

func (l *lexer) at(i int) byte {
	if l.pos+i < len(l.text) {
		return l.text[l.pos+i]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads an integer, a float, or an integer with a unit of time.
func (l *lexer) number() (token, error) {
	start := l.pos
	kind := tokInt
	l.digits()
	if l.at(0) == '.' && isDigit(l.at(1)) { // not the dots of *1..3
		kind = tokFloat
		l.pos++
		l.digits()
	}
	if c := l.at(0); c == 'e' || c == 'E' {
		sign := 0
		if l.at(1) == '+' || l.at(1) == '-' {
			sign = 1
		}
		if isDigit(l.at(1 + sign)) {
			kind = tokFloat
			l.pos += 1 + sign
			l.digits()
		}
	}
	unitAt := l.pos
	if unit := l.word(); unit != "" {
		if kind != tokInt || unitSize(unit) == 0 {
			return token{}, errorAt(l.text, unitAt, "a number cannot go on with "+unit).
				expecting("a unit of time (w, d, h, m, s, ms, us, ns), or back quotes around a name that begins with a digit")
		}
		kind = tokDuration
	}
	return token{kind: kind, text: l.text[start:l.pos]}, nil
}

func unitSize(unit string) int64 {
	for _, u := range pattern.DurationUnits {
		if strings.EqualFold(u.Name, unit) {
			return u.Size
		}
	}
	return 0
}

// quotedName reads `name`, in which two back quotes stand for one.
func (l *lexer) quotedName() (token, error) {
	start := l.pos
	var b strings.Builder
	for l.pos++; l.pos < len(l.text); l.pos++ {
		if l.text[l.pos] != '`' {
			b.WriteByte(l.text[l.pos])
			continue
		}
		if l.at(1) == '`' {
			b.WriteByte('`')
			l.pos++
			continue
		}
		l.pos++
		if b.Len() == 0 {
			return token{}, errorAt(l.text, start, "a name cannot be empty")
		}
		return token{kind: tokQuoted, text: b.String()}, nil
	}
	return token{}, errorAt(l.text, start, "this back-quoted name has no end").expecting("`")
}

// quotedString reads a string in either kind of quotes. A backslash escapes the
// quotes, itself, and n, r, t; a doubled quote stands for one.
func (l *lexer) quotedString(quote byte) (token, error) {
	start := l.pos
	var b strings.Builder
	for l.pos++; l.pos < len(l.text); l.pos++ {
		c := l.text[l.pos]
		switch {
		case c == '\\':
			e, ok := map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '\'': '\'', '"': '"'}[l.at(1)]
			if !ok {
				return token{}, errorAt(l.text, l.pos, "unknown escape in a string").expecting(`\n, \r, \t, \\, \' or \"`)
			}
			b.WriteByte(e)
			l.pos++
		case c == quote && l.at(1) == quote:
			b.WriteByte(c)
			l.pos++
		case c == quote:
			l.pos++
			return token{kind: tokString, text: b.String()}, nil
		default:
			b.WriteByte(c)
		}
	}
	return token{}, errorAt(l.text, start, "this string has no end").expecting(string(quote))
}

func (l *lexer) param() (token, error) {
	start := l.pos
	l.pos++
	if l.at(0) == '`' {
		t, err := l.quotedName()
		t.kind = tokParam
		return t, err
	}
	name := l.word()
	if name == "" {
		return token{}, errorAt(l.text, start, "$ needs the name of a parameter").expecting("$name")
	}
	return token{kind: tokParam, text: name}, nil
}
