package matchatext_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower/matchatext"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/golden"
)

// TestGolden compares programs. The command is "matcha", with a catalogue name or a query as
// input.
func TestGolden(t *testing.T) { golden.Walk(t, "matcha", programText) }

// programText is the program of a plan. Arguments: list, exists, formula, induced,
// embeddings, root=.
func programText(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := golden.Pattern(t, d.Input)
	po := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest", AllowProduct: true}
	d.MaybeScanArgs(t, "root", &po.Root)
	if po.Listing = d.HasArg("list"); d.HasArg("formula") {
		po.Method = "formula"
	}
	p.Induced = d.HasArg("induced")
	o := matchatext.Options{List: po.Listing, Exists: d.HasArg("exists")}
	if d.HasArg("embeddings") {
		o.Number = matchatext.Embeddings
	}
	pl, err := planner.Compile(g, p, po)
	if err != nil {
		t.Fatal(err)
	}
	text, err := matchatext.Program(pl, o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	return text
}
