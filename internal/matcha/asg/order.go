package asg

// Order returns the operators that are at home in f and needed for its result or steps. Each
// comes after its operands, and steps are in their order.
func Order(f *Func) []*Node {
	o := &order{home: f}
	for _, s := range f.Steps {
		o.visit(s)
	}
	if f.Result != nil {
		o.visit(f.Result)
	}
	return o.out
}

type order struct {
	home *Func
	seen []bool // by nodes' IDs
	out  []*Node
}

func (o *order) visit(n *Node) {
	if n.ID >= len(o.seen) {
		o.seen = append(o.seen, make([]bool, n.ID+1)...)
	}
	if o.seen[n.ID] || !n.Home.Within(o.home) {
		return
	}
	o.seen[n.ID] = true
	for _, a := range n.Args {
		o.visit(a)
	}
	for _, f := range [...]*Func{n.Cond, n.Func} {
		if f != nil {
			for _, s := range f.Steps {
				o.visit(s)
			}
			if f.Result != nil {
				o.visit(f.Result)
			}
		}
	}
	if n.Home == o.home && n.Op != Operand && n.Op != Input {
		o.out = append(o.out, n)
	}
}

// Walk calls visit once for each node that the program needs, including inner functions. Each
// node comes after its operands.
func Walk(p *Program, visit func(*Node)) { walk(p.Main, visit) }

func walk(f *Func, visit func(*Node)) {
	for _, n := range Order(f) {
		for _, inner := range []*Func{n.Cond, n.Func} {
			if inner != nil {
				walk(inner, visit)
			}
		}
		visit(n)
	}
}
