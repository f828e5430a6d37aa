package host_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestParts: relations in parts, with deleted entries, and relations that have nothing
// but their lists or are stored sparse, give what the graph's own lists give, by every method.
func TestParts(t *testing.T) {
	for _, l := range []parts.Layout{
		{Runs: 2, Deleted: true, Seed: 1},
		{Runs: 3, Some: true, Seed: 2},
		{Runs: 1, Deleted: true, Plain: true, Seed: 3},
		{Runs: 1, Plain: true, Seed: 4},
		{Runs: 1, Sparse: true, Seed: 5},
	} {
		t.Run(fmt.Sprintf("%+v", l), func(t *testing.T) {
			x := &parts.Trial{Layout: l}
			c := config()
			c.Engine, c.Compile = x.Engine(c.Engine), x.Compile(c.Compile)
			suite := nodiff.Suite{Plans: 40, Graphs: 6}
			if testing.Short() { // the race detector takes twenty times as long
				suite.Plans = 10
			}
			suite.Run(t, c, []engine.Engine{c.Engine})
			c.Patterns = nodiff.Conditions
			suite.Run(t, c, []engine.Engine{c.Engine})
			c.Patterns, c.Columns = nodiff.Temporal, nodiff.Timed
			suite.Run(t, c, []engine.Engine{c.Engine})
			c.Patterns, c.Columns = nil, nil
			nests := nodiff.Nests
			if l.Plain { // no plan has label ranges
				nests = []nodiff.Technique{nodiff.LastSize, nodiff.Terms, nodiff.Listing, nodiff.Rooted}
			}
			c.Techniques = slices.Concat(nests, []nodiff.Technique{
				nodiff.Local, nodiff.LocalOutside, nodiff.Large, nodiff.LargeListing, nodiff.Windows,
				nodiff.Cut, nodiff.Merged, nodiff.InducedSum, nodiff.Cycle, nodiff.Groups,
			})
			nodiff.Check(t, c)
			x.Enough(t)
		})
	}
}
