package passes

import (
	"slices"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// SliceWindow is neighbor+apply with conditions that bound the information on edges. Edges at a vertex
// are in the order of their information, so those within a window are slices of neighbor and of
// edge_info, and those to one vertex are a slice of edges that are sorted by their second ends. The
// information x is bounded by x < a, by x - a < b and by x < a + b, and so on. A
// difference or sum that does not fit 64 bits does not fail then: such a window has all edges, or none.
func SliceWindow(p *asg.Program) {
	for _, n := range nodes(p) {
		if n.Op != asg.Apply && n.Op != asg.ApplySum && n.Op != asg.ApplySize || n.Cond == nil || len(n.Cond.Steps) > 0 || !asg.Together(n.Args) {
			continue
		}
		for i, list := range n.Args {
			if list.Op == asg.EdgeInfo && list.Type.Elem.Kind == types.Int {
				w := window{bounds: bounds{p: p, n: n, list: list, item: n.Cond.Operands[i]}}
				w.slice()
				break
			}
		}
	}
}

// window is the places in a list of informations that a condition bounds it by.
type window struct {
	bounds
	firsts, ends []*asg.Node
}

// slice makes windows of the lists of an apply.
func (w *window) slice() {
	n := w.n
	w.join()
	if n.Cond == nil {
		return
	}
	rest := without(w.p, n.Cond.Result, func(op string, l, r *asg.Node) bool {
		return w.order(op, l, r) || w.order(mirror[op], r, l)
	})
	if len(w.firsts)+len(w.ends) == 0 {
		return
	}
	for i, l := range n.Args {
		args := append([]*asg.Node{l}, w.firsts...)
		n.Args[i] = w.p.Add(asg.Node{Op: asg.Window, Type: l.Type, Args: append(args, w.ends...), At: len(w.firsts), Home: n.Home, Pos: n.Pos})
	}
	if n.Cond.Result = rest; rest == nil {
		n.Cond = nil
	}
}

// join makes the neighbours v of a vertex that are one vertex, v == x, the edges that lead there. Then x
// stands for v.
func (w *window) join() {
	n := w.n
	i := slices.IndexFunc(n.Args, func(l *asg.Node) bool { return l.Op == asg.Neighbor })
	if i < 0 || len(n.Args) != 2 || w.list.Args[0].Home != w.p.Main {
		return
	}
	v := n.Cond.Operands[i]
	var x *asg.Node
	rest := without(w.p, n.Cond.Result, func(op string, l, r *asg.Node) bool {
		if r == v {
			l, r = r, l
		}
		if x != nil || op != "==" || l != v || r == w.item || r.Type.Vertex != v.Type.Vertex || !w.liftable(r) {
			return false
		}
		x = r
		return true
	})
	if x == nil {
		return
	}
	w.move(x)
	by := map[*asg.Node]*asg.Node{}
	for _, f := range inner(n) {
		by[f.Operands[i]] = x
		f.Operands = slices.Delete(f.Operands, i, i+1)
	}
	w.list = w.p.Add(asg.Node{Op: asg.Joining, Type: w.list.Type, Args: []*asg.Node{w.list.Args[0], w.list.Args[1], x}, Home: n.Home, Pos: n.Pos})
	n.Args = []*asg.Node{w.list}
	if n.Cond.Result = rest; rest == nil {
		n.Cond = nil
	}
	replace(w.p, by)
}

// order takes a bound x op y, of which x is the information, perhaps less a number.
func (w *window) order(op string, x, y *asg.Node) bool {
	limit := []*asg.Node{y}
	switch {
	case x == w.item && y.Op == asg.Arith && y.Name == "+" && !w.liftable(y):
		limit = y.Args
	case x == w.item:
	case x.Op == asg.Arith && x.Name == "-" && x.Args[0] == w.item:
		limit = []*asg.Node{x.Args[1], y}
	default:
		return false
	}
	for _, a := range limit {
		if a == w.item || !w.liftable(a) {
			return false
		}
	}
	switch op {
	case "<":
		w.ends = append(w.ends, w.place(0, limit))
	case "<=":
		w.ends = append(w.ends, w.place(asg.Closed, limit))
	case ">":
		w.firsts = append(w.firsts, w.place(asg.Closed, limit))
	case ">=":
		w.firsts = append(w.firsts, w.place(0, limit))
	case "==":
		w.firsts = append(w.firsts, w.place(0, limit))
		w.ends = append(w.ends, w.place(asg.Closed, limit))
	default:
		return false
	}
	return true
}

// place is a node for how many informations are below a limit.
func (w *window) place(at int, limit []*asg.Node) *asg.Node {
	for _, a := range limit {
		w.move(a)
	}
	t := &types.Type{Kind: types.Int, Max: w.list.Type.Max}
	return w.p.Add(asg.Node{Op: asg.Place, Type: t, Args: append([]*asg.Node{w.list}, limit...), At: at, Home: w.n.Home, Pos: w.n.Pos})
}
