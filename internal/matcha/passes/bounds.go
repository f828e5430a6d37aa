package passes

import (
	"slices"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// bounded makes slices of the conditions of an apply that bound its list (thesis, section 3.6.1). on says which
// lists, and narrow makes the slice.
//
// An item v is bounded by v < x, and so on. It is also bounded by vertex_label(G, v) == l if v is a vertex of the
// input G, because vertices with a label are consecutive. The same holds for the neighbours of one vertex in a
// graph that the program makes with labels, which keeps them by label. x and l must be known outside of the apply
// and must not be able to fail.
func bounded(p *asg.Program, on func(list *asg.Node) bool, narrow func(list *asg.Node, cut func(*asg.Node) *asg.Node) *asg.Node) {
	count := uses(p)
	by := map[*asg.Node]*asg.Node{}
	for _, n := range nodes(p) {
		if n.Op != asg.Apply && n.Op != asg.ApplySum && n.Op != asg.ApplySize || n.Cond == nil || len(n.Args) != 1 || len(n.Cond.Steps) > 0 {
			continue
		}
		list := n.Args[0]
		if other := by[list]; other != nil {
			list = other
		}
		if !list.Type.Ascending || list.Type.Elem.Kind != types.Int || !on(list) {
			continue
		}
		b := bounds{p: p, n: n, list: list, item: n.Cond.Operands[0]}
		rest := b.take(n.Cond.Result)
		if len(b.cuts) == 0 {
			continue
		}
		// A list that has other readers stays, and the cut list is a new node.
		shared := count[n.Args[0]] > 1 || list.Home != n.Home
		cut := func(l *asg.Node) *asg.Node {
			for _, c := range b.cuts {
				l = c(l)
			}
			return l
		}
		if shared {
			n.Args[0] = cut(list)
		} else {
			n.Args[0] = narrow(list, cut)
		}
		if n.Cond.Result = rest; rest == nil {
			n.Cond = nil
		}
		if n.Op == asg.Apply && n.Cond == nil && !n.Effects && n.Func.Result == n.Func.Operands[0] {
			by[n] = n.Args[0]
			if n.Args[0].Given == "" {
				n.Args[0].Given = n.Given
			}
		}
	}
	replace(p, by)
}

// bounds are the bounds found in a condition.
type bounds struct {
	p    *asg.Program
	n    *asg.Node
	list *asg.Node
	item *asg.Node
	cuts []func(list *asg.Node) *asg.Node
}

// take takes the bounds out of a conjunction and returns the rest, nil if none.
func (b *bounds) take(x *asg.Node) *asg.Node {
	return without(b.p, x, func(op string, l, r *asg.Node) bool {
		return b.order(op, l, r) || b.order(mirror[op], r, l) || op == "==" && (b.label(l, r) || b.label(r, l))
	})
}

// without is a conjunction without the comparisons that take takes, nil if it takes all.
func without(p *asg.Program, x *asg.Node, take func(op string, l, r *asg.Node) bool) *asg.Node {
	switch {
	case x.Op == asg.Compare && take(x.Name, x.Args[0], x.Args[1]):
		return nil
	case x.Op != asg.And:
		return x
	}
	l, r := without(p, x.Args[0], take), without(p, x.Args[1], take)
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l == x.Args[0] && r == x.Args[1]:
		return x
	}
	return p.Add(asg.Node{Op: asg.And, Type: x.Type, Args: []*asg.Node{l, r}, Home: x.Home, Pos: x.Pos})
}

// mirror turns a comparison round.
var mirror = map[string]string{"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// order takes a bound item op x.
func (b *bounds) order(op string, item, x *asg.Node) bool {
	at, ok := map[string]int{
		"<": asg.WithHigh, "<=": asg.WithHigh | asg.HighClosed, ">": asg.WithLow | asg.LowOpen, ">=": asg.WithLow,
	}[op]
	if !ok || item != b.item || !b.lift(x) {
		return false
	}
	b.cut(at, x)
	return true
}

// label takes a bound vertex_label(G, item) == x.
func (b *bounds) label(l, x *asg.Node) bool {
	if l.Op != asg.VertexLabel || l.Args[1] != b.item {
		return false
	}
	g := l.Args[0]
	if b.list.Op == asg.Neighbor && b.list.Args[0] == g && g.Op == asg.MakeGraph && b.lift(x) {
		// This cut comes before those by bounds.
		b.cuts = slices.Insert(b.cuts, 0, func(list *asg.Node) *asg.Node {
			return b.p.Add(asg.Node{Op: asg.Labelled, Type: list.Type, Args: []*asg.Node{g, list.Args[1], x}, Home: b.n.Home, Pos: b.n.Pos})
		})
		b.list = b.n // one label is enough
		return true
	}
	if g.Op != asg.Input || b.item.Type.Vertex != g.Name || !b.lift(x) {
		return false
	}
	var ends [2]*asg.Node
	for i, op := range []asg.Op{asg.LabelFirst, asg.LabelEnd} {
		ends[i] = b.p.Add(asg.Node{Op: op, Type: types.TInt, Args: []*asg.Node{g, x}, Home: b.n.Home, Pos: l.Pos})
	}
	b.cut(asg.WithLow|asg.WithHigh, ends[0], ends[1])
	return true
}

func (b *bounds) cut(at int, limits ...*asg.Node) {
	b.cuts = append(b.cuts, func(list *asg.Node) *asg.Node {
		args := append([]*asg.Node{list}, limits...)
		return b.p.Add(asg.Node{Op: asg.Slice, Type: list.Type, Args: args, At: at, Home: b.n.Home, Pos: b.n.Pos})
	})
}

// lift moves the operands of a limit out of the condition. ok is false if the limit depends on
// the item, or could fail.
func (b *bounds) lift(x *asg.Node) bool {
	if x == b.item || !b.liftable(x) {
		return false
	}
	b.move(x)
	return true
}

func (b *bounds) liftable(x *asg.Node) bool {
	if b.n.Home.Within(x.Home) {
		// It is there already; but when it is computed it must not fail.
		return sure(x)
	}
	return x.Op != asg.Operand && sure(x) && !slices.ContainsFunc(x.Args, func(a *asg.Node) bool { return !b.liftable(a) })
}

func (b *bounds) move(x *asg.Node) {
	if b.n.Home.Within(x.Home) {
		return
	}
	for _, a := range x.Args {
		b.move(a)
	}
	x.Home = b.n.Home
}

// sure reports whether computing x, with its operands, cannot fail.
func sure(x *asg.Node) bool {
	switch x.Op {
	case asg.Operand, asg.Input, asg.Const, asg.NewCounter, asg.CounterAdd, asg.CounterGet:
		return true // there already
	case asg.Part, asg.Size, asg.EdgeInfo, asg.Joining, asg.Place, asg.Window, asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd, asg.Neighbor, asg.Vertices, asg.Subgraph, asg.Matching, asg.Between, asg.Holds,
		asg.Labelled, asg.Intersect, asg.Diff, asg.IntersectSize, asg.DiffSize, asg.Slice, asg.MakeTuple, asg.MakeList:
		return !slices.ContainsFunc(x.Args, func(a *asg.Node) bool { return !sure(a) })
	}
	return false
}
