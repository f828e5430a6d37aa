package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// node writes what a node computes.
func (l *lowerer) node(n *asg.Node) *value {
	one := func(x kir.Expr) *value { return &value{xs: []kir.Expr{l.let(n.Given, x)}} }
	arg := func(i int) kir.Expr { return l.scalar(n.Args[i]) }
	switch n.Op {
	case asg.Neg:
		return one(kir.Unary{Op: kir.Neg, X: arg(0)})
	case asg.Not:
		return one(kir.NotX(arg(0)))
	case asg.Arith:
		return one(l.arith(n, arg(0), arg(1)))
	case asg.Compare:
		return one(kir.Op2(comparisons[n.Name], arg(0), arg(1)))
	case asg.And:
		return one(kir.All(arg(0), arg(1)))
	case asg.Or:
		return one(kir.Any(arg(0), arg(1)))
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
		return &value{adj: l.makeGraph(n)}
	case asg.Subgraph, asg.Matching:
		return l.view(n)
	case asg.Vertices, asg.Edges, asg.Neighbor, asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd:
		return l.graphNode(n)
	case asg.Apply:
		if !n.Effects {
			return l.apply(n)
		}
		return l.done(n)
	case asg.ApplySum:
		return l.sum(n.Type, func(add func([]kir.Expr)) {
			l.applied(n, func() { add(l.run(n.Func, l.vals[n.Func.Operands[0]].xs)) })
		})
	case asg.ApplySize:
		return one(l.applySize(n))
	case asg.Intersect, asg.Diff:
		return l.combine(n, n.Op == asg.Intersect)
	case asg.IntersectSize, asg.DiffSize:
		return one(l.combinedSize(n, n.Op == asg.IntersectSize))
	case asg.Sum:
		if v := l.vals[n.Args[0]]; v.sums != nil {
			return &value{xs: v.sums}
		}
		return l.sum(n.Type, func(add func([]kir.Expr)) { l.over(l.vals[n.Args[0]], add) })
	case asg.Size:
		return one(l.size(l.vals[n.Args[0]]))
	case asg.Slice:
		return l.slice(n)
	case asg.Emit:
		l.do(&kir.Emit{Row: l.scalars(n.Args[0])})
		return &value{}
	case asg.EdgeInfo:
		l.notYet(n, "edge_info")
	case asg.Limit:
		l.notYet(n, "mk_list of another list")
	case asg.NewCounter, asg.CounterAdd, asg.CounterGet, asg.CounterReset:
		l.notYet(n, "a Counter")
	}
	panic("irgen: cannot lower " + n.Op.String())
}

// done is an apply that does something: it runs here and once, so that only the
// sum and the size of its list can be known later.
func (l *lowerer) done(n *asg.Node) *value {
	sum := false
	asg.Walk(l.p, func(m *asg.Node) {
		for _, a := range m.Args {
			if a == n && m.Op != asg.Sum && m.Op != asg.Size {
				l.notYet(n, "a list that is made by doing something, but for its sum and size")
			}
			sum = sum || a == n && m.Op == asg.Sum
		}
	})
	run := func() []kir.Expr { return l.run(n.Func, l.vals[n.Func.Operands[0]].xs) }
	if n.Type.Kind == types.Void {
		l.applied(n, func() { run() })
		return &value{}
	}
	count := l.total("n", kir.I64)
	counted := func() []kir.Expr {
		l.do(&kir.Accumulate{To: kir.R(count), X: i64(1)})
		return run()
	}
	if !sum {
		l.applied(n, func() { counted() })
		return &value{count: kir.R(count)}
	}
	sums := l.sum(n.Type.Elem, func(add func([]kir.Expr)) {
		l.applied(n, func() { add(counted()) })
	})
	return &value{count: kir.R(count), sums: sums.xs}
}

var comparisons = map[string]kir.Op{"==": kir.Eq, "!=": kir.Ne, "<": kir.Lt, "<=": kir.Le, ">": kir.Gt, ">=": kir.Ge}

func (l *lowerer) arith(n *asg.Node, x, y kir.Expr) kir.Expr {
	op := map[string]kir.Op{"+": kir.Add, "-": kir.Sub, "*": kir.Mul, "/": kir.Div, "%": kir.Mod}[n.Name]
	if op == kir.Div || op == kir.Mod {
		c, known := y.(kir.Const)
		switch {
		case n.Type.Kind == types.Float && op == kir.Mod:
			l.notYet(n, "the remainder of a division of floats")
		case n.Type.Kind == types.Int && (!known || c.Bits == 0 || int64(c.Bits) == -1):
			l.notYet(n, "a division by what is not a constant other than 0 and -1")
		}
	}
	return kir.Op2(op, x, y)
}

// applySize counts the items that fulfil a condition.
func (l *lowerer) applySize(n *asg.Node) kir.Expr {
	from := l.vals[n.Args[0]]
	switch {
	case n.Cond == nil && len(n.Args) == 1:
		return l.size(from)
	case len(n.Args) == 1 && from.set != nil && l.plain(n.Cond):
		x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
		return asInt(kir.Count{Over: from.set, X: x, Keep: l.keep(n.Cond, asInt(kir.R(x)))})
	}
	count := l.total("n", kir.I64)
	l.applied(n, func() { l.do(&kir.Accumulate{To: kir.R(count), X: i64(1)}) })
	return kir.R(count)
}

// slice cuts a list.
func (l *lowerer) slice(n *asg.Node) *value {
	v := l.vals[n.Args[0]]
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
	lo, hi := l.bound(low, lowOpen, math.MinInt64), l.bound(high, highClosed, math.MaxInt64)
	if v.span != nil {
		return &value{span: &[2]kir.Expr{
			l.let("", kir.Op2(kir.Max, v.span[0], lo)), l.let("", kir.Op2(kir.Min, v.span[1], hi)),
		}}
	}
	// Any other list: its items are tested.
	return &value{each: func(body func([]kir.Expr)) {
		l.over(v, func(item []kir.Expr) {
			in := kir.All(kir.Op2(kir.Ge, item[0], lo), kir.Op2(kir.Lt, item[0], hi))
			l.do(&kir.If{Cond: in, Then: l.block(func() { body(item) })})
		})
	}}
}

// bound is a limit of a slice as an Int: the number behind it where so is said,
// none where there is no limit.
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
		return &value{adj: l.graph(n.Name)}
	case types.List:
		l.notYet(n, "an input that is a list")
	case types.Float:
		return &value{xs: []kir.Expr{kir.F(in.Var.Float())}}
	case types.Bool:
		return &value{xs: []kir.Expr{kir.Const{T: kir.T(kir.Bool), Bits: uint64(in.Var)}}}
	}
	return &value{xs: []kir.Expr{i64(int64(in.Var))}}
}

// noLabel is the label of what has none.
var noLabel = i64(int64(data.NoLabel))
