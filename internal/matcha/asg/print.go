package asg

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// String is the graph as text: one node a line, numbered as they are shown, the
// functions of an Apply below it.
func (p *Program) String() string {
	w := &printer{number: map[*Node]string{}}
	for _, n := range p.Inputs {
		w.number[n] = n.Name
		w.line(0, "input %s: %s", n.Name, n.Type.Describe())
	}
	w.body(p.Main, 0)
	return w.b.String()
}

type printer struct {
	b      strings.Builder
	number map[*Node]string
	next   int
}

func (w *printer) line(depth int, format string, args ...any) {
	fmt.Fprintf(&w.b, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (w *printer) body(f *Func, depth int) {
	for _, n := range Order(f) {
		if n.Op == Const {
			continue
		}
		var args []string
		for _, a := range n.Args {
			args = append(args, w.ref(a))
		}
		switch n.Op {
		case Part:
			args = append(args, strconv.Itoa(n.At))
		case Slice:
			args = sliceArgs(n, args)
		case Place:
			args = placeArgs(n, args)
		case Window:
			args = windowArgs(n, args)
		case LabelNumber, Subgraph, Matching, Between, Holds:
			args = append(args, syntax.Quote(n.Name))
		}
		text := n.Op.String() + "(" + strings.Join(args, ", ") + ")"
		if n.Op == Arith || n.Op == Compare {
			text = strings.Join(args, " "+n.Name+" ")
		}
		if n.Parallel {
			text += " in parallel"
		}
		w.next++
		id := "%" + strconv.Itoa(w.next)
		if n.Given != "" {
			id += "." + n.Given
		}
		w.number[n] = id
		if n.Type.Kind == types.Void {
			w.line(depth, "%s", text)
		} else {
			w.line(depth, "%s = %s: %s", id, text, n.Type.Describe())
		}
		for _, inner := range []struct {
			name string
			f    *Func
		}{{"cond", n.Cond}, {"func", n.Func}} {
			if inner.f == nil {
				continue
			}
			var names []string
			for _, o := range inner.f.Operands {
				w.next++
				w.number[o] = "%" + strconv.Itoa(w.next) + "." + o.Given
				names = append(names, w.number[o])
			}
			w.line(depth+1, "%s(%s)", inner.name, strings.Join(names, ", "))
			w.body(inner.f, depth+2)
		}
	}
	if f.Result != nil {
		w.line(depth, "return %s", w.ref(f.Result))
	}
}

// sliceArgs shows bounds as comparisons.
func sliceArgs(n *Node, args []string) []string {
	at := 1
	if n.At&WithLow != 0 {
		op := ">= "
		if n.At&LowOpen != 0 {
			op = "> "
		}
		args[at] = op + args[at]
		at++
	}
	if n.At&WithHigh != 0 {
		op := "< "
		if n.At&HighClosed != 0 {
			op = "<= "
		}
		args[at] = op + args[at]
	}
	return args
}

// placeArgs shows the limit of a place as a comparison.
func placeArgs(n *Node, args []string) []string {
	op := "< "
	if n.At&Closed != 0 {
		op = "<= "
	}
	return []string{args[0], op + strings.Join(args[1:], " + ")}
}

// windowArgs shows which places are first ones.
func windowArgs(n *Node, args []string) []string {
	for i := range args[1:] {
		side := "before "
		if i < n.At {
			side = "from "
		}
		args[i+1] = side + args[i+1]
	}
	return args
}

// ref is how other nodes name n: constants by their value.
func (w *printer) ref(n *Node) string {
	if n.Op != Const {
		return w.number[n]
	}
	switch n.Type.Kind {
	case types.Float:
		return strconv.FormatFloat(n.Words[0].Float(), 'g', -1, 64)
	case types.Bool:
		return strconv.FormatBool(n.Words[0] != 0)
	}
	return strconv.FormatInt(int64(n.Words[0]), 10)
}
