package lower_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestPartsAgreeWithOracle interprets random plans over relations in two and three
// parts, with deleted entries, in each view.
func TestPartsAgreeWithOracle(t *testing.T) {
	for _, e := range []interpreted{
		{o: lower.Options{Roomy: true}, room: -1},
		{o: lower.Options{Roomy: true, NoMotion: true}, room: -1},
		{o: lower.Options{Roomy: true, Lookup: true}, room: -1},
		{o: lower.Options{Roomy: true, Off: "fold,hoist,share,dead"}, room: -1},
		{o: lower.Options{View: lower.Checks, Choices: true}},
		{o: lower.Options{View: lower.Checks, Choices: true, Off: "fold,hoist,share,dead"}},
	} {
		for _, l := range []parts.Layout{
			{Runs: 2, Deleted: true, Seed: 1},
			{Runs: 3, Seed: 2, Some: true},
			{Runs: 1, Deleted: true, Plain: true, Seed: 3},
		} {
			t.Run(fmt.Sprintf("%s/%+v", e.Name(), l), func(t *testing.T) {
				x := &parts.Trial{Layout: l}
				c := nodiff.Config{Engine: x.Engine(engines.Of(e)), Whole: true, Compile: x.Compile(nest), MaxPattern: 6}
				nodiff.Check(t, c)
				c.MaxPattern, c.Patterns = 0, nodiff.Conditions
				nodiff.Check(t, c)
				if x.Ran.Load() == 0 || x.Found.Load() == 0 {
					t.Errorf("%d runs over parts, %d of them with matches", x.Ran.Load(), x.Found.Load())
				}
				t.Logf("%d runs over parts, %d of them with matches", x.Ran.Load(), x.Found.Load())
			})
		}
	}
}
