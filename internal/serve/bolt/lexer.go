package bolt

import (
	"strconv"
	"strings"
	"unicode"
)

// word is a token.
type word struct {
	text  string
	kind  byte // w: word, q: quoted name, s: text, n: number, p: parameter, o: other, 0: end, ?: none of these
	at    int
	value any
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

func (w word) is(text string) bool {
	return (w.kind == 'w' || w.kind == 'o') && strings.EqualFold(w.text, text)
}
