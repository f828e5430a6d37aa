package c_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/testing/kirgen"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestRandomPrograms compiles the text of random programs, half of them after all passes,
// under the sanitizers, and compares what it emits with the interpreter.
func TestRandomPrograms(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler here")
	}
	count := 24
	if long.Asked() {
		count = 400
	}
	var programs []*kirgen.Program
	var want []string
	for seed := uint64(0); len(programs) < count; seed++ {
		p := kirgen.New(kirgen.Seeded(seed), kirgen.Options{Flat: seed%3 == 0})
		if p.Fails() {
			continue
		}
		out, err := p.Run()
		if err != nil {
			t.Fatal(err)
		}
		if seed%2 == 0 {
			kir.Optimize(p.Program)
		}
		programs, want = append(programs, p), append(want, out)
	}
	dir := t.TempDir()
	files := c.Runtime()
	files["main.c"] = kirgen.C(programs)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "main")
	cmd := exec.Command(cc, "-std=gnu11", "-w", "-O0", "-march=native", "-fwrapv", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-I", dir, "-o", program, filepath.Join(dir, "main.c"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	run := exec.Command(program)
	run.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	got, err := run.CombinedOutput()
	compare(t, string(got), want, programs, c.Text)
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, got)
	}
}

// compare compares what programs print, one after the other.
func compare(t *testing.T, got string, want []string, programs []*kirgen.Program, text func(*kir.Program) string) {
	t.Helper()
	for i, w := range want {
		if !strings.HasPrefix(got, w) {
			t.Fatalf("program %d prints\n%.3000s\nthe interpreter\n%s\n%s", i, got, w, text(programs[i].Program))
		}
		got = got[len(w):]
	}
}
