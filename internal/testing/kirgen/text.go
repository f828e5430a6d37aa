package kirgen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
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
	members := p.members(&body, i%2 == 0)
	fmt.Fprintf(&body, "  static struct Graph q = {.head = {hubs, 1, 0}, %s};\n  q.head.adj = q.adj;\n", members)
	body.WriteString("  static Run r = {.rows = take};\n")
	fmt.Fprintf(&body, "  for (u32 v = 0; v < %d; ++v) {\n", Roots)
	body.WriteString("    worker = (Worker){.run = &r, .room = 1, .most = 1, .buffer = malloc(16)};\n    between = \"\";\n    State s = {0};\n")
	fmt.Fprintf(&body, "    u32 *slots = calloc(%d, 4), *mem = calloc(%d, 4);\n", p.Slots, p.Mem)
	body.WriteString("    f_main_of(&q, &worker, &s, slots, mem, v);\n    free(slots);\n    free(mem);\n    free(worker.buffer);\n    printf(\"\\n\");\n  }\n")
	fmt.Fprintf(b, "static void run%d(void) {\n%s}\n", i, rename(body.String()))
}

// members writes the arrays of the globals, and gives the members of the struct Graph.
// With hubs every vertex has a bitmap.
func (p *Program) members(b *bytes.Buffer, hubs bool) string {
	array := func(name, kind, values string) string {
		if values == "" {
			return "0"
		}
		fmt.Fprintf(b, "  static const %s %s[] = {%s};\n", kind, name, values)
		return name
	}
	table, parts := "{0, 0, 0}", map[kir.Kind]string{}
	for j, g := range p.Globals {
		name := fmt.Sprintf("array%d", j)
		switch g.Kind {
		case kir.Adj:
			which, most := "0", uint64(1<<62)
			if hubs {
				first, all := strings.Count(table, "{"), ""
				for v := range p.Vertices {
					all += fmt.Sprintf("%d,", first+v)
					table += fmt.Sprintf(", {0, %d, %d}", v, g.Index)
				}
				which, most = array(name+"h", "u32", all), 1
			}
			parts[g.Kind] += fmt.Sprintf("{%s, %s, 0, %s, %dull}, ", array(name+"o", "u64", numbersOf(g.Off)), array(name+"a", "u32", numbersOf(g.Adj)), which, most)
		case kir.Array:
			parts[g.Kind] += array(name, "u32", numbersOf(g.Adj)) + ", "
		case kir.Bits:
			parts[g.Kind] += array(name, "u64", numbersOf(g.Words)) + ", "
		case kir.Col:
			parts[g.Kind] += fmt.Sprintf("{%s, %s}, ", array(name+"w", "u64", numbersOf(g.Words)), array(name+"v", "u64", numbersOf(g.Valid)))
		case kir.U32:
			parts[g.Kind] += fmt.Sprintf("%du, ", g.Value)
		}
	}
	fmt.Fprintf(b, "  static Hub hubs[] = {%s};\n", table)
	members := fmt.Sprintf(".n = %d", p.Vertices)
	for kind, field := range map[kir.Kind]string{kir.Adj: "adj", kir.Array: "ids", kir.Bits: "bits", kir.Col: "col", kir.U32: "limit"} {
		if parts[kind] != "" {
			members += fmt.Sprintf(", .%s = {%s}", field, parts[kind])
		}
	}
	return members
}

func numbersOf[T uint32 | uint64](xs []T) string {
	var b strings.Builder
	for _, x := range xs {
		fmt.Fprintf(&b, "%dull,", x)
	}
	return b.String()
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

// isArray marks what stands for an array's address.
const isArray = 0x5a5a << 48

func (p *Program) writeCPP(b *bytes.Buffer, i int) {
	fmt.Fprintf(b, "namespace case%d {\n", i)
	b.WriteString("static void emit(Group<1>, u64 x, u64 y) { printf(\"%s%llu %llu\", between, x, y); between = \" \"; }\n")
	b.WriteString(strings.ReplaceAll(cuda.Text(p.Program), "#pragma once\n", ""))
	b.WriteString("static void run() {\n")
	var arrays []string
	layout := cuda.Layout(p.Program, uint32(p.Vertices), func(g *kir.GlobalDef, part cuda.Part) uint64 {
		kind, values := "u64", ""
		switch part {
		case cuda.Off:
			values = numbersOf(g.Off)
		case cuda.Neighbours, cuda.IDs:
			kind, values = "u32", numbersOf(g.Adj)
		case cuda.Words:
			values = numbersOf(g.Words)
		case cuda.Valid:
			values = numbersOf(g.Valid)
		}
		if values == "" {
			return 0
		}
		name := fmt.Sprintf("array%d", len(arrays))
		fmt.Fprintf(b, "  static const %s %s[] = {%s};\n", kind, name, values)
		arrays = append(arrays, name)
		return isArray | uint64(len(arrays)-1)
	})
	b.WriteString("  u64 layout[] = {")
	for at := 0; at < len(layout); at += 8 {
		if x := binary.LittleEndian.Uint64(layout[at:]); x&isArray == isArray {
			fmt.Fprintf(b, "(u64)%s, ", arrays[x&^isArray])
		} else {
			fmt.Fprintf(b, "%du, ", x)
		}
	}
	b.WriteString("};\n  Graph q;\n  static_assert(sizeof q == sizeof layout, \"layout\");\n  __builtin_memcpy(&q, layout, sizeof q);\n")
	fmt.Fprintf(b, "  for (u32 v = 0; v < %d; ++v) {\n    between = \"\";\n    State s = {};\n", Roots)
	fmt.Fprintf(b, "    u32 *slots = (u32*)calloc(%d, 4), *mem = (u32*)calloc(%d, 4);\n", p.Slots, p.Mem)
	b.WriteString("    main_of(Group<1>(), q, s, slots, mem, v);\n    free(slots);\n    free(mem);\n    printf(\"\\n\");\n  }\n}\n}\n")
}
