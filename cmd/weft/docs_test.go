package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fence is a fenced block of a page: its info string and its text.
var fence = regexp.MustCompile("(?ms)^```(file|console)([^\n]*)\n(.*?)^```$")

// TestManual runs the examples of docs/cli.md. WEFT_REWRITE=1 writes what they
// print into the page.
func TestManual(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "cli.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got := fence.ReplaceAllStringFunc(string(text), func(block string) string {
		m := fence.FindStringSubmatch(block)
		if m[1] == "file" {
			if err := os.WriteFile(filepath.Join(dir, strings.TrimSpace(m[2])), []byte(m[3]), 0o644); err != nil {
				t.Fatal(err)
			}
			return block
		}
		var b strings.Builder
		b.WriteString("```console\n")
		for line := range strings.Lines(m[3]) {
			if command, ok := strings.CutPrefix(line, "$ weft "); ok {
				b.WriteString(line)
				out := runScript(dir, regexp.MustCompile(`(-g|-o|--source|--initial) (\S+)`).ReplaceAllString(command, "$1 $$D/$2"))
				b.WriteString(strings.ReplaceAll(strings.ReplaceAll(out, "$D/", ""), "stderr:\n", ""))
			}
		}
		return b.String() + "```"
	})
	if got == string(text) {
		return
	}
	if os.Getenv("WEFT_REWRITE") != "" {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(string(text), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s:%d: the example now prints %q", page, i+1, line)
		}
	}
}
