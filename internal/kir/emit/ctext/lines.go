package ctext

import (
	"fmt"
	"strings"
)

// Lines is text under construction, at some depth of blocks.
type Lines struct {
	strings.Builder
	Indent int
}

// Line writes a line.
func (w *Lines) Line(format string, args ...any) {
	w.WriteString(strings.Repeat("  ", w.Indent))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// Comments writes text behind a prefix that makes comments of its lines.
func (w *Lines) Comments(prefix, text string) {
	if text == "" {
		return
	}
	for l := range strings.SplitSeq(text, "\n") {
		w.Line("%s%s", prefix, Comment(l))
	}
}

// Bound is an expression of some strength, in parentheses if it binds weaker than
// least.
func Bound(text string, strength, least int) string {
	if strength < least {
		return "(" + text + ")"
	}
	return text
}
