// Package passes rewrites the graph of a Matcha program into a graph that means the same and
// costs less. It has the fusions and the code motion of the thesis (section 3.6), common
// subexpressions and dead code. Each pass is a file, works alone, and can be switched off.
//
// A value is computed when it is needed, and at most once in a run of its function. Passes keep
// to that: a value that a pass moves outwards still fails only where it is needed, and a value
// that is computed earlier cannot fail.
//
// It must not know targets.
package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/asg"
)

// Pass rewrites a program.
type Pass struct {
	Name string
	Doc  string
	Run  func(*asg.Program)
}

// All are the passes in the order in which Optimize runs them.
var All = []Pass{
	{"motion", "moves values that do not change out of the functions of apply", Motion},
	{"share", "computes once an expression that is written several times", Share},
	{"slice-neighbor", "makes conditions that bound a neighbour list a slice of it", SliceNeighbor},
	{"slice-set", "makes conditions that bound an intersection or difference slices of its lists", SliceSet},
	{"slice-window", "makes conditions that bound the information on edges a slice of them", SliceWindow},
	{"fuse-sum", "adds up, or counts, the items of apply without storing them", FuseSum},
	{"fuse-size", "counts intersections and differences without storing them", FuseSize},
	{"dead", "drops counters that nothing reads and conditions that are known", Dead},
	{"parallel", "lets several workers take the items of the outermost apply", Parallel},
}

// Optimize runs passes: all but those in off.
func Optimize(p *asg.Program, off ...string) {
	for _, pass := range All {
		if !slices.Contains(off, pass.Name) {
			pass.Run(p)
		}
	}
}

// Choose reads a choice of passes, of the graph and of the IR: "all", "none",
// names, or names with a minus, which are taken from all. It returns the passes
// that are off.
func Choose(text string) (off []string, err error) {
	names, on := Names(), map[string]bool{}
	for i, word := range strings.Split(text, ",") {
		name, minus := strings.CutPrefix(word, "-")
		if i == 0 && (minus || word == "all") {
			for _, p := range names {
				on[p] = true
			}
		}
		switch {
		case word == "all" || word == "none":
			continue
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("there is no pass %q; there are all, none, %s", word, strings.Join(names, ", "))
		}
		on[name] = !minus
	}
	for _, p := range names {
		if !on[p] {
			off = append(off, p)
		}
	}
	return off, nil
}

// nodes are the nodes that the program needs, each after its operands.
func nodes(p *asg.Program) (out []*asg.Node) {
	asg.Walk(p, func(n *asg.Node) { out = append(out, n) })
	return out
}

// inner are the functions of a node.
func inner(n *asg.Node) (out []*asg.Func) {
	for _, f := range []*asg.Func{n.Cond, n.Func} {
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// uses counts the readers of each node: arguments, steps besides their operands, and results.
func uses(p *asg.Program) map[*asg.Node]int {
	out := map[*asg.Node]int{}
	count := func(f *asg.Func) {
		if f.Result != nil {
			out[f.Result]++
		}
	}
	count(p.Main)
	for _, n := range nodes(p) {
		for _, a := range n.Args {
			out[a]++
		}
		for _, f := range inner(n) {
			count(f)
		}
	}
	return out
}

// replace puts other nodes in the place of some wherever they are read.
func replace(p *asg.Program, by map[*asg.Node]*asg.Node) {
	if len(by) == 0 {
		return
	}
	final := func(n *asg.Node) *asg.Node {
		for by[n] != nil {
			n = by[n]
		}
		return n
	}
	body := func(f *asg.Func) {
		if f.Result != nil {
			f.Result = final(f.Result)
		}
	}
	all := nodes(p)
	body(p.Main)
	for _, n := range all {
		for i, a := range n.Args {
			n.Args[i] = final(a)
		}
		for _, f := range inner(n) {
			body(f)
		}
	}
}
