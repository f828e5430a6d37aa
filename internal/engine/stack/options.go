package stack

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
)

// switches are the values of the engine's options. The deepest levels from which work is moved are by
// default as in the paper, and so are the siblings bound together, except that fewer are bound. Why: the
// last level, where most of the work is, is flat anyway.
type switches struct {
	table  bool   // program=table: the set program as a table, not as code for the plan
	unroll int    // unroll=1|2|4|8: siblings whose set operations are one
	steal  int    // steal=off|block|grid
	stop   int    // stop-level=N: the deepest level from whose list siblings steal
	detect int    // detect-level=N: the deepest level whose list is shared with idle blocks
	slot   int    // slot=N: elements that a set's memory holds; 0: as many as any set may need, if there is memory
	flat   bool   // flat=off: the last level candidate by candidate
	roots  string // roots=vertex|edge|auto: the start of a task
	blocks int    // blocks=N: of the grid; 0: the number that the device holds
	thread int    // threads=N: of a block
	chunk  int    // chunk=N: tasks taken at a time; 0: by their number
	sieve  int    // sieve=N: log2 of the bits of a warp's table for membership; 0: none
	stats  bool   // stats=on: techniques and lanes are counted
	hubs   string // hubs=auto|on|off: hubs by the nest

	memory gpu.Room // the options of all engines of GPUs
	ofNest []string // the names of options of the nest alone that were given
}

// Options are the engine's switches.
var Options = slices.Concat(neighbourhood.Options("stack"), ofHubs, ofNest)

// ofHubs says which roots of the local method the nest counts.
var ofHubs = option.Table{
	option.Choice("stack.hubs", "count roots whose bit matrix has no room in a block's shared memory by nested loops; auto: where neighbour lists lie in host memory", "auto", "on", "off"),
}

// ofNest are those of the nest alone.
var ofNest = option.Table{
	option.Choice("stack.program", "code compiled for the plan, or a table that one kernel reads", "code", "table"),
	option.Option{Name: "stack.unroll", Values: []string{"1", "2", "4", "8"}, Default: "4", Meaning: "siblings that share one set operation"},
	option.Choice("stack.steal", "from where an idle warp steals work: all blocks, or its own", "grid", "block", "off"),
	option.Number("stack.stop-level", 2, 0, 31, "the deepest level whose siblings are stolen"),
	option.Number("stack.detect-level", 1, 0, 31, "the deepest level that is shared with idle blocks"),
	option.Number("stack.slot", 0, 0, 1<<30, "room of a set, in elements; 0: enough for all, if there is memory"),
	option.Switch("stack.flat", true, "make the last level's candidates one list for each warp"),
	option.Choice("stack.roots", "the start of a task", "auto", "vertex", "edge"),
	option.Number("stack.blocks", 0, 0, 1<<20, "blocks of the grid; 0: as many as fit"),
	option.Number("stack.threads", 256, 32, 1024, "threads of a block"),
	option.Number("stack.chunk", 0, 0, 1<<20, "tasks that a warp takes at once; 0: chosen by their number"),
	option.Number("stack.sieve", 14, 0, 20, "binary logarithm of the bits of a warp's sieve; 0: none"),
	option.Switch("stack.stats", false, "count techniques and lanes"),
}

// parse reads the options, and those of the local method, which may be off.
func parse(o engine.Options) (s switches, local neighbourhood.Switches, on bool, err error) {
	v, err := Options.Read(o.Opt)
	if err != nil {
		return s, local, on, err
	}
	s = switches{
		table: v.Text("stack.program") == "table", unroll: v.Number("stack.unroll"), steal: option.Pick(v, "stack.steal", map[string]int{"off": 0, "block": 1, "grid": 2}),
		stop: v.Number("stack.stop-level"), detect: v.Number("stack.detect-level"), slot: v.Number("stack.slot"),
		flat: v.On("stack.flat"), roots: v.Text("stack.roots"), blocks: v.Number("stack.blocks"), thread: v.Number("stack.threads"),
		chunk: v.Number("stack.chunk"), sieve: v.Number("stack.sieve"), stats: v.On("stack.stats") || o.Levels, hubs: v.Text("stack.hubs"),
		ofNest: v.Given(ofNest),
	}
	if s.memory, err = gpu.ReadRoom(o); err != nil {
		return s, local, on, err
	}
	local, on = neighbourhood.Read("stack", v)
	switch {
	case s.thread%32 != 0:
		err = fmt.Errorf("%w stack.threads: want whole warps of 32 threads", engine.ErrOption)
	case s.sieve > 0 && s.sieve < 10:
		err = fmt.Errorf("%w stack.sieve: want 0 or at least 10", engine.ErrOption)
	}
	return s, local, on, err
}
