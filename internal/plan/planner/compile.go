// Package planner makes plans. It binds a pattern to a graph, chooses an order, and chooses the
// method that is expected to count with the least work.
//
// It joins the packages below plan; the rest of weft calls only this one. It must not know
// engines.
package planner

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/formula"
	"github.com/weftgraph/weft/internal/plan/order"
)

// Compile makes the plan of p in g. It binds labels, predicates and edge filters to the graph,
// chooses an order with its restrictions, and writes both views of each level.
//
// The error is a *plan.QueryError if the query cannot be answered, and an error of package
// pattern if the pattern is not valid. If o.Context ends first, the error is its cause. A query
// that matches nothing, because of an unknown label for example, is not an error: the plan says
// so in Empty.
func Compile(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	pl, err := compile(g, p, o)
	if o.Ended() {
		return nil, context.Cause(o.Context)
	}
	if pl != nil {
		pl.NoTail = o.NoTail
		if onGPU := o.Order == plan.JoinOnGPU || o.Order == plan.MergeOnGPU || o.Order == plan.EitherOnGPU; onGPU && (pl.Reduction != nil || pl.OrderName == "gsi" || pl.MergedRows() > 0) {
			pl.JoinTime, _ = cost.OnGPU(pl)
			if pl.Reduction != nil {
				pl.SemijoinTime = cost.Semijoins(pl.Reduction.Reads)
			}
		}
	}
	return pl, err
}

// compile is Compile; once o has ended its plan may be anything.
func compile(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	if o.Ended() {
		return nil, plan.ErrEnded
	}
	p, err := pattern.SubstituteParams(p, o.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := bind.Supported(p); err != nil {
		return nil, err
	}
	if !p.Connected() && !o.AllowProduct {
		return nil, plan.Errorf("the pattern is not connected: its matches would be a product of the parts' matches; say --allow-product to ask for that")
	}
	if o.Root < plan.NoRoot || o.Root >= len(p.Vertices) {
		return nil, plan.Errorf("root %d is not a vertex of the pattern", o.Root)
	}
	bound, err := bind.Bind(g, p, o)
	if err != nil || o.Ended() {
		return nil, err
	}
	b := &planner{order.NewRules(bound)}
	either := o.Order == plan.EitherOrder
	reduce, short, why := b.reduces(&o)
	switch {
	case short != nil:
		return short, nil
	case reduce == semijoins:
		b.Reduce()
	case reduce == filtered:
		b.Filter()
	}
	if o.Ended() {
		return nil, nil
	}
	if reduce != asBound {
		b = &planner{order.NewRules(bound)} // the model is of the candidates that are left
	}
	pl, err := b.plan(o)
	if err == nil && reduce == filtered && b.semijoinsPay(pl) {
		if b.Reduce(); o.Ended() {
			return nil, nil
		}
		b = &planner{order.NewRules(bound)}
		pl, err = b.plan(o)
	}
	if pl != nil && either {
		pl.NoJoin = noJoin(pl, o, reduce, why)
	}
	return pl, err
}

// noJoin is Plan.NoJoin of a plan, where why was said before there was one.
func noJoin(pl *plan.Plan, o plan.Options, reduce reduction, why string) string {
	switch {
	case pl.Empty != nil || pl.OnHost != nil:
		return ""
	case why != "" || reduce == asBound:
		return why
	case o.Listing:
		return "how long one takes to list matches is not known"
	}
	return fmt.Sprintf("the plan is for the method %v", pl.Method)
}

// plan makes the plan of the candidates that there are.
func (b *planner) plan(o plan.Options) (*plan.Plan, error) {
	if b.wantsTemporal(o) {
		err := b.TemporalOK(o)
		if err == nil {
			var pl *plan.Plan
			if pl, err = order.InTime(b.Binding, o); err == nil {
				return pl, nil
			}
		}
		if o.Method == plan.Temporal.String() {
			return nil, plan.Errorf("the temporal method does not apply: %v", err)
		}
	}
	c, err := b.Choose(o)
	if err != nil {
		return nil, err
	}
	b.Flip = c.Flip
	if o.Method == "" && !o.Estimates && b.plainTriangle() {
		o.Quick = true // there is one order, and one method that is the best on every graph
	}
	large := b.largeChosen(o)
	if large && !o.Estimates {
		// The method reads the checks view alone, and nobody is shown the other.
		pl := b.AssembleChecks(c.Order, plan.Options{Root: o.Root, NoTail: true})
		pl.OrderName, pl.Why, pl.Method = c.Name, c.Why+becauseLarge, plan.Large
		return pl, nil
	}
	var pl *plan.Plan
	if c.Walks != nil {
		pl = c.Walks.Plan
	} else {
		pl = b.Assemble(c.Order, o)
	}
	pl.OrderName, pl.Why = c.Name, c.Why
	for l, rows := range c.Rows {
		pl.Levels[l].Rows, pl.Levels[l].Left = rows, c.Left[l]
	}
	if err := b.chooseMethod(pl, o); err != nil {
		return nil, err
	}
	if large {
		pl.Method, pl.Why = plan.Large, pl.Why+becauseLarge
		o.Quick = true
	}
	if c.Levels != nil {
		for l, x := range c.Levels {
			pl.Levels[l].Estimate, pl.Levels[l].Cost = x.Matches, x.Cost
		}
		if pl.Method == plan.Nest && !o.Listing && pl.Empty == nil {
			pl.OnHost = cost.OnHost(pl)
		}
		if !o.Estimates {
			return pl, nil
		}
	}
	if c.Walks != nil {
		c.Walks.EstimateMore()
	} else {
		cost.Estimate(pl, o, c.Cost)
	}
	switch {
	case large:
		return pl, nil
	case pl.Method == plan.Local && len(pl.Levels) > 2:
		pl.Price = cost.LocalPrice(pl, cost.NewSurvey(b.Graph, pl.Adjs[0].Lists, &o))
	}
	if o.Method == "" || o.Method == "direct" {
		if pl, err = b.auto(pl, o); err != nil {
			return nil, err
		}
	}
	if o.Estimates {
		cost.Show(pl, o) // chosen is what is chosen without
	}
	return pl, nil
}

// OrdersFrom returns a matching order for each choice of two first vertices, for searches breadth first; see order.Rules.From. p is a
// pattern that Compile takes.
func OrdersFrom(g *graph.Graph, p *pattern.Pattern, o plan.Options, pairs bool, first ...[2]int) (orders [][]int, err error) {
	b, err := bind.Bind(g, p, o)
	if err == nil {
		rules := order.NewRules(b)
		for _, two := range first {
			orders = append(orders, rules.From(two[0], two[1], pairs, o))
		}
	}
	if o.Ended() {
		return nil, context.Cause(o.Context)
	}
	return orders, err
}

// wantsTemporal reports whether the caller asks for edge extension, or edge extension suits a
// query with an order in time.
func (b *planner) wantsTemporal(o plan.Options) bool {
	auto := (o.Method == "" || o.Method == "direct") && (o.Order == "" || o.Order == "auto" || o.Order == "cost")
	return b.Empty == nil && (o.Method == plan.Temporal.String() || auto && b.Pattern.Order != nil)
}

// planner makes the plan of one query.
type planner struct{ *order.Rules }

// NewDecomposer returns an empty decomposer for patterns in g.
func NewDecomposer(g *graph.Graph, o plan.Options) *formula.Decomposer {
	return formula.New(g, o, Compile)
}
