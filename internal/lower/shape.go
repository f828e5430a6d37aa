package lower

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Shape is what a schedule must know of a program before it can say how the program is to
// be made. It is the same for any Roomy and Lookup.
type Shape struct {
	Walked int // levels that are walked: W_ENUM
	Slots  int // set nodes with memory of their own: W_SLOTS
	// Siblings: the Checks view has Siblings<l> where Options.Siblings asks for it.
	Siblings bool
}

// ShapeOf returns the shape of the program that Plan makes of p. It costs a small part of
// what Plan costs.
func ShapeOf(p *plan.Plan, o Options) Shape {
	x := newLowering(p, o)
	s := Shape{Walked: x.tail, Slots: x.slot}
	if o.View == Checks {
		s.Slots = 0
		_, s.Siblings = x.sibling()
	}
	return s
}

// Lists is a program without functions: its globals are the neighbour lists of p, with the
// indexes that they have in each program that Plan makes of p.
func Lists(p *plan.Plan) *kir.Program {
	x := &lowering{shared: newShared(&kir.Program{Name: p.Pattern.Name}, p), p: p}
	x.addRelations()
	x.prog.Funcs, x.prog.Owners = nil, nil
	return x.prog
}
