package lower_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// matchaText is the program of a plan. Arguments: list, exists, formula, induced,
// embeddings, root=.
func matchaText(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := parse(t, d.Input)
	po := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest", AllowProduct: true}
	d.MaybeScanArgs(t, "root", &po.Root)
	if po.Listing = d.HasArg("list"); d.HasArg("formula") {
		po.Method = "formula"
	}
	p.Induced = d.HasArg("induced")
	o := lower.MatchaOptions{List: po.Listing, Exists: d.HasArg("exists")}
	if d.HasArg("embeddings") {
		o.Number = lower.Embeddings
	}
	pl, err := plan.Compile(g, p, po)
	if err != nil {
		t.Fatal(err)
	}
	text, err := lower.Matcha(pl, o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	return text
}
