package gql

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// lineReader walks over the lines of a pattern file and knows where each is, so
// that errors have places.
type lineReader struct {
	text   string
	next   int // offset of the next line
	start  int // offset of this line
	fields []field
}

// field is a run of characters without blanks and its offset in the text.
type field struct {
	text string
	pos  int
}

// line reads the next line that is neither empty nor a comment, which begins
// with one of the characters of comment.
func (r *lineReader) line(comment string) bool {
	for r.next < len(r.text) {
		r.start = r.next
		line := r.text[r.start:]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
			r.next += end + 1
		} else {
			r.next = len(r.text)
		}
		if r.fields = split(line, r.start); len(r.fields) > 0 && !strings.Contains(comment, r.fields[0].text[:1]) {
			return true
		}
	}
	r.start = len(r.text)
	r.fields = nil
	return false
}

func split(line string, at int) []field {
	var out []field
	i := 0
	for i < len(line) {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		from := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if i > from {
			out = append(out, field{line[from:i], at + from})
		}
	}
	return out
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// fail reports field i of the line, or that a field is missing after the last.
func (r *lineReader) fail(i int, format string, args ...any) *Error {
	pos := r.start
	if i < len(r.fields) {
		pos = r.fields[i].pos
	} else if n := len(r.fields); n > 0 {
		pos = r.fields[n-1].pos + len(r.fields[n-1].text)
	}
	return errorAt(r.text, pos, fmt.Sprintf(format, args...))
}

// fileQuery makes the query of a pattern read from a file.
func fileQuery(p *pattern.Pattern, name, text string) *Query {
	p.Name = name
	return &Query{Pattern: p, Return: Return{Limit: -1}, Text: text, Name: name}
}

// addFileEdge appends an edge between two vertices of a pattern file. It returns
// a message where that cannot be.
func addFileEdge(p *pattern.Pattern, u, v int, dir pattern.Dir, label *pattern.Label) string {
	if u == v {
		return "an edge from a vertex to itself can never match: graphs are stored without self-loops"
	}
	if len(p.Edges) == maxEdges {
		return fmt.Sprintf("a pattern may have at most %d edges", maxEdges)
	}
	p.Edges = append(p.Edges, pattern.Edge{From: u, To: v, Dir: dir, Label: label, Min: 1, Max: 1})
	return ""
}
