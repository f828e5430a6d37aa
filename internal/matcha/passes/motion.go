package passes

import "github.com/weftgraph/weft/internal/matcha/asg"

// Motion is loop-invariant code motion (thesis, section 3.6.2): a node moves to
// the outermost function that has all that it is computed from. Set operations
// move as well, which is the code motion of STMatch. Steps stay.
func Motion(p *asg.Program) {
	for _, n := range nodes(p) { // the operands of a node have moved before it
		if n.Op.Step() || n.Effects {
			continue
		}
		home := p.Main
		deeper := func(d *asg.Node) {
			if d.Home.Depth() > home.Depth() {
				home = d.Home
			}
		}
		for _, a := range n.Args {
			deeper(a)
		}
		for _, f := range inner(n) {
			for _, d := range free(f) {
				deeper(d)
			}
		}
		n.Home = home
		for _, f := range inner(n) {
			f.Parent = home
		}
	}
}

// free are the nodes outside of f that f is computed from.
func free(f *asg.Func) (out []*asg.Node) {
	seen := map[*asg.Node]bool{}
	var visit func(n *asg.Node)
	visit = func(n *asg.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if !n.Home.Within(f) {
			out = append(out, n)
			return
		}
		for _, a := range n.Args {
			visit(a)
		}
		for _, g := range inner(n) {
			for _, s := range g.Steps {
				visit(s)
			}
			if g.Result != nil {
				visit(g.Result)
			}
		}
	}
	for _, s := range f.Steps {
		visit(s)
	}
	if f.Result != nil {
		visit(f.Result)
	}
	return out
}
