package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/native"
)

// TestCLI runs the scripts of testdata. A script has two commands:
//
//	file NAME        writes its input to a file; hex decodes it first
//	weft             runs weft with its input as the command line
//
// $D stands for the directory of the files. The output is standard output, then
// standard error after "stderr:", then the exit code where it is not 0. Times,
// memory and versions are masked.
func TestCLI(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		dir := t.TempDir()
		skipped := 0
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				return writeFile(t, dir, d)
			case "weft":
				out := runScript(dir, d.Input)
				if _, err := native.C(); err != nil && strings.Contains(out, "weft: "+err.Error()) {
					skipped++
					return d.Expected
				}
				return out
			case "ls":
				return list(t, dir)
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
		if skipped > 0 {
			t.Run("compiled", func(t *testing.T) { t.Skipf("no C compiler, cc: %d commands", skipped) })
		}
	})
}

func writeFile(t *testing.T, dir string, d *datadriven.TestData) string {
	name := filepath.Join(dir, d.CmdArgs[0].Key)
	data := []byte(d.Input + "\n")
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "hex":
			var err error
			if data, err = hex.DecodeString(strings.Join(strings.Fields(d.Input), "")); err != nil {
				t.Fatal(err)
			}
		case "cut": // without the newline at the end
			data = []byte(d.Input)
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return ""
}

func list(t *testing.T, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&b, e.Name())
	}
	return b.String()
}

func runScript(dir, line string) string {
	args := words(strings.ReplaceAll(line, "$D", dir))
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	out := stdout.String()
	if stderr.Len() > 0 {
		out += "stderr:\n" + stderr.String()
	}
	if code != 0 {
		out += fmt.Sprintf("exit %d\n", code)
	}
	return mask(strings.ReplaceAll(out, dir, "$D"))
}

// words splits a line at blanks; single quotes keep blanks together.
func words(line string) (out []string) {
	quoted, started := false, false
	var b strings.Builder
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, started = !quoted, true
		case (r == ' ' || r == '\n') && !quoted:
			if started {
				out = append(out, b.String())
			}
			b.Reset()
			started = false
		default:
			b.WriteRune(r)
			started = true
		}
	}
	if started {
		out = append(out, b.String())
	}
	return out
}

var masks = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`complete +seconds`), "complete  seconds"},
	{regexp.MustCompile(`(true|false) +[0-9.e-]+  `), "$1  #        "},
	{regexp.MustCompile(`(true|false),[0-9.e-]+,`), "$1,#,"},
	{regexp.MustCompile(`"(load|plan|search|total|load_seconds|seconds)": ?[0-9.e-]+`), `"$1": #`},
	{regexp.MustCompile(`"(updates_per_second|p50|p95|p99)": ?[0-9.e+-]+`), `"$1": #`},
	{regexp.MustCompile(`"(peak_memory_bytes)": ?[0-9]+`), `"$1": #`},
	{regexp.MustCompile(`"version": ?"[^"]*"`), `"version": #`},
	{regexp.MustCompile(`weft \S+ \S+/\S+ go\S+`), "weft VERSION OS/ARCH GO"},
	{regexp.MustCompile(`load [0-9.]+\S+, plan [0-9.]+\S+, search [0-9.]+\S+; peak memory [0-9]+`), "load #, plan #, search #; peak memory #"},
	{regexp.MustCompile(`load [0-9.]+\S+, plan [0-9.]+\S+; nothing`), "load #, plan #; nothing"},
	{regexp.MustCompile(`in [0-9.]+(µs|ms|s), complete`), "in #, complete"},
	{regexp.MustCompile(`[0-9.]+ [MG]iB are in use`), "# are in use"},
	{regexp.MustCompile(`(?m)^(counted|ok|not finished|DIFFERS)( +\S+ +\S+) +[0-9.e-]+  `), "$1$2  #  "},
	{regexp.MustCompile(`order \S+, method \S+`), "order #, method #"},
	{regexp.MustCompile(`want +seconds`), "want  seconds"},
}

func mask(s string) string {
	for _, m := range masks {
		s = m.find.ReplaceAllString(s, m.with)
	}
	return s
}
