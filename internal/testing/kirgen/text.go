package kirgen

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/testing/literal"
)

// C is a C program over the files of c.Runtime that prints for each of the programs,
// none of which may fail, what Run returns.
func C(programs []*Program) string {
	var b bytes.Buffer
	b.WriteString("#define W_HUB 0\n#include \"graph.h\"\n#include <stdio.h>\n#include <stdlib.h>\n" + takeRows)
	for i, p := range programs {
		p.writeC(&b, i)
	}
	b.WriteString("int main(void) {\n")
	for i := range programs {
		fmt.Fprintf(&b, "  run%d();\n", i)
	}
	b.WriteString("}\n")
	return b.String()
}

// takeRows prints each row of one worker.
const takeRows = `
static Worker worker;
static const char *between;
static u64 take(u64 run, u64 id, u64 n) {
  const u64 *p = (const u64 *)worker.buffer;
  printf("%s%llu %llu", between, p[0], p[1]);
  between = " ";
  return 0;
}
`

// own are the names that a program's text has to itself.
var own = regexp.MustCompile(`\b(f_[a-z]\w*|Part\d+_\w+|State|Cell|struct Graph|const Graph)\b`)

func (p *Program) writeC(b *bytes.Buffer, i int) {
	text := strings.ReplaceAll(c.Text(p.Program), "#include \"graph.h\"\n", "")
	text = strings.ReplaceAll(text, "const Graph *", "const struct Graph *")
	rename := func(s string) string {
		return own.ReplaceAllStringFunc(s, func(name string) string { return fmt.Sprintf("%s_%d", name, i) })
	}
	b.WriteString(rename(text))
	var body bytes.Buffer
	literal.C(&body, p.Program, p.Vertices, i%2 == 0)
	body.WriteString("  static Run r = {.rows = take};\n")
	fmt.Fprintf(&body, "  for (u32 v = 0; v < %d; ++v) {\n", Roots)
	body.WriteString("    worker = (Worker){.run = &r, .room = 1, .most = 1, .buffer = malloc(16)};\n    between = \"\";\n    State s = {0};\n")
	fmt.Fprintf(&body, "    u32 *slots = calloc(%d, 4), *mem = calloc(%d, 4);\n", p.Slots, p.Mem)
	body.WriteString("    f_main_of(&q, &worker, &s, slots, mem, v);\n    free(slots);\n    free(mem);\n    free(worker.buffer);\n    printf(\"\\n\");\n  }\n")
	fmt.Fprintf(b, "static void run%d(void) {\n%s}\n", i, rename(body.String()))
}

// CPP is a C++ program of the text for GPUs, for a group of one lane, that prints for
// each of the programs, which must be tame, what Run returns.
func CPP(programs []*Program) string {
	var b bytes.Buffer
	b.WriteString("#include <cstdio>\n#include <cstdlib>\n#include \"base/graph.cuh\"\n#include \"base/arithmetic.cuh\"\nstatic const char* between;\n")
	for i, p := range programs {
		p.writeCPP(&b, i)
	}
	b.WriteString("int main() {\n")
	for i := range programs {
		fmt.Fprintf(&b, "  case%d::run();\n", i)
	}
	b.WriteString("}\n")
	return b.String()
}

func (p *Program) writeCPP(b *bytes.Buffer, i int) {
	fmt.Fprintf(b, "namespace case%d {\n", i)
	b.WriteString("static void emit(Group<1>, u64 x, u64 y) { printf(\"%s%llu %llu\", between, x, y); between = \" \"; }\n")
	b.WriteString(strings.ReplaceAll(cuda.Text(p.Program), "#pragma once\n", ""))
	b.WriteString("static void run() {\n")
	literal.CPP(b, p.Program, p.Vertices)
	fmt.Fprintf(b, "  for (u32 v = 0; v < %d; ++v) {\n    between = \"\";\n    State s = {};\n", Roots)
	fmt.Fprintf(b, "    u32 *slots = (u32*)calloc(%d, 4), *mem = (u32*)calloc(%d, 4);\n", p.Slots, p.Mem)
	b.WriteString("    main_of(Group<1>(), q, s, slots, mem, v);\n    free(slots);\n    free(mem);\n    printf(\"\\n\");\n  }\n}\n}\n")
}
