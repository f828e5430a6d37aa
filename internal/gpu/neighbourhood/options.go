package neighbourhood

import (
	"math"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/lower"
)

// Options returns the options of the local method for an engine of that name.
func Options(engine string) option.Table {
	local := engine + ".local"
	return option.Table{
		option.Switch(local, true, "use bit matrices of neighbourhoods, for plans that they suit"),
		option.Switch(local+".share", true, "blocks without roots help with other blocks' roots"),
		option.Switch(local+".whole", true, "use one kernel for all vertices, for small neighbourhoods of which only sizes are needed"),
		{Name: local + ".classes", Meaning: "sizes of neighbourhoods that have a kernel", Most: math.MaxInt32, List: true, Hidden: true},
		{Name: local + ".table", Meaning: "outside vertices in a table at a time; 0: as many as fit", Default: "0", Most: math.MaxInt32, Hidden: true},
	}
}

// Switches are the values of the options.
type Switches struct {
	universes []int // classes=64,1024: only classes of these sizes are used
	table     int   // table=N: outside vertices in a table at a time; 0: as many as fit
	alone     bool  // share=off: a root is one team's
	lists     bool  // whole=off: roots are listed by class however small the graph is

	sparse lower.SparseLists // how sparse lists are read
	made   *atomic.Int64     // engine.Options.Lowered
}

// Read returns the switches of an engine of that name, and whether the local method is on.
func Read(engine string, v option.Values) (w Switches, on bool) {
	local := engine + ".local"
	return Switches{
		universes: v.Numbers(local + ".classes"), table: v.Number(local + ".table"),
		alone: !v.On(local + ".share"), lists: !v.On(local + ".whole"),
	}, v.On(local)
}
