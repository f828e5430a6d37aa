package gql

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/pattern"
)

// LexemeKind says what a part of a text is.
type LexemeKind uint8

// The kinds of lexemes.
const (
	LexemeKeyword   LexemeKind = iota
	LexemeName                 // of a vertex, an edge, a column, or a pattern of the catalogue
	LexemeLabel                // of a vertex or an edge
	LexemeProperty             // after a dot, or before a colon in braces
	LexemeFunction             // a word before a parenthesis
	LexemeNumber               // a duration included
	LexemeString               // with its quotes
	LexemeParameter            // with its dollar
	LexemeSymbol               // brackets, operators, dashes, punctuation
	LexemeComment              // with its marks
	LexemeMistake              // a character or a number that the language does not have
)

// Lexeme is a part of a text, from byte Pos to before byte End. Text is a word or number as it is written, and a name,
// string or parameter without its quotes and its dollar.
type Lexeme struct {
	Kind     LexemeKind
	Text     string
	Pos, End int
}

// contextual are words that are keywords after some others, and names elsewhere.
var contextual = map[string][]string{
	"ADDED": {"EMIT"}, "BOTH": {"EMIT"}, "BY": {"GROUP"}, "DISTINCT": {"(", "RETURN"}, "EDGES": {"DIFFERENT"}, "ELEMENTS": {"REPEATABLE"},
	"NODES": {"DIFFERENT"}, "REMOVED": {"EMIT"}, "SUBGRAPHS": {"DISTINCT"}, "WATCH": {"CREATE"},
}

// Lexemes returns the parts of a text that may be incomplete or wrong, as while it is typed. Blanks are in none of them. A string,
// name or comment without an end goes to the end of the text.
func Lexemes(text string) []Lexeme {
	var s lexemes
	l := lexer{text: text}
	for {
		start := l.pos
		err := l.skipBlank()
		s.comments(text, start, l.pos)
		if err != nil { // a comment without an end
			s.add(Lexeme{LexemeComment, "", l.pos, len(text)})
			return s.all
		}
		start = l.pos
		t, err := l.next()
		switch t.pos, t.end = start, l.pos; {
		case err != nil:
			if s.mistake(text, start) {
				return s.all
			}
			l.pos = s.all[len(s.all)-1].End
		case t.kind == tokEnd:
			return s.all
		default:
			s.token(t, text, l)
		}
	}
}

// lexemes gathers the parts of a text.
type lexemes struct {
	all      []Lexeme
	open     []byte // brackets
	label    bool   // in an expression of labels
	previous string // the last keyword or symbol, in capitals; "" after anything else
}

func (s *lexemes) add(l Lexeme) { s.all = append(s.all, l) }

// comments adds the comments between two places that have blanks and whole comments alone.
func (s *lexemes) comments(text string, pos, end int) {
	for pos < end {
		switch rest := text[pos:end]; {
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.add(Lexeme{LexemeComment, "", pos, pos + n})
			pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return
			}
			s.add(Lexeme{LexemeComment, "", pos, pos + n + 4})
			pos += n + 4
		default:
			_, n := utf8.DecodeRuneInString(rest)
			pos += n
		}
	}
}

// mistake adds the part of a text at a place where no token is, and reports whether it is the last one.
func (s *lexemes) mistake(text string, pos int) (last bool) {
	rest := text[pos:]
	s.previous, s.label = "", false
	switch c := rest[0]; {
	case c == '\'' || c == '"': // without an end, or with an escape that strings do not have
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\\' {
				i++
			} else if rest[i] == c {
				s.add(Lexeme{LexemeMistake, "", pos, pos + i + 1})
				return false
			}
		}
		s.add(Lexeme{LexemeString, rest[1:], pos, len(text)})
		return true
	case c == '`' && len(rest) > 1 && rest[1] != '`':
		s.add(Lexeme{LexemeName, rest[1:], pos, len(text)})
		return true
	case c == '$':
		if strings.HasPrefix(rest, "$`") {
			s.add(Lexeme{LexemeParameter, rest[2:], pos, len(text)})
			return true
		}
		s.add(Lexeme{LexemeParameter, "", pos, pos + 1})
		return false
	case isDigit(c): // with letters
		n := len(rest) - len(strings.TrimLeftFunc(rest, func(r rune) bool { return letter(r) || r >= '0' && r <= '9' || r == '.' }))
		s.add(Lexeme{LexemeMistake, "", pos, pos + n})
		return false
	case strings.HasPrefix(rest, "``"):
		s.add(Lexeme{LexemeMistake, "", pos, pos + 2})
		return false
	}
	_, n := utf8.DecodeRuneInString(rest)
	s.add(Lexeme{LexemeMistake, "", pos, pos + n})
	return false
}

// token adds a token. Of a word its place decides what it is.
func (s *lexemes) token(t token, text string, l lexer) {
	x := Lexeme{Text: t.text, Pos: t.pos, End: t.end}
	previous := s.previous
	s.previous = ""
	switch t.kind {
	case tokSymbol:
		x.Kind, s.previous = LexemeSymbol, t.text
		s.symbol(t.text)
		s.add(x)
		return
	case tokFloat, tokDuration:
		x.Kind = LexemeNumber
	case tokInt:
		x.Kind = LexemeNumber
		if s.label && startsLabel[previous] {
			x.Kind = LexemeLabel
		}
	case tokString:
		x.Kind = LexemeString
	case tokParam:
		x.Kind = LexemeParameter
	case tokWord, tokQuoted:
		x.Kind = s.word(t, previous, l)
		if x.Kind == LexemeKeyword {
			s.previous = strings.ToUpper(t.text)
		}
	}
	s.label = s.label && x.Kind == LexemeLabel
	s.add(x)
}

// word is the kind of a word or a quoted name after a keyword or symbol. The lexer is behind it.
func (s *lexemes) word(t token, previous string, l lexer) LexemeKind {
	_ = l.skipBlank()
	upper := keywordOf(t)
	switch {
	case s.label && startsLabel[previous]:
		return LexemeLabel
	case previous == ".":
		return LexemeProperty
	case len(s.open) > 0 && s.open[len(s.open)-1] == '{' && l.at(0) == ':':
		return LexemeProperty
	case pattern.Reserved[upper] || slices.Contains(contextual[upper], previous):
		return LexemeKeyword
	case t.kind == tokWord && l.at(0) == '(':
		return LexemeFunction
	}
	return LexemeName
}

// startsLabel are the symbols after which a label stands, inside an expression of labels.
var startsLabel = map[string]bool{":": true, "|": true, "&": true, "!": true, "(": true}

// symbol follows brackets, and where an expression of labels begins and ends. Of its parentheses the letter l stands in open.
func (s *lexemes) symbol(text string) {
	switch text {
	case "(", "[", "{":
		bracket := text[0]
		if s.label = s.label && text == "("; s.label {
			bracket = 'l'
		}
		s.open = append(s.open, bracket)
	case ")", "]", "}":
		s.label = false
		if n := len(s.open); n > 0 {
			s.label = s.open[n-1] == 'l'
			s.open = s.open[:n-1]
		}
	case ":":
		s.label = len(s.open) > 0 && s.open[len(s.open)-1] != '{'
	case "|", "&", "!", "%":
	default:
		s.label = false
	}
}
