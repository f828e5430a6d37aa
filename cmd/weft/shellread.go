package main

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/vfs"
)

// mostNested is how deep :read may stand in files that :read reads. A file that reads itself ends there.
const mostNested = 16

// statements makes statements of lines.
type statements struct{ text string }

// line takes a line with its end, and returns the statements that it completes. The last line completes all.
func (p *statements) line(line string, last bool) (whole []string) {
	if strings.HasPrefix(strings.TrimSpace(line), ":") && strings.TrimSpace(p.text) == "" {
		whole, p.text = []string{line}, ""
	} else {
		whole, p.text = split(p.text + line)
		if last || strings.TrimSpace(line) == "" {
			whole, p.text = append(whole, p.text), ""
		}
	}
	kept := whole[:0]
	for _, x := range whole {
		if x = strings.TrimSuffix(strings.TrimSpace(x), ";"); x != "" {
			kept = append(kept, x)
		}
	}
	return kept
}

// readFile answers the statements of a file, and returns the exit code of the first error, at which it stops unless the shell goes on
// after errors.
func (s *shell) readFile(path string) int {
	a := s.a
	if path == "" {
		return a.exit(usagef(":read: want a file, as :read queries.txt"))
	}
	if s.nested >= mostNested {
		return a.exit(usagef(":read %s: files that read each other, %d deep", path, mostNested))
	}
	text, err := vfs.ReadFile(vfs.From(s.ctx), path)
	if err != nil {
		return a.exit(kindf(weft.ErrInput, "%w", err))
	}
	s.nested++
	defer func() { s.nested-- }()
	var p statements
	first := exitOK
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		for _, x := range p.line(line, i == len(lines)-1) {
			code := s.answer(x)
			if code != exitOK && s.ctx.Err() == nil {
				fmt.Fprintf(a.stderr, "weft: this was the statement that ends in line %d of %s\n", i+1, path)
			}
			if first == exitOK {
				first = code
			}
			if s.quit || s.ctx.Err() != nil || first != exitOK && !s.keepGoing {
				return first
			}
		}
	}
	return first
}
