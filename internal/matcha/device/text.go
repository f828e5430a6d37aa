package device

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/steal"
)

// text is a program made ready for a device.
type text struct {
	code   *irgen.Code
	all    string
	fast   int64          // words of shared memory a group
	moved  map[int64]bool // lists, by their places, that lie there
	params []*kir.Var     // of items, that are it
	levels int            // loops that are shared
}

// newText writes a program. It changes the program.
func newText(c *irgen.Code, o Options) (*text, error) {
	s := o.Schedule
	t := &text{code: c, moved: map[int64]bool{}}
	var err error
	if t.fast, err = t.fastLists(s.Shared); err != nil {
		return nil, err
	}
	loops := map[*kir.Each]int{}
	for _, p := range c.Phases {
		if p.Item == nil || !s.Steal {
			continue
		}
		for each, loop := range steal.Loops(p.Item, false) {
			loops[each] = loop.Level
			t.levels = max(t.levels, loop.Level)
		}
	}
	passes.OptimizeIR(c.Program, o.Off...)
	if o.Debug {
		var more []irgen.Array
		for _, v := range t.params {
			more = append(more, irgen.Array{Param: v, Words: t.fast})
		}
		c.Assert(more...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// schedule: %s\n", s)
	for _, d := range []struct {
		name  string
		value int64
	}{
		{"GROUP", int64(s.Group)}, {"BLOCK", int64(s.Block)}, {"STATIC", flag(s.Static)}, {"STEAL", flag(s.Steal)},
		{"LEVELS", int64(t.levels)}, {"CREW", crewHead}, {"MAN", int64(manBytes(t.levels))}, {"FAST", t.fast}, {"STATS", flag(o.Stats)},
	} {
		fmt.Fprintf(&b, "#define W_%s %d\n", d.name, d.value)
	}
	b.WriteString(sharedLoop)
	b.WriteString(kircuda.TextOf(c.Program, kircuda.Options{Watched: true, Shared: loops}))
	b.WriteString("#include \"matcha/phase.cuh\"\n")
	for i, p := range c.Phases {
		phase(&b, i, p, s.Steal)
	}
	t.all = b.String()
	return t, nil
}

// sharedLoop declares a name that the program's text uses and matcha/phase.cuh, after it,
// defines.
const sharedLoop = "template <class G, int L> struct SharedLoop;\n"

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// phase writes the kernel of a phase.
func phase(b *strings.Builder, i int, p irgen.Phase, steal bool) {
	if p.Run != nil {
		fmt.Fprintf(b, "struct Phase%d {\n  template <class G> static DEV void run(G g, const Params& p, u32* mem, State& s) { ::%s(g, p.graph, mem, p.x.shared, s); }\n};\n",
			i, p.Run.Name)
		fmt.Fprintf(b, "WEFT_KERNEL(phase%d, Params, LAUNCH_BOUNDS(32, 1)) { sequential<Phase%d>(p); }\n", i, i)
		return
	}
	fmt.Fprintf(b, "struct Phase%d {\n  typedef %s Sums;\n  static constexpr u32 number = %d, items = %d, sums = %d;\n", i, p.Sums.Name, i, p.Items, len(p.Into))
	b.WriteString("  static DEV u32 into(u32 k) {")
	for k, f := range p.Into {
		fmt.Fprintf(b, " if (k == %d) return %d;", k, f)
	}
	b.WriteString(" return 0; }\n")
	more := ""
	for _, v := range p.Item.Params[5:] {
		more += ", " + v.Name
	}
	fmt.Fprintf(b, "  template <class G> static DEV void run(G g, const Params& p, u32* mem, u32* fast, Sums& s, u64 at, u32 stolen) {\n    ::%s(g, p.graph, mem, p.x.shared, *p.x.state, s, at%s);\n  }\n};\n",
		p.Item.Name, more)
	fmt.Fprintf(b, "WEFT_KERNEL(phase%d, Params, LAUNCH_BOUNDS(W_BLOCK, 1)) { parallel<Phase%d>(p); }\n", i, i)
}
