package stack

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// source is the kernel's text: the plan's code or table, the switches, and the schedule.
func (r *search) source() cuda.Source {
	var b strings.Builder
	b.WriteString("#include \"plan.cuh\"\n")
	if !r.flat {
		b.WriteString("#undef W_FLAT\n#define W_FLAT 0\n")
	}
	for _, d := range []struct {
		name  string
		value int
	}{
		{"W_UNROLL", r.unroll}, {"W_STEAL", r.steal}, {"W_STOP", r.stop}, {"W_DETECT", r.detect},
		{"W_STATS", b2i(r.stats)}, {"W_EDGES", b2i(r.edges)}, {"W_FIRST_SPARSE", b2i(r.vertices != nil)}, {"W_NODES", b2i(!r.parts)},
	} {
		fmt.Fprintf(&b, "#define %s %d\n", d.name, d.value)
	}
	program := "#include \"stack/code.cuh\"\ntypedef Code Program;\n"
	if r.table {
		program = "#include \"stack/table.cuh\"\ntypedef Table Program;\n"
	}
	b.WriteString(program + "#include \"stack/stack.cuh\"\n")
	fmt.Fprintf(&b, "WEFT_KERNEL(stack_search, StackParams, LAUNCH_BOUNDS(%d, %d)) { search(p); }\n", r.thread, max(1, residentThreads/r.thread))
	return cuda.Source{
		Name: "stack.cu", Text: b.String(), Includes: map[string]string{"plan.cuh": kircuda.Text(r.code.Program)},
	}
}

// residentThreads is how many threads a multiprocessor is to hold at once: it
// bounds their registers to 64.
const residentThreads = 1024

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
