package lower_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/testing/literal"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestCTextAgreesWithInterpreter compiles the C text of random plans under the
// sanitizers, as a program of its own, and compares what it counts and lists
// with the interpreter. Every vertex is a hub with a bitmap in half of the cases.
func TestCTextAgreesWithInterpreter(t *testing.T) {
	cc := compilerOfC(t)
	cases := textCases(t)
	if !long.Asked() {
		t.Logf("without WEFT_LONG: 40 of %d plans are compiled", len(cases))
		cases = cases[:40]
	}
	textOfC(t, cc, cases)
}

func compilerOfC(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler here")
	}
	return cc
}

// textOfC compares what the C text of cases prints with the interpreter.
func textOfC(t *testing.T, cc string, cases []textCase) {
	t.Helper()
	dir := t.TempDir()
	files := c.Runtime()
	var src bytes.Buffer
	src.WriteString("#define W_HUB 0\n#include \"graph.h\"\n#include <stdio.h>\n#include <stdlib.h>\n" + cHarness)
	for i := range cases {
		cases[i].writeC(&src, i)
	}
	src.WriteString("int main(void) {\n")
	for i := range cases {
		fmt.Fprintf(&src, "  run%d();\n", i)
	}
	src.WriteString("}\n")
	files["main.c"] = src.String()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "main")
	cmd := exec.Command(cc, "-std=gnu11", "-w", "-O0", "-march=native", "-fwrapv", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-Wno-incompatible-pointer-types", "-I", dir, "-o", program, filepath.Join(dir, "main.c"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	run := exec.Command(program)
	run.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d results of %d", len(lines), len(cases))
	}
	for i, k := range cases {
		if want := k.interpret(t); lines[i] != want {
			t.Errorf("case %d: the text gives %q, the interpreter %q\n%s", i, lines[i], want, c.Text(k.code.Program))
		}
	}
}

// cHarness takes the rows of one worker.
const cHarness = `
static u64 rows, hash;
static u32 width;
static Worker worker;
static u64 take(u64 run, u64 id, u64 n) {
  const u32 *p = (const u32 *)worker.buffer;
  for (u64 i = 0; i < n; ++i) {
    u64 h = 0;
    for (u32 l = 0; l < width; ++l) h = h * 1000003 + *p++;
    ++rows;
    hash += h;
  }
  return 0;
}
`

// own are the names that a program's text has to itself.
var own = regexp.MustCompile(`\b(f_[a-z]\w*|[A-Z][a-z]+\d+_\w+|State|Cell|Count|struct Graph|const Graph)\b`)

// writeC writes the case with a function run of its own.
func (k *textCase) writeC(b *bytes.Buffer, i int) {
	for _, d := range k.code.Program.Defines {
		fmt.Fprintf(b, "#undef %s\n", d.Name)
	}
	text := strings.ReplaceAll(c.Text(k.code.Program), "#include \"graph.h\"\n", "")
	text = strings.ReplaceAll(text, "const Graph *", "const struct Graph *")
	rename := func(s string) string {
		return own.ReplaceAllStringFunc(s, func(name string) string { return fmt.Sprintf("%s_%d", name, i) })
	}
	b.WriteString(rename(text))
	var body bytes.Buffer
	literal.C(&body, k.code.Program, k.g.NumVertices(), i%2 == 0)
	fmt.Fprintf(&body, "  static Run r = {.rows = take};\n  rows = hash = 0;\n  width = %d;\n", len(k.p.Levels))
	body.WriteString("  worker = (Worker){.run = &r, .room = 1, .most = 3, .buffer = malloc(12 * width)};\n  Worker *w = &worker;\n  u128 total = 0;\n")
	body.WriteString("  for (u32 i = 0; i < W_ROOT_RANGES; ++i) for (u32 v = f_root_first(&q, w, i); v < f_root_end(&q, w, i); ++v) {\n")
	if k.o.View == lower.Checks {
		body.WriteString("    u32 *m = malloc(4 * W_LEVELS), *n = malloc(4 * W_BLOCKS);\n    total += f_nest(&q, w, m, n, v);\n    free(m);\n    free(n);\n  }\n")
	} else {
		fmt.Fprintf(&body, "    State s = {0};\n    u32 *slots = malloc(%d);\n    total += f_nest(&q, w, &s, slots, %du, v);\n    free(slots);\n  }\n", 4*k.code.Slots*k.room, k.room)
	}
	body.WriteString("  w_flush(w);\n  free(worker.buffer);\n  printf(\"%llu %llu %llu %llu\\n\", (u64)(total >> 64), (u64)total, rows, hash);\n")
	fmt.Fprintf(b, "static void run%d(void) {\n%s}\n", i, rename(body.String()))
}
