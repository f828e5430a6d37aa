package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// node writes the value of a node.
func (l *lowerer) node(n *asg.Node) *value {
	one := func(x kir.Expr) *value { return &value{xs: []kir.Expr{l.let(n.Given, x)}} }
	arg := func(i int) kir.Expr { return l.scalar(n.Args[i]) }
	switch n.Op {
	case asg.Neg:
		return one(l.negative(n, arg(0)))
	case asg.Not:
		return one(kir.NotX(arg(0)))
	case asg.Arith:
		return one(l.arith(n, arg(0), arg(1)))
	case asg.Compare:
		if is := l.isLabelled(n); is != nil {
			return one(is)
		}
		return one(kir.Op2(comparisons[n.Name], arg(0), arg(1)))
	case asg.And, asg.Or:
		return one(l.logic(n, n.Op == asg.Or))
	case asg.ToFloat:
		return one(kir.Convert{T: kir.T(kir.F64), X: arg(0)})
	case asg.MakeTuple:
		v := &value{}
		for i := range n.Args {
			v.xs = append(v.xs, arg(i))
		}
		return v
	case asg.Part:
		return &value{xs: []kir.Expr{l.scalars(n.Args[0])[n.At]}}
	case asg.MakeList:
		v := &value{}
		for _, a := range n.Args {
			v.lit = append(v.lit, l.scalars(a))
		}
		return v
	case asg.Range:
		return &value{span: &[2]kir.Expr{i64(0), arg(0)}}
	case asg.MakeGraph:
		return l.makeGraph(n)
	case asg.Subgraph, asg.Matching:
		return l.view(n)
	case asg.Between:
		return l.between(n)
	case asg.Holds:
		return one(l.holds(n))
	case asg.Neighbor:
		if l.semi && l.joins(n) {
			return &value{} // its size is asked for
		}
		return l.graphNode(n)
	case asg.Vertices, asg.Edges, asg.EdgeInfo, asg.Joining, asg.Labelled, asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd:
		return l.graphNode(n)
	case asg.Apply:
		if !n.Effects {
			return l.apply(n)
		}
		return l.done(n)
	case asg.ApplySum:
		if v := l.laneAdds(n); v != nil {
			return v
		}
		return l.sum(n, n.Type, func(add func([]kir.Expr)) {
			l.applied(n, func() { add(l.again(n.Func)) })
		})
	case asg.ApplySize:
		return one(l.applySize(n))
	case asg.Intersect, asg.Diff:
		return l.combine(n, n.Op == asg.Intersect)
	case asg.IntersectSize, asg.DiffSize:
		return one(l.combinedSize(n, n.Op == asg.IntersectSize))
	case asg.Sum:
		v := l.list(n.Args[0])
		if v.sums != nil {
			return &value{xs: v.sums}
		}
		return l.sum(n, n.Type, func(add func([]kir.Expr)) { l.over(v, add) })
	case asg.Size:
		if l.semi && l.joins(n) {
			return one(l.degree(n.Args[0]))
		}
		return one(l.size(l.list(n.Args[0])))
	case asg.Slice:
		return l.slice(n)
	case asg.Place:
		return one(l.below(n))
	case asg.Window:
		return l.window(n)
	case asg.Emit:
		l.do(&kir.Emit{Row: l.scalars(n.Args[0])})
		return &value{}
	case asg.Limit:
		return l.limit(n)
	case asg.NewCounter:
		return l.newCounter(n)
	case asg.CounterAdd:
		return l.counterAdd(n)
	case asg.CounterGet:
		return l.counterGet(n)
	case asg.CounterReset:
		l.reset(l.list(n.Args[0]).counter)
		return &value{}
	}
	panic("irgen: cannot lower " + n.Op.String())
}

var comparisons = map[string]kir.Op{"==": kir.Eq, "!=": kir.Ne, "<": kir.Lt, "<=": kir.Le, ">": kir.Gt, ">=": kir.Ge}

// applySize counts the items that fulfil a condition.
func (l *lowerer) applySize(n *asg.Node) kir.Expr {
	from := l.vals[n.Args[0]]
	switch {
	case n.Cond == nil && len(n.Args) == 1:
		return l.size(l.need(from))
	case len(n.Args) == 1 && from.set != nil && l.plain(n.Cond):
		l.need(from)
		x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
		return asInt(kir.Count{Over: from.set, X: x, Keep: l.keep(n.Cond, asInt(kir.R(x)))})
	}
	count := l.total("n", kir.I64)
	l.applied(n, func() { l.do(&kir.Accumulate{To: kir.R(count), X: i64(1)}) })
	return kir.R(count)
}

// slice cuts a list.
func (l *lowerer) slice(n *asg.Node) *value {
	v := l.list(n.Args[0])
	var low, high *asg.Node
	bounds := n.Args[1:]
	if n.At&asg.WithLow != 0 {
		low, bounds = bounds[0], bounds[1:]
	}
	if n.At&asg.WithHigh != 0 {
		high = bounds[0]
	}
	lowOpen, highClosed := n.At&asg.LowOpen != 0, n.At&asg.HighClosed != 0
	if v.set != nil {
		return &value{set: l.let(n.Given, kir.Fn(kir.Slice, v.set, l.id(low, lowOpen, 0), l.id(high, highClosed, math.MaxUint32)))}
	}
	if v.span != nil { // ends before the largest Int
		lo, hi := l.bound(low, lowOpen, math.MinInt64), l.bound(high, highClosed, math.MaxInt64)
		return &value{span: &[2]kir.Expr{
			l.let("", kir.Op2(kir.Max, v.span[0], lo)), l.let("", kir.Op2(kir.Min, v.span[1], hi)),
		}}
	}
	// Any other list: its items are tested, which may be any Int.
	above, below := kir.Ge, kir.Lt
	if lowOpen {
		above = kir.Gt
	}
	if highClosed {
		below = kir.Le
	}
	var lo, hi kir.Expr
	if low != nil {
		lo = l.scalar(low)
	}
	if high != nil {
		hi = l.scalar(high)
	}
	return &value{each: func(body func([]kir.Expr)) {
		l.over(v, func(item []kir.Expr) {
			var in []kir.Expr
			if lo != nil {
				in = append(in, kir.Op2(above, item[0], lo))
			}
			if hi != nil {
				in = append(in, kir.Op2(below, item[0], hi))
			}
			l.do(&kir.If{Cond: kir.All(in...), Then: l.block(func() { body(item) })})
		})
	}}
}

// bound is a limit of a slice as an Int. With behind it is the number after the limit. It is
// none if there is no limit.
func (l *lowerer) bound(n *asg.Node, behind bool, none int64) kir.Expr {
	switch {
	case n == nil:
		return i64(none)
	case !behind:
		return l.scalar(n)
	}
	return kir.Op2(kir.Add, kir.Op2(kir.Min, l.scalar(n), i64(math.MaxInt64-1)), i64(1))
}

// id is a limit of a slice of ids.
func (l *lowerer) id(n *asg.Node, behind bool, none uint32) kir.Expr {
	switch {
	case n == nil:
		return kir.C(none)
	case n.Type.Vertex == "" || n.Op == asg.Const:
		return clamp(l.bound(n, behind, 0))
	case behind:
		return kir.Op2(kir.Add, asID(l.scalar(n)), kir.C(1))
	}
	return asID(l.scalar(n))
}

// input is the value of an input.
func (l *lowerer) input(n *asg.Node) *value {
	in := l.in.Input(n.Name)
	switch n.Type.Kind {
	case types.Graph:
		if e := l.in.EdgeInfo(n); e != nil {
			return &value{made: l.infoGraph(n, n.Name, e)}
		}
		return &value{adj: l.graph(n.Name)}
	case types.List:
		return l.inputList(n, in.Items)
	}
	return &value{xs: []kir.Expr{l.givenNumber(n, in.Var)}}
}

// noLabel is the label of a vertex without one.
var noLabel = i64(int64(data.NoLabel))
