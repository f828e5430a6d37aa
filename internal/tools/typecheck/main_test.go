package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: numbers that have no room where an int has 32 bits are found in a package, in its tests and in tests of another package; and
// so are files that are for one system alone.
func TestCheck(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module m\n\ngo 1.26\n",
		"a/a.go":             "package a\n\nimport \"m/b\"\n\nvar V = b.Of(1 << 40)\n",
		"a/a_windows.go":     "package a\n\nvar W string = 1\n",
		"a/a_test.go":        "package a\n\nvar inTest = exported(1 << 41)\n",
		"a/more_test.go":     "package a\n\nfunc exported(n int) int { return n }\n\nvar Exported = exported\n",
		"a/outside_test.go":  "package a_test\n\nimport \"m/a\"\n\nvar V = a.Exported(1 << 42)\n",
		"b/b.go":             "package b\n\nimport \"unsafe\"\n\nfunc Of(n int) uintptr { return unsafe.Sizeof(n) }\n",
		"b/b_386.go":         "package b\n\nimport \"unsafe\"\n\nvar narrow [8]int = [unsafe.Sizeof(0)]int{}\n",
		"b/import_386.go":    "package b\n\nimport _ \"m/none\"\n",
		"none/none_arm64.go": "package none\n\nvar _ = undefined\n",
		"none/none.go":       "package none\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for target, want := range map[string][]string{
		"linux/amd64":   nil,
		"linux/386":     {"a.go:5:", "a_test.go:3:", "outside_test.go:5:", "b_386.go:5:"},
		"windows/amd64": {"a_windows.go:3:"},
		"linux/arm64":   {"none_arm64.go:3:"},
		"linux/none":    {"there is no architecture none"},
	} {
		system, arch, _ := strings.Cut(target, "/")
		n, err := check(dir, system, arch)
		if len(want) == 0 && (err != nil || n != 5) { // a and b and none, and a twice more with its tests
			t.Errorf("%s: %d packages, %v", target, n, err)
		}
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: no %q in: %v", target, part, err)
			}
		}
	}
}
