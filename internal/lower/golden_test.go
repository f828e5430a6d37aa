package lower_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/golden"
)

// TestGolden compares generated text. The command is "cuda", with a catalogue name or a query
// as input, the arguments view=sets|checks|rows|table and order=, and the flags enumerate, nomotion,
// roomy, lookup (roomy too), embeddings, induced, hom.
func TestGolden(t *testing.T) { golden.Walk(t, "cuda", text) }

func text(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := golden.Pattern(t, d.Input)
	po := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest"}
	o, made := lower.Options{Counting: true, Choices: true}, lower.Plan
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "view":
			o.View = map[string]lower.View{"checks": lower.Checks, "rows": lower.Rows}[a.Vals[0]]
			switch a.Vals[0] {
			case "rows":
				po.Method = "local"
			case "table":
				made = lower.Table
			}
		case "order":
			po.Order = a.Vals[0]
		case "enumerate":
			o.Counting = false
		case "nomotion":
			po.NoMotion = true
		case "roomy":
			o.Roomy = true
		case "lookup":
			o.Roomy, o.Lookup = true, true
		case "embeddings":
			po.Embeddings = true
		case "induced":
			p.Induced = true
		case "hom":
			p.Mode = pattern.Hom
		default:
			t.Fatalf("unknown argument %s", a.Key)
		}
	}
	pl, err := planner.Compile(g, p, po)
	if err != nil {
		t.Fatal(err)
	}
	code, err := made(pl, o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	return cuda.TextOf(code.Program, cuda.Options{Neighbours: o.Lookup})
}
