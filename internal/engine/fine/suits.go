package fine

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// Indexes reports whether a run of p makes a candidate graph, as it does by
// itself for large labelled patterns.
func (f *Fine) Indexes(p *plan.Plan, o engine.Options) bool {
	opt, err := optionsOf(o.Opt)
	if err != nil {
		return false
	}
	q, err := f.indexed(p, opt, !o.Listing, false)
	return err == nil && q != nil
}

// LooksUpBits reports whether a run of p without a candidate graph finds neighbours
// in rows of bits. Then it is faster at loop nests than set programs are.
func (f *Fine) LooksUpBits(p *plan.Plan, o engine.Options) bool {
	opt, err := optionsOf(o.Opt)
	if err != nil || p.Empty != nil {
		return false
	}
	room, err := gpu.ReadRoom(o)
	if err != nil {
		return false
	}
	x := &program{p: p, opt: opt, memory: room}
	return x.looksUpBits(lower.Lists(p, x.memory.Sparse(x.p)), f.s.Memory())
}
