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
	Offset   int // in bytes of the text, from 0; -1: not known
	Length   int // of the word or the character there, in bytes; 0 at the end of a line
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
	e := &Error{File: f.Name, Pos: at, Offset: -1, Msg: msg}
	if at.Line < 1 || at.Line > len(f.lines) {
		return e
	}
	line := f.lines[at.Line-1]
	e.Source, e.Offset = caret.Printable(line), f.mark
	for _, before := range f.lines[:at.Line-1] {
		e.Offset += len(before) + 1
	}
	col := 1
	for i := range line {
		if col == at.Col {
			line = line[i:]
			e.Offset += i
			e.Length = caret.Extent(line)
			return e
		}
		col++
	}
	e.Offset += len(line)
	return e
}

// Within returns the place in the program of character n, from 1, of the text whose opening mark
// is at a place. The place after the last character is that of the closing mark.
//
// Why: the program has some characters of a text twice, namely those like its marks.
func (f *File) Within(text Pos, n int) Pos {
	line := []rune(f.lines[text.Line-1])
	mark, at := line[text.Col-1], text.Col // line[at] is the next character
	for ; n > 1 && at < len(line)-1; n-- {
		if line[at] == mark {
			at++
		}
		at++
	}
	return Pos{text.Line, at + 1}
}
