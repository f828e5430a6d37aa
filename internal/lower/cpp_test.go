package lower_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/literal"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/onelane"
)

// TestTextAgreesWithInterpreter compiles the generated text of random plans with
// the machine's C++ compiler, for a group of one lane, and compares what it
// counts and lists with the interpreter.
func TestTextAgreesWithInterpreter(t *testing.T) {
	onelane.Skip(t)
	textOfCPP(t, textCases(t))
}

// textOfCPP compares what the text for GPUs of cases prints, compiled for one lane,
// with the interpreter.
func textOfCPP(t *testing.T, cases []textCase) {
	t.Helper()
	var src bytes.Buffer
	src.WriteString("#include <cstdio>\n#include \"base/graph.cuh\"\n#include \"base/arithmetic.cuh\"\nstatic u64 rows, hash;\n")
	for i := range cases {
		cases[i].write(&src, i)
	}
	src.WriteString("int main() {\n")
	for i := range cases {
		fmt.Fprintf(&src, "  case%d::run();\n", i)
	}
	src.WriteString("}\n")
	lines := strings.Split(strings.TrimSpace(onelane.Run(t, src.String())), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d results of %d", len(lines), len(cases))
	}
	for i, c := range cases {
		if want := c.interpret(t); lines[i] != want {
			t.Errorf("case %d: the text gives %q, the interpreter %q\n%s", i, lines[i], want, cuda.Text(c.code.Program))
		}
	}
}

// textCase is one program with its graph.
type textCase struct {
	g    *graph.Graph
	p    *plan.Plan
	o    lower.Options
	code *lower.NestCode
	room int
}

// textCases draws plans until there are enough that can be lowered.
func textCases(t *testing.T) []textCase {
	return drawCases(t, 160, func(*graph.Graph) {}, []lower.Options{
		{Counting: true}, {}, {Counting: true, Roomy: true},
		{View: lower.Checks, Choices: true}, {View: lower.Checks, Counting: true, Choices: true},
	})
}

// drawCases draws plans with some options, on graphs that prepare was called for.
func drawCases(t *testing.T, want int, prepare func(*graph.Graph), options []lower.Options) (out []textCase) {
	typed := [2]*graph.Graph{typedGraph(t, true), typedGraph(t, false)}
	prepare(typed[0])
	prepare(typed[1])
	for seed := 0; len(out) < want; seed++ {
		spec := nodiff.Graphs(9).Example(seed)
		c := textCase{g: spec.Build(), o: options[seed%len(options)], room: seed % 3}
		prepare(c.g)
		var p *pattern.Pattern
		switch seed % 4 {
		case 0, 1:
			p = nodiff.Patterns(spec, 5).Example(seed)
		case 2:
			p = nodiff.Conditions(spec, 4).Example(seed)
		default:
			c.g = typed[seed/4%2]
			p = conditioned(rapid.Custom(func(t *rapid.T) pattern.Expr { return condition(t, 3) }).Example(seed))
		}
		if p.Validate() != nil {
			continue
		}
		var err error
		c.p, err = planner.Compile(c.g, p, plan.Options{
			Root: plan.NoRoot, AllowProduct: true, Method: "nest", Embeddings: seed%2 == 0, Listing: !c.o.Counting, Seed: 1,
		})
		if err != nil && seed%4 == 3 {
			continue // a property compared with what it cannot be
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.code, err = lower.Nest(c.p, c.o); err != nil {
			continue
		}
		if c.o.Roomy {
			c.room = lower.Room(c.p)
		}
		out = append(out, c)
	}
	return out
}

// write writes the case as a namespace with a function run.
func (c *textCase) write(b *bytes.Buffer, i int) {
	fmt.Fprintf(b, "namespace case%d {\n", i)
	var row []string
	for l := range c.p.Levels {
		row = append(row, fmt.Sprintf("u32 r%d", l))
	}
	fmt.Fprintf(b, "static void emit(Group<1>, %s) { u64 h = 0;", strings.Join(row, ", "))
	for l := range c.p.Levels {
		fmt.Fprintf(b, " h = h * 1000003 + r%d;", l)
	}
	b.WriteString(" ++rows; hash += h; }\n")
	for _, d := range c.code.Program.Defines {
		fmt.Fprintf(b, "#undef %s\n", d.Name)
	}
	b.WriteString(strings.ReplaceAll(cuda.Text(c.code.Program), "#pragma once\n", ""))
	b.WriteString("static void run() {\n  rows = hash = 0;\n")
	literal.CPP(b, c.code.Program, c.g.NumVertices())
	b.WriteString("  u128 total = 0;\n  for (u32 i = 0; i < W_ROOT_RANGES; ++i) for (u32 v = root_first(q, i); v < root_end(q, i); ++v) {\n")
	if c.o.View == lower.Checks {
		b.WriteString("    u32 *m = new u32[W_LEVELS], *n = new u32[W_BLOCKS];\n    total += nest(Group<1>(), q, m, n, v);\n    delete[] m;\n    delete[] n;\n  }\n")
	} else {
		fmt.Fprintf(b, "    State s;\n    u32* slots = new u32[%d];\n    total += nest(Group<1>(), q, s, slots, %du, v);\n    delete[] slots;\n  }\n",
			c.code.Slots*c.room, c.room)
	}
	b.WriteString("  printf(\"%llu %llu %llu %llu\\n\", u64(total >> 64), u64(total), rows, hash);\n}\n}\n")
}

// interpret is what run must print.
func (c *textCase) interpret(t *testing.T) string {
	t.Helper()
	var rows, hash uint64
	m, err := interp.New(c.code.Program, func(row []uint64) bool {
		h := uint64(0)
		for _, v := range row {
			h = h*1000003 + v
		}
		rows++
		hash += h
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	args := []interp.Value{interp.Array(make([]uint32, len(c.p.Levels))), interp.Array(make([]uint32, c.code.Checks.Blocks))}
	if c.o.View == lower.Sets {
		args = []interp.Value{interp.NewRecord(c.code.Program.Records[0]), interp.Array(make([]uint32, c.room*c.code.Slots)), interp.U32(uint32(c.room))}
	}
	total := interp.Value{}
	for _, v := range roots(c.code.Code) {
		n := m.Call(c.code.Nest, append(args, interp.U32(v))...)
		total.N += n.N
		total.Hi += n.Hi
	}
	return fmt.Sprintf("%d %d %d %d", total.Hi, total.N, rows, hash)
}
