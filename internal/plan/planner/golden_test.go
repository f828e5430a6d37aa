package planner_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/golden"
)

// TestGolden compares what explain prints. The command is "explain", with a catalogue name or
// a query as input, the arguments order=, given=, root=, method=, and the flags embeddings,
// listing, notail, nomotion, norestrictions, hom, trail, induced, json. The method is the
// nest unless one is asked for.
func TestGolden(t *testing.T) { golden.Walk(t, "explain", explained) }

func explained(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := golden.Pattern(t, d.Input)
	o := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest", Estimates: true} // as weft explain
	asJSON := false
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "order":
			o.Order = a.Vals[0]
		case "method":
			o.Method = a.Vals[0]
		case "root":
			a.Scan(t, 0, &o.Root)
		case "given":
			o.Order, o.Given = "given", make([]int, len(a.Vals))
			for i := range a.Vals {
				a.Scan(t, i, &o.Given[i])
			}
		case "embeddings":
			o.Embeddings = true
		case "listing":
			o.Listing = true
		case "notail":
			o.NoTail = true
		case "nomotion":
			o.NoMotion = true
		case "norestrictions":
			o.NoRestrictions = true
		case "product":
			o.AllowProduct = true
		case "hom":
			p.Mode = pattern.Hom
		case "trail":
			p.Mode = pattern.Trail
		case "induced":
			p.Induced = true
		case "json":
			asJSON = true
		default:
			t.Fatalf("unknown argument %s", a.Key)
		}
	}
	pl, err := planner.Compile(g, p, o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var out bytes.Buffer
	write := explain.Text
	if asJSON {
		write = explain.JSON
	}
	if err := write(pl, &out); err != nil {
		t.Fatal(err)
	}
	// datadriven ends an expected output at an empty line.
	return strings.ReplaceAll(out.String(), "\n\n", "\n")
}
