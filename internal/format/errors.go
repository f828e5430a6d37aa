package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a mistake in an input, with its place. Errors of the operating system are not of
// this type.
type Error struct {
	File   string // as the user named it; "-" is the standard input
	Line   int64  // from 1; 0: not a text, or unknown
	Column int    // byte in the line, from 1; 0: the whole line
	Offset int64  // byte in the (decompressed) file; -1: unknown
	// Excerpt is the offending text, escaped and shortened.
	Excerpt string
	Cause   error
}

// Error gives file:line:column: cause: "excerpt".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File == "-" {
		b.WriteString("standard input")
	} else {
		b.WriteString(e.File)
	}
	switch {
	case e.Line > 0:
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(e.Line, 10))
		if e.Column > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(e.Column))
		}
	case e.Offset >= 0:
		fmt.Fprintf(&b, ": byte %d", e.Offset)
	}
	b.WriteString(": ")
	b.WriteString(e.Cause.Error())
	if e.Excerpt != "" {
		b.WriteString(": ")
		b.WriteString(e.Excerpt)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Causes that callers may test for with errors.Is.
var (
	ErrTruncated  = errors.New("the file is cut short")
	ErrNotText    = errors.New("this is not text")
	ErrLongLine   = errors.New("a line is longer than 1 MiB")
	ErrHeader     = errors.New("wrong header")
	ErrNegative   = errors.New("negative vertex id")
	ErrOverflow   = errors.New("number too large")
	ErrUTF8       = errors.New("not UTF-8")
	ErrColumns    = errors.New("wrong columns")
	ErrRagged     = errors.New("wrong number of fields")
	ErrNumber     = errors.New("not a number")
	ErrCount      = errors.New("the header's count is wrong")
	ErrRange      = errors.New("vertex outside the graph")
	ErrEmpty      = errors.New("the file is empty")
	ErrUnknown    = errors.New("unknown format")
	ErrLoss       = errors.New("the format cannot hold the graph")
	ErrOutput     = errors.New("wrong output") // files and formats to write that contradict each other
	ErrIDs        = errors.New("vertex ids do not fit together")
	ErrManyGraphs = errors.New("more than one graph in the file")
	ErrStructure  = errors.New("wrong structure") // of formats that are not tables
	ErrSymmetry   = errors.New("the adjacency of an undirected graph is not symmetric")
)

func wrapf(kind error, format string, a ...any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, a...))
}

// excerpt escapes and shortens text for a message.
func excerpt(b []byte) string {
	const most = 60
	cut := len(b) > most
	if cut {
		b = b[:most]
		for len(b) > most-4 && !utf8.RuneStart(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
	}
	s := strconv.Quote(string(b))
	if cut {
		s += "…"
	}
	return s
}

// spot is an error at a place inside a block of text: the byte offset in the
// block. The block's own place is added later.
type spot struct {
	pos   int
	field []byte
	err   error
}

func (s *spot) Error() string { return s.err.Error() }
func (s *spot) Unwrap() error { return s.err }
