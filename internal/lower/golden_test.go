package lower_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestGolden compares generated text with the files in testdata/golden. Rewrite
// them with -rewrite. Commands: "graph FILE [directed]", a file of package
// plan's test data, "matcha", whose arguments matchaText has, and
// "cuda", with a catalogue name or a query as input and
// the arguments view=sets|checks, order=, and the flags enumerate, nomotion,
// roomy, lookup (roomy too), embeddings, induced, hom.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var g *graph.Graph
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				g = readGraph(t, d)
				return fmt.Sprintf("%d vertices, %d edges\n", g.NumVertices(), g.NumEdges())
			case "cuda":
				return text(t, g, d)
			case "matcha":
				return matchaText(t, g, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func text(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := parse(t, d.Input)
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
	pl, err := plan.Compile(g, p, po)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := lower.Plan(pl, o)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	return cuda.TextOf(prog, cuda.Options{Neighbours: o.Lookup})
}

// parse reads a query, or a catalogue name where it is no query.
func parse(t *testing.T, text string) *pattern.Pattern {
	t.Helper()
	if ps, err := pattern.ByName(strings.TrimSpace(text)); err == nil {
		return ps[0]
	}
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q.Pattern
}

// readGraph reads lines "v id label…" and "e u v [label]".
func readGraph(t *testing.T, d *datadriven.TestData) *graph.Graph {
	t.Helper()
	f, err := os.Open("../plan/testdata/" + d.CmdArgs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vc, ec := &graph.VertexChunk{}, &graph.EdgeChunk{}
	labelled := false
	label := &graph.StringColumn{Off: []uint32{0}}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		w := strings.Fields(sc.Text())
		if len(w) == 0 || w[0] == "#" {
			continue
		}
		var u, v uint64
		fmt.Sscan(w[1], &u)
		if w[0] == "v" {
			vc.ID = append(vc.ID, u)
			vc.Labels = append(vc.Labels, w[2:])
			continue
		}
		fmt.Sscan(w[2], &v)
		ec.Src, ec.Dst = append(ec.Src, u), append(ec.Dst, v)
		for _, l := range w[3:] {
			labelled = true
			label.Bytes = append(label.Bytes, l...)
		}
		label.Off = append(label.Off, uint32(len(label.Bytes)))
	}
	if labelled {
		ec.Label = label
	}
	b := graph.NewBuilder(graph.BuildOptions{Directed: d.HasArg("directed")})
	if len(vc.ID) > 0 {
		if err := b.AddVertices(vc); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.AddEdges(ec); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}
