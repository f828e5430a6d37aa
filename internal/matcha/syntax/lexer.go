package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Comment is a line of explanation; Text has the number sign.
type Comment struct {
	Text  string
	Blank bool // an empty line stands before it
	line  int
}

// lexer cuts a text into tokens. Line ends inside brackets mean nothing.
type lexer struct {
	file     *File
	rest     string // of the current line
	at       Pos
	brackets []token
	indents  []int
	tokens   []token
	comments []Comment
}

func lex(f *File) ([]token, []Comment, *Error) {
	l := &lexer{file: f, indents: []int{0}}
	for i, line := range f.lines {
		l.rest, l.at = line, Pos{i + 1, 1}
		if err := l.line(); err != nil {
			return nil, nil, err
		}
	}
	if n := len(l.brackets); n > 0 {
		b := l.brackets[n-1]
		e := f.ErrorAt(l.at, "the program ends inside a bracket")
		e.Expected = "'" + closing[b.word] + "'"
		return nil, nil, e
	}
	end := l.at
	for range l.indents[1:] {
		l.tokens = append(l.tokens, token{kind: dedent, at: end, end: end})
	}
	return append(l.tokens, token{kind: endOfText, at: end, end: end}), l.comments, nil
}

var closing = map[string]string{"(": ")", "[": "]"}

// line cuts one line.
func (l *lexer) line() *Error {
	blanks := len(l.rest) - len(strings.TrimLeft(l.rest, " \t\r"))
	margin := l.rest[:blanks]
	l.skip(blanks)
	if l.rest == "" {
		return nil
	}
	if l.rest[0] == '#' {
		l.comment()
		return nil
	}
	if len(l.brackets) == 0 {
		if i := strings.IndexByte(margin, '\t'); i >= 0 {
			e := l.file.ErrorAt(Pos{l.at.Line, i + 1}, "a tab in the indentation")
			e.Expected = "blanks"
			return e
		}
		if err := l.indentation(len(margin)); err != nil {
			return err
		}
	}
	before := len(l.tokens)
	for l.rest != "" && l.rest[0] != '#' {
		if err := l.token(); err != nil {
			return err
		}
		l.skip(len(l.rest) - len(strings.TrimLeft(l.rest, " \t\r")))
	}
	if l.rest != "" {
		l.comment()
	}
	if len(l.brackets) == 0 && len(l.tokens) > before {
		end := l.tokens[len(l.tokens)-1].end
		l.tokens = append(l.tokens, token{kind: newline, at: end, end: end})
	}
	return nil
}

// indentation opens or closes blocks.
func (l *lexer) indentation(width int) *Error {
	top := l.indents[len(l.indents)-1]
	if width > top {
		l.indents = append(l.indents, width)
		l.tokens = append(l.tokens, token{kind: indent, at: l.at, end: l.at})
		return nil
	}
	for width < top {
		l.indents = l.indents[:len(l.indents)-1]
		top = l.indents[len(l.indents)-1]
		l.tokens = append(l.tokens, token{kind: dedent, at: l.at, end: l.at})
	}
	if width != top {
		e := l.file.ErrorAt(l.at, "the indentation is not that of a block around this line")
		e.Expected = "as many blanks as a line above begins with"
		return e
	}
	return nil
}

// skip passes over n bytes.
func (l *lexer) skip(n int) {
	l.at.Col += utf8.RuneCountInString(l.rest[:n])
	l.rest = l.rest[n:]
}

func (l *lexer) comment() {
	l.comments = append(l.comments, Comment{Text: tidy(l.rest), line: l.at.Line})
	l.skip(len(l.rest))
}

// tidy is a comment as it is kept: no blanks at the end, nothing unprintable.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.TrimRightFunc(s, unicode.IsSpace)
}

// add makes a token of the next n bytes.
func (l *lexer) add(k kind, n int) {
	t := token{kind: k, word: l.rest[:n], at: l.at}
	l.skip(n)
	t.end = l.at
	l.tokens = append(l.tokens, t)
}

func (l *lexer) token() *Error {
	r, _ := utf8.DecodeRuneInString(l.rest)
	switch {
	case r == '_' || unicode.IsLetter(r):
		return l.word()
	case '0' <= r && r <= '9':
		return l.number()
	case r == '\'' || r == '"':
		return l.quoted(byte(r))
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.rest, s) {
			l.add(symbol, len(s))
			return l.bracket()
		}
	}
	e := l.file.ErrorAt(l.at, "a character that means nothing here")
	e.Expected = "a name, a number or an operator"
	return e
}

// bracket keeps account of the brackets that are open.
func (l *lexer) bracket() *Error {
	t := l.tokens[len(l.tokens)-1]
	switch t.word {
	case "(", "[":
		l.brackets = append(l.brackets, t)
	case ")", "]":
		n := len(l.brackets)
		if n == 0 {
			return l.file.ErrorAt(t.at, "'"+t.word+"' closes nothing")
		}
		if want := closing[l.brackets[n-1].word]; want != t.word {
			e := l.file.ErrorAt(t.at, "'"+t.word+"' does not close '"+l.brackets[n-1].word+"'")
			e.Expected = "'" + want + "'"
			return e
		}
		l.brackets = l.brackets[:n-1]
	}
	return nil
}

func (l *lexer) word() *Error {
	n := strings.IndexFunc(l.rest, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if n < 0 {
		n = len(l.rest)
	}
	word := l.rest[:n]
	if hint, ok := reserved[word]; ok {
		e := l.file.ErrorAt(l.at, "'"+word+"' is not part of the language")
		e.Hint = hint
		return e
	}
	if keywords[word] {
		l.add(keyword, n)
	} else {
		l.add(name, n)
	}
	return nil
}

// number cuts 12, 1.5 or 1e-3. A range 0..9 is two numbers.
func (l *lexer) number() *Error {
	digits := func(i int) int {
		for i < len(l.rest) && '0' <= l.rest[i] && l.rest[i] <= '9' {
			i++
		}
		return i
	}
	k, n := integer, digits(0)
	if n+1 < len(l.rest) && l.rest[n] == '.' && digits(n+1) > n+1 {
		k, n = decimal, digits(n+1)
	}
	if n < len(l.rest) && (l.rest[n] == 'e' || l.rest[n] == 'E') {
		m := n + 1
		if m < len(l.rest) && (l.rest[m] == '+' || l.rest[m] == '-') {
			m++
		}
		if digits(m) > m {
			k, n = decimal, digits(m)
		}
	}
	if r, _ := utf8.DecodeRuneInString(l.rest[n:]); r == '_' || unicode.IsLetter(r) {
		return l.file.ErrorAt(l.at, "a number that runs into a name")
	}
	l.add(k, n)
	return nil
}

// quoted cuts a text, in which the mark that it stands between is written twice.
func (l *lexer) quoted(mark byte) *Error {
	n := 1
	for {
		i := strings.IndexByte(l.rest[n:], mark)
		if i < 0 {
			e := l.file.ErrorAt(l.at, "a text that does not end on its line")
			e.Expected = string(mark)
			return e
		}
		if n += i; n+1 == len(l.rest) || l.rest[n+1] != mark {
			break
		}
		n += 2
	}
	s := l.rest[1:n]
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return l.file.ErrorAt(l.at, "a text with characters that cannot be printed")
	}
	l.add(text, n+1)
	once := string(mark)
	l.tokens[len(l.tokens)-1].word = strings.ReplaceAll(s, once+once, once)
	return nil
}
