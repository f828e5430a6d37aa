package caret

import (
	"strings"
	"testing"
)

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		line string
		col  int
		want string
	}{
		{"let x = 1", 5, "  let x = 1\n      ^"},
		{"\tab", 3, "  \tab\n  \t ^"},
		{"名a", 2, "  名a\n    ^"},
		{"", 1, "  \n  ^"},
	} {
		if got := Under(c.line, c.col); got != c.want {
			t.Errorf("Under(%q, %d) = %q, want %q", c.line, c.col, got, c.want)
		}
	}
}

func TestUnderLongLine(t *testing.T) {
	line := strings.Repeat("a", 500) + "X" + strings.Repeat("b", 500)
	text, mark, _ := strings.Cut(Under(line, 501), "\n")
	r := []rune(text)
	if len(r) > maxShown+4 || r[len(mark)-1] != 'X' {
		t.Errorf("the caret is not under X:\n%s\n%s", text, mark)
	}
}

func TestMessage(t *testing.T) {
	if got := Message("unknown name \x1b[31m"); got != "unknown name \ufffd[31m" {
		t.Errorf("%q", got)
	}
	got := Message("unknown " + strings.Repeat("ä", 5000) + "; it must have an end")
	if n := len([]rune(got)); n > 2*maxShown || !strings.HasPrefix(got, "unknown ä") || !strings.HasSuffix(got, "ä; it must have an end") {
		t.Errorf("%d characters: %s", n, got)
	}
}
