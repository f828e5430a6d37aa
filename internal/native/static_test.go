package native_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/testing/long"
)

// TestStatic: with the build tag nogpu a program for Linux asks for no loader and no
// library, and says what it does without.
func TestStatic(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	if _, err := os.Stat("../../cmd/weft"); err != nil {
		t.Skip("no source tree")
	}
	long.Only(t, "building the program takes a minute")
	for _, arch := range []string{"amd64", "arm64"} {
		path := filepath.Join(t.TempDir(), "weft")
		cmd := exec.Command("go", "build", "-tags", "nogpu", "-o", path, "../../cmd/weft")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", arch, err, out)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s: the program has a segment %v", arch, p.Type)
			}
		}
		if libraries, _ := f.ImportedLibraries(); len(libraries) > 0 {
			t.Errorf("%s: the program is linked to %v", arch, libraries)
		}
		if arch != runtime.GOARCH || runtime.GOOS != "linux" {
			continue
		}
		if out, err := exec.Command(path, "doctor").CombinedOutput(); !strings.Contains(string(out), "tag nogpu, cannot load shared objects") {
			t.Errorf("%s: doctor does not say what the build lacks: %v\n%s", arch, err, out)
		}
	}
}
