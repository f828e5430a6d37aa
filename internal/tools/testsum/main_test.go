package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: no C++ compiler\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"pass","Package":"p","Elapsed":0.5}
`

func summary(in, allow string) (string, error) {
	var out bytes.Buffer
	re, err := patterns(allow)
	if err == nil {
		err = sum(strings.NewReader(in), &out, re)
	}
	return out.String(), err
}

func TestSum(t *testing.T) {
	const counted = "ok   p  1 passed, 0 failed, 2 skipped  0.5s\n"
	for _, c := range []struct{ name, in, allow, out, err string }{
		{"allowed", events, "no C\\+\\+ # here\nno reason given\n", "skipped     1: no C++ compiler\n", ""},
		{"refused", events, "no reason", "not allowed to be skipped: p TestB: no C++ compiler\n", "tests were skipped that must run here"},
		{"failed", `{"Action":"output","Package":"p","Test":"TestA","Output":"boom\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" +
			`{"Action":"fail","Package":"p"}` + "\n", "", "boom\nFAIL p  0 passed, 1 failed, 0 skipped  0.0s\n", "1 packages failed"},
		{"time limit", `{"Action":"output","Package":"p","Test":"TestSlow","Output":"waits\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n", "",
			"=== not ended: TestSlow\nwaits\n", "1 packages failed"},
		{"build", `{"Action":"build-output","ImportPath":"p","Output":"x.go:1: wrong\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n", "", "x.go:1: wrong\n", "1 packages failed"},
		{"hollow", `{"Action":"pass","Package":"p"}` + "\n", "", "", "no test ran"},
		{"nothing", "go: no such package\n", "", "go: no such package\n", "no test ran"},
	} {
		out, err := summary(c.in, c.allow)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(out, c.out) || text != c.err {
			t.Errorf("%s: %q, want %q; %s", c.name, text, c.err, out)
		}
		if c.in == events && !strings.Contains(out, counted) {
			t.Errorf("%s: %s", c.name, out)
		}
	}
}

// TestSlowest: the ten slowest packages and tests, the slowest first, and nothing that took less than a second. The time
// of a test whose subtests run in parallel is theirs together.
func TestSlowest(t *testing.T) {
	var in strings.Builder
	for i := range 12 {
		fmt.Fprintf(&in, `{"Action":"pass","Package":"p%d","Test":"TestA","Elapsed":%d}`+"\n", i, i)
		fmt.Fprintf(&in, `{"Action":"pass","Package":"p%d","Elapsed":%d}`+"\n", i, i+1)
	}
	for name, seconds := range map[string]float64{"TestB": 0.2, "TestB/x": 30, "TestB/y": 12.5, "TestB/y/deep": 15, "TestC": 0.9} {
		fmt.Fprintf(&in, `{"Action":"pass","Package":"q","Test":%q,"Elapsed":%g}`+"\n", name, seconds)
	}
	out, err := summary(in.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	var slow []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "slow ") {
			slow = append(slow, strings.Join(strings.Fields(line), " "))
		}
	}
	want := []string{}
	for i := 11; i > 1; i-- {
		want = append(want, fmt.Sprintf("slow package %d.0s p%d", i+1, i))
	}
	want = append(want, "slow test 45.0s q TestB (2 subtests; 30.0s in /x)")
	for i := 11; i > 2; i-- {
		want = append(want, fmt.Sprintf("slow test %d.0s p%d TestA", i, i))
	}
	if !slices.Equal(slow, want) {
		t.Errorf("%q, want %q", slow, want)
	}
	if !strings.HasSuffix(out, "packages: 13\n17 passed, 0 failed, 0 skipped\n") {
		t.Errorf("the summary does not end with the numbers of tests: %s", out)
	}
}

// TestRequired: each package that is named must have a test that passed.
func TestRequired(t *testing.T) {
	in := `{"Action":"pass","Package":"example.com/m/internal/cuda/emu","Test":"TestA"}
{"Action":"pass","Package":"example.com/m/internal/cuda/emu"}
{"Action":"skip","Package":"example.com/m/internal/gpu","Test":"TestB"}
{"Action":"pass","Package":"example.com/m/internal/gpu"}
`
	for required, ok := range map[string]bool{
		"./...": true, "./internal/cuda/...": true, "./internal/cuda/emu": true,
		"./internal/gpu": false, "./internal/gpu/...": false, "./internal/cuda": false, "./cuda/emu/x": false, "./none": false,
	} {
		var out bytes.Buffer
		err := sum(strings.NewReader(in), &out, []*regexp.Regexp{regexp.MustCompile("")}, required)
		if (err == nil) != ok || !ok && !strings.Contains(out.String(), "no test passed: "+required+"\n") {
			t.Errorf("%s: %v; %s", required, err, out.String())
		}
	}
}

// TestRealEvents holds the reasons against what the go command prints.
func TestRealEvents(t *testing.T) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", func(t *testing.T) { t.Log(\"said before\"); t.Skip(\"there is no moon\") })\n" +
			"\tt.Run(\"y\", func(t *testing.T) {})\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(goCommand, "test", "-json", "./...")
	c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	text, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	out, err := summary(string(text), "moon")
	if err != nil || !regexp.MustCompile(`(?s)skipped +1: there is no moon\n.*packages: 1\n2 passed, 0 failed, 1 skipped\n$`).MatchString(out) {
		t.Errorf("%v: %s", err, out)
	}
}
