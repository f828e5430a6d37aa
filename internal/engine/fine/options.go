package fine

import (
	"math"

	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/gpu/membership"
)

// Options are the engine's switches.
var Options = option.Table{
	option.Switch("fine.batch", true, "partial matches share a pool"),
	option.Choice("fine.steal", "from where an idle warp steals work: all blocks, or its own", "grid", "block", "off"),
	option.Choice("fine.index", "use a candidate graph, and how to look up its rows", "auto", "none", "bitmap", "hash"),
	option.Choice("fine.lookup", "how to test whether a vertex is in a neighbour list", membership.Lookups...),
	option.Choice("fine.siblings", "test the last level's candidates for siblings together", "auto", "on", "off"),
	option.Switch("fine.prune", false, "first remove vertices with too few neighbours"),
	option.Number("fine.pool", 1000000, 0, math.MaxInt32, "partial matches that the breadth-first start makes; 0: none"),
}

// options are the values of the switches.
type options struct {
	batch bool   // partial matches share a pool
	prune bool   // vertices of too few neighbours are removed first
	steal uint32 // whose work an idle warp takes

	lookup membership.Lookup  // membership in a list by its row of bits, its hash table, or binary search
	lists  membership.Lengths // of lists that are looked up in other ways
	share  int                // the last level's candidates are tested for siblings together
	index  int                // a candidate graph, and how membership in its rows is found out
	pool   uint64             // partial matches that the breadth-first start makes; 0: none
}

// How warps without work get some; enum Steal.
const (
	stealOff uint32 = iota
	stealBlock
	stealGrid
)

// Whether siblings share tests: with auto where these are of rows of bits.
const (
	siblingsAuto int = iota
	siblingsOn
	siblingsOff
)

// Whether there is a candidate graph.
const (
	indexAuto int = iota
	indexNone
	indexBitmap
	indexHash
)

// optionsOf reads the switches; the error names the wrong one.
func optionsOf(opt map[string]string) (options, error) {
	v, err := Options.Read(opt)
	if err != nil {
		return options{}, err
	}
	lists, err := membership.ReadLengths(opt)
	if err != nil {
		return options{}, err
	}
	return options{
		batch: v.On("fine.batch"), prune: v.On("fine.prune"), lists: lists,
		steal: option.Pick(v, "fine.steal", map[string]uint32{"off": stealOff, "block": stealBlock, "grid": stealGrid}), lookup: membership.LookupOf(v, "fine.lookup"),
		share: option.Pick(v, "fine.siblings", map[string]int{"auto": siblingsAuto, "on": siblingsOn, "off": siblingsOff}),
		index: option.Pick(v, "fine.index", map[string]int{"auto": indexAuto, "none": indexNone, "bitmap": indexBitmap, "hash": indexHash}),
		pool:  uint64(v.Number("fine.pool")),
	}, nil
}
