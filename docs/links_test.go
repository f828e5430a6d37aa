package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/weftgraph/weft"
)

// TestLinks holds every document of the project to its links: the file that a relative link names exists, and so does
// the heading that an anchor names.
func TestLinks(t *testing.T) {
	links := 0
	err := filepath.WalkDir("..", func(page string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && page != ".." && (strings.HasPrefix(name, ".") || name == "dist" || name == "bin" || name == "node_modules") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(page) != ".md" {
			return nil
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		broken, n := brokenLinks(page, string(text))
		links += n
		for _, line := range broken {
			t.Error(line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// TestOptions holds the pages for users to the options of engines: each that they name exists.
func TestOptions(t *testing.T) {
	known := map[string]bool{}
	for _, o := range weft.EngineOptions() {
		known[o.Name] = true
	}
	named := regexp.MustCompile("`(?:--engine-opt )?((?:plan|host|stack|fine|codegen|partition|gpu)[.][a-z.-]+)(?:=[^`]*)?`")
	options := 0
	for _, page := range []string{"../README.md", "cli.md", "language.md", "manual.md", "matcha.md", "roadmap.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(prose(string(text)), -1) {
			if path.Ext(m[1]) == ".md" {
				continue
			}
			options++
			if !known[m[1]] {
				t.Errorf("%s: there is no option %s", page, m[1])
			}
		}
	}
	if options < 8 {
		t.Errorf("only %d options were found", options)
	}
}

// TestNotes holds the pages on speed to their notes: each is in the table of one of them.
func TestNotes(t *testing.T) {
	notes, err := filepath.Glob("notes/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var pages string
	for _, page := range []string{"benchmarks.md", "gpu.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(text), "\n## Notes\n")
		pages += table
	}
	for _, note := range notes {
		if !strings.Contains(pages, "]("+filepath.ToSlash(note)+") |") {
			t.Errorf("neither benchmarks.md nor gpu.md lists %s", note)
		}
	}
	if len(notes) == 0 {
		t.Error("there are no notes")
	}
}

// TestPaths holds the documents to the project's files: each quoted path below one of its folders exists.
func TestPaths(t *testing.T) {
	quoted := regexp.MustCompile("`((?:internal|cmd|docs|scripts)/[^`\\s:]*)[^`]*`")
	paths := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(prose(string(text)), "\n") {
			for _, m := range quoted.FindAllStringSubmatch(line, -1) {
				paths++
				pattern := strings.Replace(m[1], "…", "*", 1)
				found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
				if err != nil {
					t.Fatal(err)
				}
				if len(found) == 0 {
					t.Errorf("%s:%d: there is no file %s", page, i+1, m[1])
				}
			}
		}
	}
	if paths < 50 {
		t.Errorf("only %d paths were found", paths)
	}
}

func TestBrokenLinks(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	other := "# Title\n\n## `weft` and C++: a, b\n\n## Twice\n\n## Twice\n\n```\n# not a heading\n```\n"
	if err := os.WriteFile(filepath.Join(dir, "other.md"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text          string
		links, broken int
	}{
		{"[a](other.md) [b](https://example.com/none) [c](other.md#title)", 2, 0},
		{"[a](other.md#weft-and-c-a-b) [b](other.md#twice-1)", 2, 0},
		{"[a](missing.md)", 1, 1},
		{"[a](other.md#not-a-heading)", 1, 1},
		{"[a](other.md#twice-2)", 1, 1},
		{"# Here\n[a](#here) [b](#there)", 2, 1},
		{"![a](missing.svg)", 1, 1},
		{"`[a](missing.md)`\n```\n[a](missing.md)\n```", 0, 0},
		{"a [link\nin two lines](missing.md)", 1, 1},
	} {
		broken, links := brokenLinks(page, c.text)
		if links != c.links || len(broken) != c.broken {
			t.Errorf("%q: %d links and broken %q, want %d and %d", c.text, links, broken, c.links, c.broken)
		}
	}
}

var (
	link       = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	// linked is the text of a heading's links, whose addresses are not part of its anchor.
	linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// brokenLinks returns a line for each relative link of a page whose file or anchor does not exist, and the number of
// relative links.
func brokenLinks(page, text string) (broken []string, links int) {
	for i, line := range strings.Split(prose(text), "\n") {
		for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			path, anchor, hasAnchor := strings.Cut(m[1], "#")
			target, targetText := page, text
			if path != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
				if info, err := os.Stat(target); err != nil {
					broken = append(broken, fmt.Sprintf("%s:%d: %s: there is no such file", page, i+1, m[1]))
					continue
				} else if info.IsDir() || !hasAnchor {
					continue
				}
				data, err := os.ReadFile(target)
				if err != nil {
					broken = append(broken, fmt.Sprintf("%s:%d: %s: %v", page, i+1, m[1], err))
					continue
				}
				targetText = string(data)
			}
			if !anchors(targetText)[anchor] {
				broken = append(broken, fmt.Sprintf("%s:%d: %s: the page has no such heading", page, i+1, m[1]))
			}
		}
	}
	return broken, links
}

// prose returns a page with its fenced blocks emptied, line by line.
func prose(text string) string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(line, "```")
		if fence || fenced {
			lines[i] = ""
		}
		fenced = fenced != fence
	}
	return strings.Join(lines, "\n")
}

// anchors returns the anchors of a page's headings, made as GitHub makes them: in lower case, a hyphen for each blank,
// without punctuation, and numbered where a heading is repeated.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	seen := map[string]int{}
	for line := range strings.Lines(prose(text)) {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		title = linked.ReplaceAllString(strings.TrimSpace(title), "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		n := seen[anchor]
		seen[anchor]++
		if n > 0 {
			anchor = fmt.Sprintf("%s-%d", anchor, n)
		}
		found[anchor] = true
	}
	return found
}
