// Package docs_test runs the examples of README.md and of this folder.
//
// A fenced block marked `console` is a session in the project's folder: a line
// "$ command" and what it writes. Times and sizes may differ; "…" stands for any
// text in a line, and alone on a line for any lines. A block marked `weft` is
// queries, which must be readable. A block marked `matcha` is a program, which
// must be right, and in canonical form; with the name of a file behind the mark,
// the page's sessions find it under that name. `go test ./docs -rewrite` writes the outputs
// anew.
package docs_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/native"
)

var rewrite = flag.Bool("rewrite", false, "write what the examples print into the documents")

// pages are the documents, by paths from this folder.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(top, found...)
}

// block is a fenced block of a document.
type block struct {
	kind  string
	line  int // of the first line inside, from 1
	lines []string
}

func blocks(text string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		switch fence := strings.HasPrefix(line, "```"); {
		case fence && open == nil:
			open = &block{kind: strings.TrimPrefix(line, "```"), line: i + 2}
		case fence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	return out
}

func TestQueries(t *testing.T) {
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(data)) {
			if b.kind != "weft" {
				continue
			}
			file := filepath.Join(t.TempDir(), "example.weft")
			if err := os.WriteFile(file, []byte(strings.Join(b.lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := weft.ParseFile(t.Context(), file); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
}

func TestMatcha(t *testing.T) {
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(data)) {
			if b.kind != "matcha" && !strings.HasPrefix(b.kind, "matcha ") {
				continue
			}
			text := strings.Join(b.lines, "\n") + "\n"
			if m, err := weft.ParseMatcha("", text); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			} else if m.String() != text {
				t.Errorf("%s:%d: the canonical form is\n%s", page, b.line, m)
			}
		}
	}
}

// TestConsole runs the sessions in a folder that looks like the project's: it
// has testdata, and what the sessions write goes away.
func TestConsole(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("the examples are written for bash")
	}
	if testing.Short() {
		t.Skip("skipped by -short")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "weft"), "./cmd/weft")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran, skipped := 0, 0
	_, noCompiler := native.C()
	for _, page := range pages(t) {
		if page == "cli.md" {
			continue // cmd/weft has its test
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		shift := 0 // by which rewriting has moved the lines that follow
		for _, b := range blocks(string(data)) {
			if file, ok := strings.CutPrefix(b.kind, "matcha "); ok {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Join(b.lines, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if b.kind != "console" {
				continue
			}
			var fresh []string
			for _, s := range steps(b.lines) {
				ran++
				got := run(t, shell, dir, bin, strings.Join(s.command, "\n"))
				fresh = append(fresh, s.shown...)
				if noCompiler != nil && slices.Contains(got, "weft: "+noCompiler.Error()) {
					skipped++
					got = s.output
				}
				if same(s.output, got) {
					fresh = append(fresh, s.output...)
					continue
				}
				fresh = append(fresh, got...)
				if !*rewrite {
					t.Errorf("%s:%d: $ %s\nwrites\n%s\nbut the page has\n%s", page, b.line+s.line,
						strings.Join(s.command, "\n"), strings.Join(got, "\n"), strings.Join(s.output, "\n"))
				}
			}
			at := b.line - 1 + shift
			lines = append(lines[:at:at], append(fresh, lines[at+len(b.lines):]...)...)
			shift += len(fresh) - len(b.lines)
		}
		if text := strings.Join(lines, "\n"); *rewrite && text != string(data) {
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d commands", ran)
	if skipped > 0 {
		t.Run("compiled", func(t *testing.T) { t.Skipf("no C compiler, cc: %d commands", skipped) })
	}
	if ran < 10 {
		t.Errorf("only %d commands are shown", ran)
	}
}

// step is one command of a session and what it writes. A line that ends in a
// backslash goes on.
type step struct {
	line            int
	shown           []string // the command's lines as the page has them
	command, output []string
}

func steps(lines []string) []step {
	var out []step
	for i := 0; i < len(lines); i++ {
		first, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			if len(out) > 0 {
				s := &out[len(out)-1]
				s.output = append(s.output, lines[i])
			}
			continue
		}
		s := step{line: i, shown: []string{lines[i]}, command: []string{first}}
		for strings.HasSuffix(lines[i], `\`) && i+1 < len(lines) {
			i++
			s.shown = append(s.shown, lines[i])
			s.command = append(s.command, strings.TrimPrefix(lines[i], "> "))
		}
		out = append(out, s)
	}
	return out
}

// run runs a command in dir; what it writes to both outputs comes back by line.
func run(t *testing.T, shell, dir, bin, command string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell, "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	_ = cmd.Run() // what it writes says how it ended
	text := strings.TrimRight(both.String(), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// varying is what differs from run to run: times, sizes of memory, decimals; and
// estimates, which change when planning does. Seconds after the column complete
// may be 1e-05, or 0.
var varying = regexp.MustCompile(`(≈|about) [\d ]+(\.\d+)?|\d+(\.\d+)?([eE][-+]?\d+)?\s?(ns|µs|ms|s|m|h|[KMGT]i?B|[KMGT]B|bytes)\b|\d+(\.\d+)?[eE][-+]?\d+|\d+\.\d+|(true|false)[ ,]+\d[-+.\de]*`)

var spaces = regexp.MustCompile(` +`)

// mask takes what varies out of a line, with the blanks that align columns.
func mask(line string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(varying.ReplaceAllString(line, "#"), " "))
}

func TestMask(t *testing.T) {
	want := mask("  681   1362   2  iso  true      1.1e-05  path(4)")
	for _, seconds := range []string{"0", "1e-05", "0.000012", "12.5"} {
		if got := mask("  681   1362   2  iso  true      " + seconds + "  path(4)"); got != want {
			t.Errorf("%s: %q, want %q", seconds, got, want)
		}
		if got, want := mask("6,iso,true,"+seconds+",path(4)"), "6,iso,#,path(4)"; got != want {
			t.Errorf("%s: %q, want %q", seconds, got, want)
		}
	}
}

// same reports whether a page's lines describe what was written.
func same(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "…" {
		for i := range len(got) + 1 {
			if same(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	if len(got) == 0 {
		return false
	}
	if len(want) == 1 && want[0] == "" {
		return same(nil, got)
	}
	return sameLine(mask(want[0]), mask(got[0])) && same(want[1:], got[1:])
}

func sameLine(want, got string) bool {
	parts := strings.Split(want, "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	ok, err := regexp.MatchString("^"+strings.Join(parts, ".*")+"$", got)
	return ok && err == nil
}

// TestTable recounts the tables of semantics, by the API.
func TestTable(t *testing.T) {
	g, err := weft.Open(t.Context(), "../testdata/graphs/karate.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"../README.md", "manual.md"} {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, table, ok := strings.Cut(string(data), "| pattern in karate.txt | | hom | trail | iso | induced |\n")
		if !ok {
			t.Errorf("%s has no table", page)
			continue
		}
		name, rows := "", 0
		for line := range strings.Lines(table) {
			cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, ""), "|")
			if len(cells) != 8 {
				break
			}
			if strings.Contains(cells[1], "`") {
				name = strings.Split(cells[1], "`")[1]
			}
			what := strings.TrimSpace(cells[2])
			if what != "embeddings" && what != "subgraphs" {
				continue
			}
			rows++
			for i, options := range [][]weft.Option{
				{weft.WithSemantics("hom")}, {weft.WithSemantics("trail")}, nil, {weft.WithInduced(true)},
			} {
				q, err := weft.PatternByName(name)
				if err != nil {
					t.Fatal(err)
				}
				r, err := g.Count(t.Context(), q, options...)
				if err != nil {
					t.Fatal(err)
				}
				n := r.Embeddings
				if what == "subgraphs" {
					n = r.Subgraphs
				}
				got, want := "–", strings.TrimSpace(cells[3+i])
				if n != nil {
					got = n.String()
				}
				if got != want {
					t.Errorf("%s: %s, %s, column %d: %s, counted %s", page, name, what, i+1, want, got)
				}
			}
		}
		if rows != 6 {
			t.Errorf("%s: the table has %d rows", page, rows)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a\nb", "a\nb", true},
		{"a 1.5 ms", "a 23 ms", true},
		{"a 15", "a 16", false},
		{"a\n…", "a\nb\nc", true},
		{"…\nc", "a\nb\nc", true},
		{"…\nc", "a\nb", false},
		{"x … z", "x y z", true},
		{"x … z", "x y", false},
		{"0.01  n", "0.5 n", true},
		{"(≈ 21 matches)", "(≈ 9 300 000 matches)", true},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
	} {
		if same(strings.Split(c.want, "\n"), strings.Split(c.got, "\n")) != c.same {
			t.Errorf("%q, %q: want %v", c.want, c.got, c.same)
		}
	}
}
