package lower

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Shape has the facts of a program that a schedule needs before it can choose the options of
// Plan. It is the same for any Roomy and Lookup.
type Shape struct {
	Walked int // levels that are walked
	Slots  int // set nodes with memory of their own
	// Siblings: the Checks view has Siblings<l> where Options.Siblings asks for it.
	Siblings bool
}

// ShapeOf returns the shape of the program that Plan makes of p. It is much cheaper than Plan.
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
func Lists(p *plan.Plan, sparse SparseLists) *kir.Program {
	x := &lowering{shared: newShared(&kir.Program{Name: p.Pattern.Name}, p), p: p, o: Options{Sparse: sparse}}
	x.addRelations()
	x.prog.Funcs, x.prog.Owners = nil, nil
	return x.prog
}

// CandidateGraph returns the code that a candidate graph is made with. It has no functions:
// its globals are the neighbour lists and bitmaps of p, in the plan's order, so that its
// text is the same for all plans with as many, of which some have sparse lists, or none.
func CandidateGraph(p *plan.Plan, sparse SparseLists) *Code {
	c := &Code{Program: Lists(p, sparse), Levels: len(p.Levels), Adjs: len(p.Adjs)}
	c.Program.Name, c.Program.Doc = "candidates", "the graph of a pattern's candidates"
	for i := range p.Levels {
		if words := p.Levels[i].Bits; words != nil {
			if len(words) == 0 {
				words = []uint64{0}
			}
			c.Program.AddGlobal(&kir.GlobalDef{Name: "vertices that pass a predicate", Kind: kir.Bits, Words: words})
			c.Bits++
		}
	}
	c.Program.Defines = c.globals()
	return c
}
