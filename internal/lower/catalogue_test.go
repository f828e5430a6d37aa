package lower_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/golden"
)

// TestCatalogueAgreesWithHost interprets patterns whose set programs have long
// chains, and tails of many levels, on a graph with hubs, and compares their
// counts with those of the host engine.
func TestCatalogueAgreesWithHost(t *testing.T) {
	g := golden.Graph(t, &datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "small.txt"}}})
	for _, name := range []string{
		"triangle", "diamond", "clique(4)", "clique(5)", "clique(6)", "cycle(4)", "cycle(5)", "house",
		"star(3)", "star(6)", "star(9)", "path(4)", "path(5)",
		"MATCH (a)--(b), (a)--(c), (a)--(d), (a)--(e), (b)--(f), (b)--(g), (b)--(h)",
	} {
		for _, induced := range []bool{false, true} {
			p := *golden.Pattern(t, name)
			p.Induced = induced
			pl, err := planner.Compile(g, &p, plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest"})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(t.Context(), host.New(), g, pl, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			if len(pl.Levels) > 6 && (induced || pl.Tail.K < 4) {
				continue // too long for an interpreter
			}
			sunk, err := planner.Compile(g, &p, plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest", NoMotion: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				e  interpreted
				pl *plan.Plan
			}{
				{interpreted{o: lower.Options{}, room: 0}, pl},
				{interpreted{o: lower.Options{}, room: 4}, pl},
				{interpreted{o: lower.Options{}, room: 4}, sunk},
				{interpreted{o: lower.Options{Roomy: true}, room: -1}, pl},
			} {
				e, pl := c.e, c.pl
				if err := engines.Refusal(engines.Of(e), g, pl, engine.Options{}); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				got, err := engine.Once(t.Context(), engines.Of(e), g, pl, engine.Options{}, engine.Goal{})
				if err != nil || got.Matches != want.Matches {
					t.Errorf("%s induced=%v, %s: %v matches, want %v (%v)", name, induced, e.Name(), got.Matches, want.Matches, err)
				}
			}
		}
	}
}
