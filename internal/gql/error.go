package gql

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/caret"
)

// Error is a mistake in a query text, or in a pattern file. Line and Col count
// from 1, Col in characters; a mistake at the end of the text is at the
// character after its last.
type Error struct {
	File       string // "" for a query given as text
	Line, Col  int
	Offset     int // in bytes, from 0
	Length     int // of the word or the character there, in bytes; 0 at the end of the text
	Msg        string
	Expected   string // a text that could stand there; "" if not known
	Suggestion string // the word that was probably meant
	Source     string // the line of the text
}

// Error returns the message, the line, a caret under the column, the expected text and a
// suggestion, each on separate lines.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	fmt.Fprintf(&b, "line %d, column %d: %s\n", e.Line, e.Col, e.Msg)
	b.WriteString(caret.Under(e.Source, e.Col))
	if e.Expected != "" {
		b.WriteString("\nexpected " + e.Expected)
	}
	if e.Suggestion != "" {
		b.WriteString("\ndid you mean " + e.Suggestion + "?")
	}
	return b.String()
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
		Offset: pos,
		Length: caret.Extent(text[pos:]),
		Line:   strings.Count(before, "\n") + 1,
		Col:    utf8.RuneCountInString(text[start:pos]) + 1,
		Msg:    caret.Message(msg),
		Source: caret.Printable(strings.TrimSuffix(source, "\r")),
	}
}

// Unsupported is the error of a construct that is parsed and not yet run.
type Unsupported struct {
	Construct string
	At        *Error // where it stands; nil where the query has no text
}

func (e *Unsupported) Error() string {
	if e.At != nil {
		return e.At.Error()
	}
	return "not yet: " + e.Construct
}

// Disconnected is the error of a pattern that falls into parts, so that its
// matches are the product of the matches of the parts.
type Disconnected struct{ A, B string } // one vertex of each of two parts

func (e *Disconnected) Error() string {
	return fmt.Sprintf("the pattern is not connected: no path leads from %s to %s, so matches multiply; connect them, or ask for the product with --allow-product", e.A, e.B)
}
