// Package caret shows where in a line of text a mistake is.
//
// It knows lines and columns, and serves every language that weft reads. It must not know any
// of those languages.
package caret

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Under returns the line, indented by two blanks, and below it a caret under
// column col, which counts characters from 1. Of a long line it shows what is
// near the column. There is no newline at the end.
func Under(line string, col int) string {
	line, col = around(line, col)
	return "  " + line + "\n  " + indent(line, col) + "^"
}

// Printable replaces bytes that are not UTF-8, and control characters, which a
// file could use to play with the terminal.
func Printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return '\ufffd'
		}
		return r
	}, line)
}

// Message returns a message that may repeat a piece of the text, printable, and
// without the middle of what is too long to be read.
func Message(msg string) string {
	if r := []rune(msg); len(r) > 2*maxShown {
		msg = string(r[:maxShown]) + "…" + string(r[len(r)-maxShown/2:])
	}
	return Printable(msg)
}

// maxShown is the number of characters of a line that are shown.
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

// indent returns blanks as wide as the first col-1 characters of line. Tabs stay
// tabs, so that the caret is right whatever their width.
func indent(line string, col int) string {
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

// Extent returns the length in bytes of the piece at the start of text: a word or a
// number, or else one character. It is 0 at the end of the text or of its line.
func Extent(text string) int {
	n := 0
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if i == 0 && r != '\n' && r != '\r' {
				_, n = utf8.DecodeRuneInString(text)
			}
			break
		}
		n = i + utf8.RuneLen(r)
	}
	return n
}
