package join_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestParts: relations in parts, with deleted entries, and relations that have nothing but their
// lists or are stored sparse, give what the graph's own lists give.
func TestParts(t *testing.T) {
	for _, l := range []parts.Layout{
		{Runs: 2, Deleted: true, Seed: 1},
		{Runs: 3, Some: true, Seed: 2},
		{Runs: 1, Plain: true, Seed: 4},
		{Runs: 1, Sparse: true, Seed: 5},
	} {
		t.Run(fmt.Sprintf("%+v", l), func(t *testing.T) {
			x := &parts.Trial{Layout: l}
			c := config()
			c.Engine, c.Compile = x.Engine(c.Engine), x.Compile(c.Compile)
			nodiff.Suite{Plans: 40, Graphs: 6}.Run(t, c, []engine.Engine{c.Engine})
			x.Enough(t)
		})
	}
}
