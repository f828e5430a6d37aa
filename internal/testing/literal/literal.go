// Package literal writes the globals of kir programs as initializers. Tests compile such a text
// and run it on the processor.
package literal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// C writes the struct Graph q of a program's C text, and the arrays that it points to, as
// static variables of a function. With hubs every vertex has a bitmap.
func C(b *bytes.Buffer, p *kir.Program, vertices int, hubs bool) {
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
				for v := range vertices {
					all += fmt.Sprintf("%d,", first+v)
					table += fmt.Sprintf(", {0, %d, %d}", v, g.Index)
				}
				which, most = array(name+"h", "u32", all), 1
			}
			parts[g.Kind] += fmt.Sprintf("{%s, %s, 0, %s, %dull}, ", array(name+"o", "u64", numbers(g.Off)), array(name+"a", "u32", numbers(g.Adj)), which, most)
		case kir.Array:
			parts[g.Kind] += array(name, "u32", numbers(g.Adj)) + ", "
		case kir.Bits:
			parts[g.Kind] += array(name, "u64", numbers(g.Words)) + ", "
		case kir.Col:
			parts[g.Kind] += fmt.Sprintf("{%s, %s}, ", array(name+"w", "u64", numbers(g.Words)), array(name+"v", "u64", numbers(g.Valid)))
		case kir.U32:
			parts[g.Kind] += fmt.Sprintf("%du, ", g.Value)
		}
	}
	members := fmt.Sprintf(".n = %d", vertices)
	for kind, field := range map[kir.Kind]string{kir.Adj: "adj", kir.Array: "ids", kir.Bits: "bits", kir.Col: "col", kir.U32: "limit"} {
		if parts[kind] != "" {
			members += fmt.Sprintf(", .%s = {%s}", field, parts[kind])
		}
	}
	fmt.Fprintf(b, "  static Hub hubs[] = {%s};\n  static struct Graph q = {.head = {hubs, %d, 0}, %s};\n", table, (vertices+63)/64, members)
	if parts[kir.Adj] != "" {
		b.WriteString("  q.head.adj = q.adj;\n")
	}
}

// isArray marks a word that stands for an array's address.
const isArray = 0x5a5a << 48

// CPP writes the Graph q of a program's text for GPUs, and the arrays that it points to, as
// variables of a function.
func CPP(b *bytes.Buffer, p *kir.Program, vertices int) {
	var arrays []string
	layout := cuda.Layout(p, uint32(vertices), false, func(g *kir.GlobalDef, part cuda.Part) uint64 {
		kind, values := "u64", ""
		switch part {
		case cuda.Off:
			values = numbers(g.Off)
		case cuda.Neighbours, cuda.IDs:
			kind, values = "u32", numbers(g.Adj)
		case cuda.Bitmaps:
			kind, values = "u32", numbers(g.Sparse.Words)
		case cuda.Rows:
			kind, values = "u32", numbers(g.Sparse.Off)
		case cuda.Words:
			values = numbers(g.Words)
		case cuda.Valid:
			if values = numbers(g.Valid); values == "" {
				return 0
			}
		default:
			return 0
		}
		if values == "" {
			values = "0"
		}
		name := fmt.Sprintf("array%d", len(arrays))
		fmt.Fprintf(b, "  alignas(16) static const %s %s[] = {%s};\n", kind, name, values)
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
}

func numbers[T uint32 | uint64](xs []T) string {
	var b strings.Builder
	for _, x := range xs {
		fmt.Fprintf(&b, "%dull,", x)
	}
	return b.String()
}
