package gql

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a mistake in a query text, or in a pattern file. Line and Col count
// from 1, Col in characters; a mistake at the end of the text is at the
// character after its last.
type Error struct {
	File       string // "" for a query given as text
	Line, Col  int
	Msg        string
	Expected   string // what could stand there; "" where there is nothing to say
	Suggestion string // what was probably meant
	Source     string // the line of the text
}

// Error returns the message, the line, a caret under the column, what was
// expected and a suggestion, each on lines of their own.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	fmt.Fprintf(&b, "line %d, column %d: %s\n", e.Line, e.Col, e.Msg)
	line, col := around(e.Source, e.Col)
	b.WriteString("  " + line + "\n  " + caretIndent(line, col) + "^")
	if e.Expected != "" {
		b.WriteString("\nexpected " + e.Expected)
	}
	if e.Suggestion != "" {
		b.WriteString("\ndid you mean " + e.Suggestion + "?")
	}
	return b.String()
}

// maxShown is the number of characters of a line that a message shows.
const maxShown = 200

// around cuts a long line to what is near a column.
func around(line string, col int) (string, int) {
	r := []rune(line)
	if len(r) <= maxShown {
		return line, col
	}
	from := min(max(col-maxShown/2, 0), len(r)-maxShown)
	to := from + maxShown
	begin, end := "", ""
	if from > 0 {
		begin, col = "…", col-from+1
	}
	if to < len(r) {
		end = "…"
	}
	return begin + string(r[from:to]) + end, col
}

// printable replaces bytes that are not UTF-8, and control characters, which a
// file could use to play with the terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return '\ufffd'
		}
		return r
	}, line)
}

// caretIndent returns blanks as wide as the first col-1 characters of line.
// Tabs stay tabs, so that the caret is right whatever their width.
func caretIndent(line string, col int) string {
	var b strings.Builder
	for _, r := range line {
		if col--; col <= 0 {
			break
		}
		switch {
		case r == '\t':
			b.WriteByte('\t')
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// wide reports whether terminals show r in two columns.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3000 && r <= 0x303e || r >= 0xff01 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff
}

// errorAt makes an Error for a byte offset of text.
func errorAt(text string, pos int, msg string) *Error {
	pos = min(max(pos, 0), len(text))
	before := text[:pos]
	start := strings.LastIndexByte(before, '\n') + 1
	source := text[start:]
	if end := strings.IndexByte(source, '\n'); end >= 0 {
		source = source[:end]
	}
	return &Error{
		Line:   strings.Count(before, "\n") + 1,
		Col:    utf8.RuneCountInString(text[start:pos]) + 1,
		Msg:    msg,
		Source: printable(strings.TrimSuffix(source, "\r")),
	}
}

// Unsupported is the error of a construct that is parsed and not yet run.
type Unsupported struct{ Construct string }

func (e *Unsupported) Error() string { return "not yet: " + e.Construct }

// Disconnected is the error of a pattern that falls into parts, so that its
// matches are the product of the matches of the parts.
type Disconnected struct{ A, B string } // one vertex of each of two parts

func (e *Disconnected) Error() string {
	return fmt.Sprintf("the pattern is not connected: no path leads from %s to %s, so matches multiply; connect them, or ask for the product with --allow-product", e.A, e.B)
}
