package codegen

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// lookupSwitch chooses how a nest finds out who is in a neighbour list.
const lookupSwitch = "codegen.lookup"

// lookup decides how the nest of p, lowered as prog, finds out who is in a list: by
// rows of bits where there is room for all of them, by hash tables where lists are
// long, and else by merging and bisecting sorted lists.
func (e *Engine) lookup(p *plan.Plan, prog *kir.Program, o engine.Options) (membership.Lookup, error) {
	how, err := membership.Parse(lookupSwitch, o.Opt[lookupSwitch])
	switch {
	case err != nil:
		return how, err
	case lower.InParts(p): // tables are made of one sorted run
		how = membership.Search
	case how == membership.Auto && membership.WorthBits(prog, e.s.Memory(), 0):
		how = membership.Bits
	case how == membership.Auto && membership.Long(p.Adjs[0].Lists.Flat().Off):
		how = membership.Hash
	case how == membership.Auto:
		how = membership.Search
	case how == membership.Bits && !membership.FitBits(prog, e.s.Memory()):
		how = membership.Hash
	}
	if how == membership.Hash && !membership.FitHash(prog, e.s.Memory()) {
		how = membership.Search
	}
	return how, nil
}

// lowered is the program of p's nest, by look-ups where these are one load.
func (e *Engine) lowered(p *plan.Plan, o engine.Options, counting bool) (*kir.Program, membership.Lookup, error) {
	lo := lower.Options{View: lower.Sets, Counting: counting, Roomy: true}
	prog, err := lower.Plan(p, lo)
	if err != nil {
		return nil, 0, err
	}
	how, err := e.lookup(p, prog, o)
	if err != nil || how == membership.Search {
		return prog, how, err
	}
	lo.Lookup = true
	found, err := lower.Plan(p, lo)
	if err == nil && !membership.Asked(found) {
		return prog, membership.Search, nil // it has nothing to look up
	}
	return found, how, err
}

// Lookup is how a run of p that counts finds out who is in a neighbour list, where p
// is for the nest; Search: it does not look up.
func (e *Engine) Lookup(p *plan.Plan, o engine.Options) membership.Lookup {
	if p.Method != plan.Nest || p.Empty != nil {
		return membership.Search
	}
	if _, how, err := e.lowered(p, o, true); err == nil {
		return how
	}
	return membership.Search
}

// setsShare is the part of a device's memory that candidate sets may take for Suits.
const setsShare = 4

// setBytes is the size of a warp's candidate sets: so many of limit elements.
func setBytes(slots int, limit uint32) int64 { return 4 * int64(slots) * int64(limit) }

// Suits reports whether a run of p that counts is worth taking where another engine
// could have it: it looks neighbours up in hash tables, and devices full of warps have
// room for candidate sets, each as long as a hub's list may be.
func (e *Engine) Suits(p *plan.Plan, o engine.Options) bool {
	if p.Method != plan.Nest || p.Empty != nil {
		return false
	}
	prog, how, err := e.lowered(p, o, true)
	if err != nil || how != membership.Hash {
		return false
	}
	slots, _ := prog.Define("W_SLOTS")
	warps := 0
	for _, d := range e.s.Devices() {
		warps = max(warps, d.SMs*d.ThreadsPerSM/32)
	}
	return slots == 0 || setBytes(int(slots), uint32(lower.Room(p)))*int64(warps) <= e.s.Memory()/setsShare
}
