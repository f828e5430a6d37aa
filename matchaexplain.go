package weft

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Explain says what a program is given and gives, what each pass makes of it, and
// the memory that its lists need: formulas over the inputs' sizes and, where in
// has the inputs, numbers; and the schedule of a target that is named.
func (m *Matcha) Explain(in map[string]any, options ...Option) (text string, err error) {
	ctx := context.Background()
	l, err := enterInputs(&ctx, in)
	if err != nil {
		return "", err
	}
	defer l.leave(&err, &text)
	s, err := collect(callMatchaExplain, options)
	if err != nil {
		return "", err
	}
	if err := m.given(); err != nil {
		return "", err
	}
	off, err := s.passesOff()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, i := range m.Inputs() {
		fmt.Fprintf(w, "input\t%s\t%s\n", i.Name, i.Type)
	}
	if r := m.p.Main.Result; r != nil {
		fmt.Fprintf(w, "result\t\t%s\n", r.Type)
	}
	if r := m.p.Row; r != nil {
		fmt.Fprintf(w, "emits\t\t%s\n", r)
	}
	p, err := asg.Build(m.file)
	if err != nil {
		return "", withKind(ErrQuery, err)
	}
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
	if s.target != "" || s.schedule != "" {
		sched, err := s.matchaSchedule()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(w, "target\t%s\tschedule %s\n", sched.Target, sched)
	}
	if err := m.explainMemory(w, in, s); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return b.String(), nil
}

func operators(p *asg.Program) (n int) {
	asg.Walk(p, func(x *asg.Node) {
		if x.Op != asg.Const {
			n++
		}
	})
	return n
}

// explainMemory shows what is allocated before the program runs.
func (m *Matcha) explainMemory(w *tabwriter.Writer, in map[string]any, s *settings) error {
	if len(in) == 0 && len(m.p.Inputs) > 0 {
		p, err := m.optimized(s)
		if err != nil {
			return err
		}
		asg.Walk(p, func(n *asg.Node) {
			if data.Stored(n) {
				fmt.Fprintf(w, "memory\t%s\tat most %s items\n", roomName(n), data.Bound(n))
			}
		})
		return nil
	}
	_, set, err := m.bind(in, s)
	if err != nil {
		return err
	}
	for _, r := range set.Rooms() {
		formula := data.Bound(r.Node).String() + " = "
		if _, ok := data.Bound(r.Node).Constant(); ok {
			formula = ""
		}
		fmt.Fprintf(w, "memory\t%s\tat most %s%d items, %d bytes\n", roomName(r.Node), formula, r.Items, r.Bytes)
	}
	return nil
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
