package bind

import (
	"math"
	"math/big"
	"slices"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// timing is ORDERED and WITHIN bound to the graph: each of the edges has a time,
// and times are compared as conditions over the chosen data edges are. Where all
// times are whole numbers, the method temporal reads the same constraint as
// windows of time.
type timing struct {
	key     string // the property, as a condition names it
	col     *expr.Column
	edges   []int // pattern edges, in the order asked for if ordered
	ordered bool
	within  int64 // the most that the latest is after the earliest, in the property's unit
	bounded bool  // there is such a bound
}

// bindOrder resolves the pattern's ORDERED and WITHIN.
func (b *Binding) bindOrder() error {
	o := b.Pattern.Order
	if o == nil {
		return nil
	}
	t := &timing{ordered: len(o.Edges) > 0, edges: slices.Clone(o.Edges), bounded: o.Within != 0}
	for _, be := range b.Edges {
		if !t.ordered {
			t.edges = append(t.edges, be.Edge)
		}
	}
	for _, e := range t.edges {
		if !slices.ContainsFunc(b.Edges, func(be Edge) bool { return be.Edge == e }) {
			return orderErrorf("ORDERED is about named edges, and %s is none", b.Pattern.EdgeName(e))
		}
	}
	if len(t.edges) < 2 {
		return orderErrorf("WITHIN bounds the times of named edges, and fewer than two have a name: name them, as in -[e]->")
	}
	if t.key, t.col = timeKey(b.Graph, o.On); t.col == nil {
		if o.On != "" {
			b.warn(expr.Unknown(b.Graph, pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef}, Key: o.On}))
			b.nothing("no edge has the property " + pattern.QuoteName(o.On) + " that the order is on")
		} else {
			b.nothing("the edges have no times to be in order")
		}
		return nil
	}
	if t.bounded {
		if err := b.bindWithin(t, o); err != nil {
			return err
		}
	}
	b.timing = t
	return nil
}

// orderErrorf is an error about ORDERED and WITHIN.
func orderErrorf(format string, args ...any) *plan.QueryError {
	err := plan.Errorf(format, args...)
	err.Order = true
	return err
}

// timeKey is the property that the order is on; without a name, the edges' times.
func timeKey(g *graph.Graph, on string) (string, *expr.Column) {
	if on != "" {
		return on, expr.EdgeColumn(g, on)
	}
	for _, key := range graph.TimeNames {
		if c := expr.EdgeColumn(g, key); c != nil && (c.Type() == nil || g.Edges.Time == nil) {
			return key, c
		}
	}
	return "", nil
}

// bindWithin turns the bound into the unit of the property.
func (b *Binding) bindWithin(t *timing, o *pattern.Order) error {
	switch t.col.Kind() {
	case expr.TextWords, expr.BoolWords:
		return orderErrorf("WITHIN needs a property that is a time or a number, and %s is %s", pattern.QuoteName(t.key), t.col.Type())
	}
	if t.within = o.Within; !o.Duration {
		return nil
	}
	num, den, ok := b.unit(t.col)
	if !ok {
		return orderErrorf("WITHIN has a unit, and %s is a plain number: say WITHIN and a number", pattern.QuoteName(t.key))
	}
	// The largest number of whole units that is not longer.
	n := new(big.Int).Mul(big.NewInt(o.Within), big.NewInt(den))
	switch n.Quo(n, big.NewInt(num)); {
	case n.IsInt64():
		t.within = n.Int64()
	case n.BitLen() > 64:
		t.bounded = false // no two times are so far apart
	default:
		t.within = math.MaxInt64
	}
	return nil
}

// unit is the length of one unit of a column of times, num/den nanoseconds.
func (b *Binding) unit(c *expr.Column) (num, den int64, ok bool) {
	if c.Type() == nil {
		num, den, said := b.Graph.TimeUnit()
		if !said {
			b.warn("the times of edges are taken as seconds, since the graph does not say their unit")
		}
		return num, den, true
	}
	num, _ = graph.TypeUnit(c.Type())
	return num, 1, num > 0
}

// addTimeChecks gives each timed edge choice the conditions that compare it with earlier ones
// in the plan. For the order it compares with the nearest choice, and for the bound with the
// earliest or the latest.
func (b *Binding) addTimeChecks(pl *plan.Plan) {
	t := b.timing
	if t == nil {
		return
	}
	sc := b.scope()
	choice := map[int]int{}
	sc.Edge = func(e int) int { return choice[e] }
	time := func(e int) pattern.Expr {
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef, Index: e}, Key: t.key}
	}
	var done []int // places in t.edges
	for i := range pl.Edges {
		c := &pl.Edges[i]
		choice[c.Edge] = i
		place := slices.Index(t.edges, c.Edge)
		if place < 0 {
			continue
		}
		add := func(x pattern.Expr) {
			c.Checks = append(c.Checks, plan.Check{Text: pattern.FormatExpr(b.Pattern, x), Expr: x, Eval: sc.Check(x), Cost: expr.Cost(x), InTime: true})
		}
		before := func(i, j int) {
			add(pattern.Binary{Op: pattern.OpLt, X: time(t.edges[i]), Y: time(t.edges[j])})
		}
		within := func(i, j int) {
			if t.bounded {
				add(pattern.Binary{
					Op: pattern.OpLe, X: pattern.Binary{Op: pattern.OpSub, X: time(t.edges[j]), Y: time(t.edges[i])},
					Y: pattern.Lit{Value: t.within},
				})
			}
		}
		switch at, _ := slices.BinarySearch(done, place); {
		case !t.ordered:
			for _, j := range done {
				within(j, place)
				within(place, j)
			}
		default:
			if at > 0 {
				before(done[at-1], place)
			}
			if at < len(done) {
				before(place, done[at])
			}
			switch {
			case len(done) == 0:
			case at == len(done):
				within(done[0], place)
			case at == 0:
				within(place, done[len(done)-1])
			}
		}
		at, _ := slices.BinarySearch(done, place)
		done = slices.Insert(done, at, place)
	}
}
