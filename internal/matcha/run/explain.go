package run

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Explanation is the input of Explain.
type Explanation struct {
	Inputs    [][2]string  // names and types
	Written   *asg.Program // before any pass; Explain rewrites it
	Optimized *asg.Program // after the passes that are on
	Set       *data.Set    // its inputs; nil: they are not known
}

// Explain describes a program's inputs and result, the effect of each pass, and the memory that
// its lists need. If o names a target, it also describes the schedule.
func Explain(x Explanation, o Options) (string, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	p := x.Written
	for _, i := range x.Inputs {
		fmt.Fprintf(w, "input\t%s\t%s\n", i[0], i[1])
	}
	if r := p.Main.Result; r != nil {
		fmt.Fprintf(w, "result\t\t%s\n", r.Type)
	}
	if r := p.Row; r != nil {
		fmt.Fprintf(w, "emits\t\t%s\n", r)
	}
	explainPasses(w, p, o.Off)
	if o.Target != "" || o.Schedule != "" {
		sched, err := o.schedule()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(w, "target\t%s\tschedule %s\n", sched.Target, sched)
	}
	explainMemory(w, x)
	if err := w.Flush(); err != nil {
		return "", err
	}
	return b.String(), nil
}

// explainPasses shows the effect of each pass on p.
func explainPasses(w io.Writer, p *asg.Program, off []string) {
	for _, pass := range passes.All {
		what := "off"
		if !slices.Contains(off, pass.Name) {
			before, n := p.String(), operators(p)
			pass.Run(p)
			what = "nothing to do"
			if k := operators(p); p.String() != before {
				what = "changes it"
				if k != n {
					what = fmt.Sprintf("%d operators become %d", n, k)
				}
			}
		}
		fmt.Fprintf(w, "pass\t%s\t%s: %s\n", pass.Name, pass.Doc, what)
	}
	for _, pass := range passes.IR() {
		what := "off"
		if !slices.Contains(off, pass[0]) {
			what = "on generated code"
		}
		fmt.Fprintf(w, "pass\t%s\t%s: %s\n", pass[0], pass[1], what)
	}
}

func operators(p *asg.Program) (n int) {
	asg.Walk(p, func(x *asg.Node) {
		if x.Op != asg.Const {
			n++
		}
	})
	return n
}

// explainMemory shows the memory that is allocated before the program runs.
func explainMemory(w io.Writer, x Explanation) {
	if x.Set == nil {
		asg.Walk(x.Optimized, func(n *asg.Node) {
			if data.Stored(n) {
				fmt.Fprintf(w, "memory\t%s\tat most %s items\n", roomName(n), data.Bound(n))
			}
		})
		return
	}
	for _, r := range x.Set.Rooms() {
		formula := data.Bound(r.Node).String() + " = "
		if _, ok := data.Bound(r.Node).Constant(); ok {
			formula = ""
		}
		fmt.Fprintf(w, "memory\t%s\tat most %s%d items, %d bytes\n", roomName(r.Node), formula, r.Items, r.Bytes)
	}
}

// roomName is how a program's text finds a list.
func roomName(n *asg.Node) string {
	name := n.Given
	if name == "" {
		name = n.Op.String()
		if n.Type.Kind == types.Graph {
			name = "mk_graph"
		}
	}
	return fmt.Sprintf("%s (line %d)", name, n.Pos.Line)
}
