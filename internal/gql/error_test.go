package gql

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestErrorShowsLittle: a long line is cut around the mistake, the caret stays
// under it, and nothing that is shown can play with a terminal.
func TestErrorShowsLittle(t *testing.T) {
	for _, text := range []string{
		"MATCH (a)--(b" + strings.Repeat(" ", 5000) + "? " + strings.Repeat("x", 5000),
		"? " + strings.Repeat("x", 5000),
		strings.Repeat("x", 5000) + " ?",
	} {
		_, err := Parse(text)
		lines := strings.Split(err.Error(), "\n")
		shown, caret := []rune(lines[1]), utf8.RuneCountInString(lines[2])-1
		if len(shown) > 204 || caret >= len(shown)+1 {
			t.Errorf("%d characters, caret at %d", len(shown), caret)
		}
		if text[0] == 'M' && shown[caret] != '?' {
			t.Errorf("the caret is under %q", shown[caret])
		}
	}
	for _, text := range []string{"MATCH \x1b[31m\xff\xfe(", "MATCH (a) RETURN `\x1b[31m`"} {
		_, err := Parse(text)
		if strings.Contains(err.Error(), "\x1b") || !utf8.ValidString(err.Error()) {
			t.Errorf("%q", err.Error())
		}
	}
	// What a message repeats of the text, too.
	long := strings.Repeat("x", 5000)
	for _, text := range []string{long, "MATCH " + long, "MATCH (a) RETURN " + long, "MATCH (a) RETURN " + long + "(a)"} {
		if _, err := Parse(text); len(err.Error()) > 1000 {
			t.Errorf("%d characters: %.300s", len(err.Error()), err.Error())
		}
	}
}
