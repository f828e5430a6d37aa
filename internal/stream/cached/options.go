package cached

import (
	"fmt"

	"github.com/weftgraph/weft/internal/engine/option"
)

// Switches are the engine's options.
var Switches = option.Table{
	option.Choice("cached.cache", "the lists that are copied to the GPU: those that random walks expect to be read most, the longest, all near the changed edges, or none", "walks", "degree", "hops", "off"),
	option.Switch("cached.compare", false, "each batch is searched once with each kind of cache, and weft bench watch says what each cost: for measurements of a graph that takes long to build"),
	option.Number("cached.walks", 0, 0, 1<<20, "random walks for each search of an edge; 0: as many as the estimate needs, and at most 64"),
	option.Number("cached.split", 0, 0, 1<<30, "candidates from which a search of an edge is cut into several; 0: 2048"),
	option.Number("cached.blocks", 0, 0, 1<<20, "blocks of the grid; 0: as many as fit"),
}

// Read returns the Options that switches ask for. The error is one of option values.
func Read(opt map[string]string) (o Options, err error) {
	v, err := Switches.Read(opt)
	if err != nil {
		return o, fmt.Errorf("cached: %w", err)
	}
	o.Policy = option.Pick(v, "cached.cache", map[string]Policy{"walks": Walks, "degree": Degree, "hops": Hops, "off": None})
	o.Compare = v.On("cached.compare")
	o.Walks, o.Split, o.Blocks = v.Number("cached.walks"), v.Number("cached.split"), v.Number("cached.blocks")
	return o, nil
}
