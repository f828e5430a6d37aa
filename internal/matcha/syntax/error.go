package syntax

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/caret"
)

// Pos is a place in a program: both count from 1, Col in characters.
type Pos struct{ Line, Col int }

// Error is a mistake in a program. A mistake at the end of the text is at the
// character after its last.
type Error struct {
	File string // "": not said
	Pos
	Msg      string
	Expected string // what could stand there; "" where there is nothing to say
	Hint     string // what to do about it; "" where there is nothing to say
	Source   string // the line of the text
}

// Error returns the message, the line, a caret under the column, what was
// expected and the hint, each on lines of their own.
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
	if e.Hint != "" {
		b.WriteString("\nhint: " + e.Hint)
	}
	return b.String()
}

// ErrorAt is the error of a mistake at a place in the program.
func (f *File) ErrorAt(at Pos, msg string) *Error {
	e := &Error{File: f.Name, Pos: at, Msg: msg}
	if 1 <= at.Line && at.Line <= len(f.lines) {
		e.Source = caret.Printable(f.lines[at.Line-1])
	}
	return e
}
