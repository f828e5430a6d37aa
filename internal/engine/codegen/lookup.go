package codegen

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// lookup decides how a nest of p tests membership in a list, unless the options ask for a
// certain way. It takes rows of bits if all of them fit, hash tables if lists are long, and
// otherwise merging and bisection of sorted lists.
func (e *Engine) lookup(p *plan.Plan, how membership.Lookup, lengths membership.Lengths, sparse lower.SparseLists) membership.Lookup {
	lists := lower.Lists(p, sparse)
	switch {
	case lower.InParts(p): // tables are made of one sorted run
		how = membership.Search
	case how == membership.Auto && membership.WorthBits(lists, e.s.Memory(), 0):
		how = membership.Bits
	case how == membership.Auto && lengths.Long(lists.Globals[0]):
		how = membership.Hash
	case how == membership.Auto:
		how = membership.Search
	case how == membership.Bits && !membership.FitBits(lists, e.s.Memory()):
		how = membership.Hash
	}
	if how == membership.Hash && !membership.FitHash(lists, e.s.Memory()) {
		how = membership.Search
	}
	return how
}

// Lookup is the way in which a run of p may test membership in a neighbour list, for a p with
// the method nest. Search means that it does not look up.
func (e *Engine) Lookup(p *plan.Plan, o engine.Options) membership.Lookup {
	v, err := Options.Read(o.Opt)
	if err != nil || p.Method != plan.Nest || p.Empty != nil {
		return membership.Search
	}
	lengths, err := membership.ReadLengths(o.Opt)
	if err != nil {
		return membership.Search
	}
	room, err := gpu.ReadRoom(o)
	if err != nil {
		return membership.Search
	}
	return e.lookup(p, membership.LookupOf(v, "codegen.lookup"), lengths, room.Sparse(p))
}

// setsShare is the part of a device's memory that candidate sets may take for Traits.Fits.
const setsShare = 4

// setBytes is the size of a warp's candidate sets: `slots` sets of limit elements.
func setBytes(slots int, limit uint32) int64 { return 4 * int64(slots) * int64(limit) }

// fits reports whether devices full of warps have room for candidate sets, each as long as a
// hub's list may be.
func (e *Engine) fits(slots int, limit uint32) bool {
	warps := 0
	for _, d := range e.s.Devices() {
		warps = max(warps, d.SMs*d.ThreadsPerSM/32)
	}
	return slots == 0 || setBytes(slots, limit)*int64(warps) <= e.s.Memory()/setsShare
}
