package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Interval analysis: bounds of the program's Ints before it runs, from constants, from the
// inputs' numbers and sizes, and from the bounds of lists. A value that is sure to fit 64 bits
// is computed without a check.

// interval is a range that an Int lies in.
type interval struct{ lo, hi types.Word }

var anyInt = interval{math.MinInt64, math.MaxInt64}

func (i interval) has(x types.Word) bool { return i.lo <= x && x <= i.hi }

// hull is the least range that has both.
func (i interval) hull(j interval) interval { return interval{min(i.lo, j.lo), max(i.hi, j.hi)} }

// within is the intersection of both.
func (i interval) within(j interval) interval { return interval{max(i.lo, j.lo), min(i.hi, j.hi)} }

// times is the range of sums of up to n numbers of i, of every part of them; ok is
// false where one may not fit 64 bits.
func (i interval) times(n types.Word) (out interval, ok bool) {
	lo, okLo := saturated("*", n, min(i.lo, 0))
	hi, okHi := saturated("*", n, max(i.hi, 0))
	return interval{lo, hi}, okLo && okHi
}

// saturated is x op y, for + - *. If the result does not fit 64 bits, z is the nearest number
// that does, and ok is false.
func saturated(op string, x, y types.Word) (z types.Word, ok bool) {
	z, err := types.Compute(op, types.Int, x, y)
	switch {
	case err == nil:
		return z, true
	case (x < 0) != (op == "*" && y < 0):
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

// compute is the range of x op y where that fits 64 bits and is a number; ok is
// false where it may not be.
func compute(op string, x, y interval) (out interval, ok bool) {
	switch op {
	case "%":
		// The result has the sign of x, and is nearer to 0 than either.
		most := max(max(y.hi, 0)-1, -(max(y.lo, -math.MaxInt64) + 1), 0)
		if y.lo == math.MinInt64 {
			most = math.MaxInt64
		}
		out = interval{max(min(x.lo, 0), -most), min(max(x.hi, 0), most)}
		return out, !y.has(0) && !(y.has(-1) && x.has(math.MinInt64))
	case "/":
		// The largest quotients are those by the smallest numbers.
		for _, d := range []types.Word{max(y.lo, 1), min(y.hi, -1)} {
			if !y.has(d) {
				continue
			}
			for _, a := range []types.Word{x.lo, x.hi} {
				z, err := types.Compute("/", types.Int, a, d)
				if err != nil {
					z = math.MaxInt64
				}
				out = out.hull(interval{z, z})
			}
		}
		return out, !y.has(0) && !(y.has(-1) && x.has(math.MinInt64))
	}
	ok = true
	for i, a := range []types.Word{x.lo, x.hi} {
		for j, b := range []types.Word{y.lo, y.hi} {
			z, fits := saturated(op, a, b)
			if ok = ok && fits; i+j == 0 {
				out = interval{z, z}
			}
			out = out.hull(interval{z, z})
		}
	}
	return out, ok
}

// computed is the range of a Neg or Arith; ok is false where it may fail.
func (l *lowerer) computed(n *asg.Node) (out interval, ok bool) {
	if n.Op == asg.Neg {
		return compute("-", interval{}, l.interval(n.Args[0]))
	}
	return compute(n.Name, l.interval(n.Args[0]), l.interval(n.Args[1]))
}

// component is a component of a node or, of a list, of its items.
type component struct {
	n *asg.Node
	j int
}

// analysis is the result of the interval analysis.
type analysis struct {
	known map[component]interval
	// lists are the lists whose items operands are, owners the applies that run functions, and
	// adds those to Counters.
	lists  map[*asg.Node][]*asg.Node
	owners map[*asg.Func][]*asg.Node
	adds   map[*asg.Node][]*asg.Node
}

func analyse(p *asg.Program) analysis {
	a := analysis{map[component]interval{}, map[*asg.Node][]*asg.Node{}, map[*asg.Func][]*asg.Node{}, map[*asg.Node][]*asg.Node{}}
	asg.Walk(p, func(n *asg.Node) {
		for _, f := range []*asg.Func{n.Cond, n.Func} {
			if f == nil {
				continue
			}
			a.owners[f] = append(a.owners[f], n)
			for i, o := range f.Operands {
				a.lists[o] = append(a.lists[o], n.Args[i])
			}
		}
		if n.Op == asg.CounterAdd {
			a.adds[n.Args[0]] = append(a.adds[n.Args[0]], n)
		}
	})
	return a
}

// interval is the bounds of an Int before the program runs.
func (l *lowerer) interval(n *asg.Node) interval { return l.partly(n, 0) }

// partly is the bounds of a component.
func (l *lowerer) partly(n *asg.Node, j int) interval {
	t := n.Type
	if t.Kind == types.List {
		t = t.Elem
	}
	if t.Kind != types.Int && t.Kind != types.Tuple || t.Part(j).Kind != types.Int {
		return anyInt
	}
	at := component{n, j}
	if i, ok := l.ints.known[at]; ok {
		return i
	}
	l.ints.known[at] = anyInt // a Counter's value may depend on itself
	i := l.find(n, j)
	if t = t.Part(j); t.Ranged {
		i = i.within(interval{types.Word(t.Lo), types.Word(t.Hi)})
	}
	if t.Max != nil {
		i = i.within(interval{0, types.Word(max(l.in.Most(t.Max), 0))})
	}
	if i.lo > i.hi { // there is no such number: nothing is computed from it
		i = interval{}
	}
	l.ints.known[at] = i
	return i
}

func (l *lowerer) find(n *asg.Node, j int) interval {
	switch n.Op {
	case asg.Const:
		return interval{n.Words[j], n.Words[j]}
	case asg.Input:
		return l.given(n, j)
	case asg.Operand:
		return l.hull(l.ints.lists[n], j)
	case asg.Neg, asg.Arith:
		i, _ := l.computed(n)
		return i
	case asg.MakeTuple:
		return l.interval(n.Args[j])
	case asg.Part:
		return l.partly(n.Args[0], n.At)
	case asg.MakeList:
		return l.hull(n.Args, j)
	case asg.Range:
		return interval{0, max(l.interval(n.Args[0]).hi, 1) - 1}
	case asg.Limit, asg.Intersect, asg.Diff, asg.Slice, asg.Window:
		return l.partly(n.Args[0], j)
	case asg.Apply:
		return l.partly(n.Func.Result, j)
	case asg.Place:
		return interval{0, l.most64(n.Args[:1])}
	case asg.Size, asg.ApplySize, asg.IntersectSize, asg.DiffSize:
		list := n.Args
		if n.Op != asg.ApplySize {
			list = list[:1]
		}
		return interval{0, l.most64(list)}
	case asg.Sum, asg.ApplySum:
		i, _ := l.summed(n, j)
		return i
	case asg.CounterAdd, asg.CounterGet:
		i, _ := l.counted(n.Args[0])
		return i
	case asg.VertexLabel, asg.LabelNumber:
		return l.labels(n)
	case asg.Edges, asg.Neighbor, asg.Labelled, asg.EdgeInfo, asg.Joining:
		return l.ends(n, j)
	}
	return anyInt
}

// ends is the range of the ends of edges, or of their informations, in a graph that
// the program makes. That of an input's vertices is in their type.
func (l *lowerer) ends(n *asg.Node, j int) interval {
	g, info := n.Args[0], n.Op != asg.Edges && n.Op != asg.Neighbor && n.Op != asg.Labelled
	switch {
	case info && (g.Op == asg.Input || g.Op == asg.Subgraph):
		return l.infos(g)
	case g.Op != asg.MakeGraph:
		return anyInt
	case info:
		return l.interval(g.Args[len(g.Args)-1])
	case n.Op == asg.Edges:
		return l.partly(g.Args[0], j)
	}
	return l.partly(g.Args[0], 1)
}

// infos is the range of a property of an input's edges.
func (l *lowerer) infos(g *asg.Node) (i interval) {
	for j, x := range l.in.EdgeInfo(g).Info {
		if j == 0 {
			i = interval{x, x}
		}
		i = i.hull(interval{x, x})
	}
	return i
}

// hull is the range of the values of some nodes, or of their items.
func (l *lowerer) hull(nodes []*asg.Node, j int) interval {
	if len(nodes) == 0 {
		return anyInt
	}
	i := l.partly(nodes[0], j)
	for _, n := range nodes[1:] {
		i = i.hull(l.partly(n, j))
	}
	return i
}

// given is the range of an input's numbers.
func (l *lowerer) given(n *asg.Node, j int) (i interval) {
	in := l.in.Input(n.Name)
	if n.Type.Kind != types.List {
		return interval{in.Var, in.Var}
	}
	w := n.Type.Elem.Words()
	for k := j; k < len(in.Items); k += w {
		x := in.Items[k]
		if k == j {
			i = interval{x, x}
		}
		i = i.hull(interval{x, x})
	}
	return i
}

// labels is the range of labels' numbers, and of none.
func (l *lowerer) labels(n *asg.Node) interval {
	name := n.Args[0].Type.Facts.Input
	if name == "" {
		return anyInt
	}
	if n.Op == asg.LabelNumber {
		x := l.in.LabelNumber(name, n.Name)
		return interval{x, x}
	}
	i := interval{data.NoLabel, data.NoLabel}
	for _, c := range l.in.Input(name).Graph.Classes {
		if c.First < c.End {
			x := l.in.Label(name, c.First)
			i = i.hull(interval{x, x})
		}
	}
	return i
}

// most64 is the most items of lists that are gone over together, as far as it fits
// 64 bits.
func (l *lowerer) most64(lists []*asg.Node) types.Word {
	most := types.Word(math.MaxInt64)
	for _, n := range lists {
		if n.Type.Max != nil {
			most = min(most, types.Word(max(l.in.Most(n.Type.Max), 0)))
		}
	}
	return most
}

// summed is the range of component j of the sum that a Sum, an ApplySum or an
// Apply makes; ok is false where it may not fit 64 bits.
func (l *lowerer) summed(n *asg.Node, j int) (out interval, ok bool) {
	if n.Op == asg.Sum {
		return l.partly(n.Args[0], j).times(l.most64(n.Args))
	}
	return l.partly(n.Func.Result, j).times(l.most64(n.Args))
}

// counted is the range of a Counter's count for a key, if all additions are to one key. ok is
// false if that may not fit 64 bits.
func (l *lowerer) counted(c *asg.Node) (out interval, ok bool) {
	ok = true
	for _, add := range l.ints.adds[c] {
		i, fits := l.interval(add.Args[2]).times(l.runs(add.Home, c.Home))
		sum, both := compute("+", out, i)
		out, ok = sum, ok && fits && both
	}
	return out, ok
}

// runs is how often f runs at most while the function around it, outer, runs once,
// as far as it fits 64 bits.
func (l *lowerer) runs(f, outer *asg.Func) types.Word {
	runs := types.Word(1)
	for ; f != nil && f != outer; f = f.Parent {
		each := types.Word(0)
		for _, n := range l.ints.owners[f] {
			each, _ = saturated("+", each, l.most64(n.Args))
		}
		runs, _ = saturated("*", runs, each)
	}
	return runs
}
