package bind

import (
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/sets"
)

// Assemble writes the plan of one order.
func (b *Binding) Assemble(order []int, o plan.Options) *plan.Plan {
	pl, sets := b.assembleChecks(order, o)
	sets.Add()
	return pl
}

// AssembleChecks writes the checks view of one order alone.
func (b *Binding) AssembleChecks(order []int, o plan.Options) *plan.Plan {
	pl, _ := b.assembleChecks(order, o)
	return pl
}

// assembleChecks writes the checks view of one order, and returns a builder that adds the set
// program.
func (b *Binding) assembleChecks(order []int, o plan.Options) (*plan.Plan, *sets.Builder) {
	pl := &plan.Plan{
		Graph: b.Graph, Pattern: b.Pattern, Mode: b.Pattern.Mode, Induced: b.Pattern.Induced,
		Order: order, LevelOf: make([]int, b.N), Levels: make([]plan.Level, b.N),
		Adjs: b.Adjs, Aut: b.Group.Order(),
		Restricted: b.Restrict, Rooted: o.Root >= 0,
		Empty: b.Empty, Warnings: b.warnings, Shared: b.shared, Reduction: b.Reduction,
	}
	for l, v := range order {
		pl.LevelOf[v] = l
	}
	placed := uint32(0)
	for l, v := range order {
		bv := &b.Vertices[v]
		lv := &pl.Levels[l]
		lv.Vertex, lv.Ranges, lv.Bits, lv.Set = v, bv.Ranges, b.needed(v, placed), -1
		placed |= 1 << v
		lv.MinDegree, lv.MinDegreeAdj = bv.minDegree, bv.minDegreeAdj
	}
	if b.Empty != nil {
		pl.Levels[0].Ranges = []plan.Range{} // so that the plan means what Empty says
	}
	b.addBacks(pl)
	b.addEdgeChoices(pl)
	b.addChecks(pl)
	b.addTimeChecks(pl)
	var orbits []uint32
	if b.Restrict && !b.Group.Trivial() {
		orbits = b.Orbits(order)
	}
	return pl, sets.NewBuilder(pl, sets.Restrict(pl, orbits, b.Flip), o)
}
