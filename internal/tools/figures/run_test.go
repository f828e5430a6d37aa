//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tree is the output of scripts/gpu/build.sh, with stand-ins for its programs. A test program
// passes the test of the pattern that it is given, or has none of that name where it is to be
// without. compute-sanitizer does nothing of its own.
func tree(t *testing.T, without string) (dir string, packages []string) {
	t.Helper()
	build, err := os.ReadFile("../../../scripts/gpu/build.sh")
	if err != nil {
		t.Fatal(err)
	}
	packages = strings.Fields(regexp.MustCompile(`GPU_PACKAGES:=([^}]*)`).FindStringSubmatch(string(build))[1])
	dir = t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("../../../scripts/gpu/run")
	if err != nil {
		t.Fatal(err)
	}
	write("run", string(script))
	write("commit", "abc")
	write("weft", "#!/bin/sh\necho null\n")
	write("tools/compute-sanitizer", "#!/bin/sh\nshift 4\nexec \"$@\"\n")
	for _, p := range packages {
		say := `echo "--- PASS: $3 (0.00s)"`
		if p == without {
			say = `echo "testing: warning: no tests to run"`
		}
		write(p+"/package.test", "#!/bin/sh\n"+say+"\necho PASS\n")
	}
	return dir, packages
}

func runScript(t *testing.T, dir string, args ...string) (out string, ok bool) {
	t.Helper()
	c := exec.Command(filepath.Join(dir, "run"), args...)
	c.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "tools")+":"+os.Getenv("PATH"))
	text, err := c.CombinedOutput()
	return string(text), err == nil
}

// TestSanitizedTests: each program runs tests that its package has, under both tools.
func TestSanitizedTests(t *testing.T) {
	dir, packages := tree(t, "")
	if out, ok := runScript(t, dir, "--sanitize"); !ok {
		t.Fatal(out)
	}
	for _, p := range packages {
		sources, err := filepath.Glob("../../../" + p + "/*_test.go")
		if err != nil || len(sources) == 0 {
			t.Fatalf("%s has no tests: %v", p, err)
		}
		var text strings.Builder
		for _, s := range sources {
			b, err := os.ReadFile(s)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
		for _, tool := range []string{"memcheck", "racecheck"} {
			log, err := os.ReadFile(filepath.Join(dir, "results", strings.ReplaceAll(p, "/", "-")+"-"+tool+".log"))
			if err != nil {
				t.Fatal(err)
			}
			found := regexp.MustCompile(`--- PASS: \^(Test\w*)(?:\(([\w|]*)\))?\$`).FindStringSubmatch(string(log))
			if found == nil {
				t.Errorf("%s: %s", p, log)
				continue
			}
			for name := range strings.SplitSeq(found[2], "|") {
				if f := "func " + found[1] + name + "(t *testing.T)"; !strings.Contains(text.String(), f) {
					t.Errorf("%s is to run %s%s, which it has not", p, found[1], name)
				}
			}
		}
	}
}

// TestCompared: the script adds up the runs that random plans have said they compared.
func TestCompared(t *testing.T) {
	dir, packages := tree(t, "")
	// The line that Suite.Run writes.
	said := `echo "    devices.go:52: 18 runs compared, all with matches (up to 7); 2 configurations refused"`
	program := filepath.Join(dir, packages[0], "package.test")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho '--- PASS: TestA (0.00s)'\n"+said+"\n"+said+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if out, ok := runScript(t, dir, packages[0]); !ok {
		t.Fatal(out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "results", "tests-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), `"compared": "36 runs"`) {
		t.Errorf("%s, %v", text, err)
	}
	source, err := os.ReadFile("../../testing/nodiff/tally.go")
	if err != nil || !strings.Contains(string(source), `"%d runs compared, `) {
		t.Errorf("random plans say something else: %v", err)
	}
}

// TestBenchField: the script that measures reads counts in every form that weft bench
// has written.
func TestBenchField(t *testing.T) {
	script, err := os.ReadFile("../../../scripts/gpu/bench")
	if err != nil {
		t.Fatal(err)
	}
	field := regexp.MustCompile(`(?m)^field\(\).*$`).Find(script)
	for line, want := range map[string]string{
		`{"median_ms":0.5,"count":10,"note":""}`:                   "10",
		`{"median_ms":0.5,"count":"10","note":""}`:                 "10",
		`{"median_ms":0.5,"count":"9007199254740993","note":"no"}`: "9007199254740993",
		`{"count":10}`: "10",
	} {
		c := exec.Command("sh", "-c", string(field)+"\nfield count \"$1\"", "sh", line)
		if out, err := c.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: count %q, %v, want %s", line, out, err, want)
		}
	}
}

// TestNothingRan: a program without a test of the name is a failure, unless names are
// asked for that another program has.
func TestNothingRan(t *testing.T) {
	const without = "internal/gpu/neighbourhood"
	dir, _ := tree(t, without)
	for _, c := range []struct {
		args []string
		ok   bool
	}{
		{nil, false}, {[]string{"--sanitize"}, false}, {[]string{"internal/engine/stack"}, true},
		{[]string{"--only", "TestGPUNoDiff"}, true}, {[]string{"--only", "TestGPUNoDiff", without}, false},
	} {
		if out, ok := runScript(t, dir, c.args...); ok != c.ok {
			t.Errorf("%v: ended well: %v\n%s", c.args, ok, out)
		}
	}
}
