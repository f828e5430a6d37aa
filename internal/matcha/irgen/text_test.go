package irgen

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/testing/literal"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/matchatest"
	"github.com/weftgraph/weft/internal/testing/onelane"
)

// TestText compiles the text of programs with the machine's C++ compiler, for a
// group of one lane, and compares what it prints with the interpreter of the
// language.
func TestText(t *testing.T) {
	onelane.Skip(t)
	long.Only(t, "the compiler takes seconds")
	texts := append(slices.Clone(more), named)
	for _, e := range library.Entries() {
		if !long.Asked() && len(e.Text) > 8<<10 {
			t.Logf("without WEFT_LONG: without %s, a long program, which is compiled again and again here", e.Name)
			continue
		}
		texts = append(texts, e.Text)
	}
	var src, calls bytes.Buffer
	src.WriteString("#include <cstdio>\n#include \"base/graph.cuh\"\n#include \"base/arithmetic.cuh\"\n")
	plain := len(texts)
	for name, text := range matchatest.Programs {
		if !matchatest.Mistakes[name] {
			texts = append(texts, text)
		}
	}
	src.WriteString("template<class G> void fail(G, unsigned) { printf(\"failed\\n\"); }\n")
	src.WriteString("template<class T> long long word(T x) { return x; }\nlong long word(f64 x) { long long w; __builtin_memcpy(&w, &x, 8); return w; }\n")
	src.WriteString("template<class G, class... T> void emit(G, T... x) { ((printf(\"%lld \", word(x))), ...); printf(\"\\n\"); }\n")
	want := ""
	for i, text := range texts {
		for seed, off := range []string{"all", "none", "-fuse-sum,-slice-set", "-motion,-fuse-size"} {
			p := matchatest.Build(t, text)
			names, err := passes.Choose(off)
			if err != nil {
				t.Fatal(err)
			}
			if i >= plain && seed%3 > 0 {
				continue // to save the compiler time
			}
			in := rapid.Custom(func(t *rapid.T) map[string]data.Input { return matchatest.Inputs(t, text) }).Example(100*i + seed)
			set, err := data.Bind(p, in)
			if err != nil {
				t.Fatal(err)
			}
			want += fmt.Sprintf("%d %d\n%s\n", i, seed, oracle(t, p, set))
			passes.Optimize(p, names...)
			if set, err = data.Bind(p, in); err != nil {
				t.Fatal(err)
			}
			lower := Lower
			if seed == 3 {
				lower = LowerDebug
			}
			c, err := lower(context.Background(), p, set)
			if err != nil {
				t.Fatal(err)
			}
			if seed%2 == 0 {
				kir.Optimize(c.Program)
			}
			if seed == 3 {
				c.Assert()
			}
			g := in["G"].Graph
			if g == nil {
				g = in["D"].Graph
			}
			writeCase(&src, fmt.Sprintf("case%d_%d", i, seed), c, g)
			fmt.Fprintf(&calls, "  printf(\"%d %d\\n\");\n  case%d_%d::run();\n", i, seed, i, seed)
		}
	}
	fmt.Fprintf(&src, "int main() {\n%s}\n", calls.String())
	out := onelane.Run(t, src.String())
	got, expected := strings.Split(out, "\n"), strings.Split(strings.NewReplacer("[", "", "]", "").Replace(want), "\n")
	for i, line := range got {
		if i >= len(expected) || strings.TrimSpace(line) != strings.TrimSpace(expected[i]) {
			t.Fatalf("line %d is %q, want %q\n%s", i, line, expected[min(i, len(expected)-1)], out)
		}
	}
	t.Logf("%d lines", len(got))
	if len(got) != len(expected) {
		t.Errorf("%d lines, want %d", len(got), len(expected))
	}
}

// writeCase writes the program as a namespace with a function run, which prints
// the result's words.
func writeCase(b *bytes.Buffer, name string, c *Code, g *graph.Graph) {
	fmt.Fprintf(b, "namespace %s {\n%s", name, strings.ReplaceAll(cuda.Text(c.Program), "#pragma once\n", ""))
	fmt.Fprintf(b, "static void run() {\n")
	vertices := 0
	if g != nil {
		vertices = g.NumVertices()
	}
	literal.CPP(b, c.Program, vertices)
	fmt.Fprintf(b, "  u32* mem = new u32[%d]();\n  u32* shared = new u32[%d]();\n  State state{};\n", c.Words, c.SharedWords)
	for i, ph := range c.Phases {
		if ph.Run != nil {
			fmt.Fprintf(b, "  %s(Group<1>(), q, mem, shared, state);\n", ph.Run.Name)
			continue
		}
		fmt.Fprintf(b, "  %s sums%d{};\n", ph.Sums.Name, i)
		fmt.Fprintf(b, "  for (u64 i = 0; i < (u64)state.%s; ++i) %s(Group<1>(), q, mem, shared, state, sums%d, i);\n", c.State.Fields[ph.Items].Name, ph.Item.Name, i)
		for k, f := range ph.Into {
			fmt.Fprintf(b, "  state.%s += sums%d.%s;\n", c.State.Fields[f].Name, i, ph.Sums.Fields[k].Name)
		}
	}
	for _, f := range c.Result {
		fmt.Fprintf(b, "  { i64 w; __builtin_memcpy(&w, &state.%s, 8); printf(\"%%lld \", (long long)w); }\n", c.State.Fields[f].Name)
	}
	if len(c.Result) > 0 {
		b.WriteString("  printf(\"\\n\");\n")
	}
	b.WriteString("  delete[] mem;\n  delete[] shared;\n}\n}\n")
}
