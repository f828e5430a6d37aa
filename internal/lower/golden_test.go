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

// TestGolden compares generated text with the files in testdata/golden. Rewrite
// them with -rewrite. Commands: "graph FILE [directed]", a file of package
// golden, and "cuda", with a catalogue name or a query as input and
// the arguments view=sets|checks, order=, and the flags enumerate, nomotion,
// roomy, lookup (roomy too), embeddings, induced, hom.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var g *graph.Graph
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				g = golden.Graph(t, d)
				return fmt.Sprintf("%d vertices, %d edges\n", g.NumVertices(), g.NumEdges())
			case "cuda":
				return text(t, g, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func text(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := golden.Pattern(t, d.Input)
	po := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest"}
	o := lower.Options{Counting: true, Choices: true}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "view":
			o.View = map[string]lower.View{"sets": lower.Sets, "checks": lower.Checks}[a.Vals[0]]
		case "order":
			po.Order = a.Vals[0]
		case "enumerate":
			o.Counting = false
		case "nomotion":
			o.NoMotion = true
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
	prog, err := lower.Plan(pl, o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	return cuda.TextOf(prog, cuda.Options{Neighbours: o.Lookup})
}
