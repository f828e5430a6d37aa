package plan

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Compile makes the plan of p in g: labels, predicates and edge filters are
// bound to the graph, an order is chosen with its restrictions, and both views
// of each level are written down. The error is a *QueryError where the query
// asks for what cannot be asked, and an error of package pattern where the
// pattern is not valid. A query that merely matches nothing, an unknown label
// say, is no error: the plan says so in Empty. Where o.Context ends first the
// error is its cause.
func Compile(g *graph.Graph, p *pattern.Pattern, o Options) (*Plan, error) {
	pl, err := compile(g, p, o)
	if o.ended() {
		return nil, context.Cause(o.Context)
	}
	return pl, err
}

// compile is Compile; once o has ended its plan may be anything.
func compile(g *graph.Graph, p *pattern.Pattern, o Options) (*Plan, error) {
	if o.ended() {
		return nil, errEnded
	}
	p, err := pattern.SubstituteParams(p, o.Params)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := supported(p); err != nil {
		return nil, err
	}
	if !p.Connected() && !o.AllowProduct {
		return nil, queryErrorf("the pattern is not connected: its matches would be a product of the parts' matches; say --allow-product to ask for that")
	}
	if o.Root < NoRoot || o.Root >= len(p.Vertices) {
		return nil, queryErrorf("root %d is not a vertex of the pattern", o.Root)
	}
	t := newTables(g)
	t.ended = o.ended
	b, err := bind(t, p)
	if err != nil || o.ended() {
		return nil, err
	}
	b.restrict = p.Mode == pattern.Iso && !o.Embeddings && !o.NoRestrictions
	if b.wantsTemporal(o) {
		err := b.temporalOK(o)
		if err == nil {
			var pl *Plan
			if pl, err = b.temporal(o); err == nil {
				return pl, nil
			}
		}
		if o.Method == Temporal.String() {
			return nil, queryErrorf("the temporal method does not apply: %v", err)
		}
	}
	c, err := b.chooseOrder(o)
	if err != nil {
		return nil, err
	}
	b.flip = c.flip
	if o.Method == "" && !o.Estimates && b.plainTriangle() {
		o.Quick = true // there is one order, and one method that is the best on every graph
	}
	large := b.largeChosen(o)
	if large && !o.Estimates {
		// The method reads the checks view alone, and nobody is shown the other.
		pl, _, _ := b.assembleChecks(c.order, Options{Root: o.Root, NoTail: true})
		pl.OrderName, pl.Why, pl.Method = c.name, c.why+becauseLarge, Large
		return pl, nil
	}
	pl := b.assemble(c.order, o)
	pl.OrderName, pl.Why = c.name, c.why
	if err := b.chooseMethod(pl, o); err != nil {
		return nil, err
	}
	if large {
		pl.Method, pl.Why = Large, pl.Why+becauseLarge
		o.Quick = true
	}
	pl.estimate(o)
	switch {
	case large:
		return pl, nil
	case pl.Method == Local && len(pl.Levels) > 2:
		pl.Price = localPrice(pl, surveyOf(pl.Adjs[0].Lists))
	}
	if o.Method == "" || o.Method == "direct" {
		return b.auto(pl, o)
	}
	return pl, nil
}

// supported refuses what the language has and plans have not yet.
func supported(p *pattern.Pattern) error {
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Min > 1 || e.Max > 1 || e.Min == 0 && e.Max > 0 {
			return &QueryError{Vertex: -1, Edge: i, Msg: "variable-length edges are not supported yet"}
		}
	}
	return nil
}

// choice is an order with the rule that made it and, in a sentence, why.
type choice struct {
	order     []int
	name, why string
	flip      bool
}

// chooseOrder applies the rule that o names.
func (b *binding) chooseOrder(o Options) (choice, error) {
	if o.Method == "local" {
		return b.orderLocal(o)
	}
	switch o.Order {
	case "", "auto":
		if o.Root < 0 && (o.Method == "" || o.Method == "large") && b.largelyLabelled() {
			// The large method orders vertices as it goes; this one is only for
			// reading, and a search for a better one would take longer than the run.
			return b.orderRI(o), nil
		}
		return b.orderCost(o), nil
	case "cost":
		return b.orderCost(o), nil
	case "ri":
		return b.orderRI(o), nil
	case "tests":
		return b.orderTests(o), nil
	case "gsi":
		return b.orderGSI(o), nil
	case "geneva":
		return b.orderGeneva(o), nil
	case "given":
		return b.orderGiven(o)
	}
	return choice{}, queryErrorf("unknown order %q: want auto, ri, gsi, geneva, cost, tests or given", o.Order)
}

// assemble writes the plan of one order.
func (b *binding) assemble(order []int, o Options) *Plan {
	pl, less, keep := b.assembleChecks(order, o)
	addSets(pl, less, len(order)-keep, o.NoMotion)
	addTail(pl, keep, less)
	return pl
}

// assembleChecks writes the checks view of one order. It returns the closure of
// the restrictions and the number of levels that the tail is to close too.
func (b *binding) assembleChecks(order []int, o Options) (*Plan, *poset, int) {
	pl := &Plan{
		Graph: b.g, Pattern: b.p, Mode: b.p.Mode, Induced: b.p.Induced,
		Order: order, LevelOf: make([]int, b.n), Levels: make([]Level, b.n),
		Adjs: b.adjs, Aut: b.group.Order(),
		Restricted: b.restrict, Rooted: o.Root >= 0,
		Empty: b.empty, Warnings: b.warnings, columns: b.columns,
	}
	for l, v := range order {
		pl.LevelOf[v] = l
	}
	for l, v := range order {
		bv := &b.vertices[v]
		lv := &pl.Levels[l]
		lv.Vertex, lv.Ranges, lv.Bits, lv.Set = v, bv.ranges, bv.bits, -1
		lv.MinDegree, lv.MinDegreeAdj = bv.minDegree, bv.minDegreeAdj
	}
	if b.empty != nil {
		pl.Levels[0].Ranges = []Range{} // so that the plan means what Empty says
	}
	b.addBacks(pl)
	b.addEdgeChoices(pl)
	b.addChecks(pl)
	b.addTimeChecks(pl)
	less := newPosetOf(b, pl)
	keep := tailLevels(pl, less, o)
	less.addTo(pl, len(order)-keep)
	if pl.Mode == pattern.Iso {
		addDistinct(pl, less)
	}
	return pl, less, keep
}
