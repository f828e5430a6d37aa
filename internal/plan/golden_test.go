package plan_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/explain"
)

// TestGolden compares what explain prints with the files in testdata/golden.
// Rewrite them with -rewrite. Commands: "graph FILE [directed]" and "explain",
// with a catalogue name or a query as input and arguments order=, given=, root=,
// method=, and the flags embeddings, listing, notail, nomotion, norestrictions,
// hom, trail, induced, json. The method is the nest unless one is asked for.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var g *graph.Graph
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				g = readGraph(t, d)
				return fmt.Sprintf("%d vertices, %d edges\n", g.NumVertices(), g.NumEdges())
			case "explain":
				return explained(t, g, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func explained(t *testing.T, g *graph.Graph, d *datadriven.TestData) string {
	p := parse(t, d.Input)
	o := plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest"}
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
	pl, err := plan.Compile(g, p, o)
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

// readGraph reads lines "v id label…" and "e u v [label] [@time]".
func readGraph(t *testing.T, d *datadriven.TestData) *graph.Graph {
	t.Helper()
	f, err := os.Open("testdata/" + d.CmdArgs[0].Key)
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
			if time, ok := strings.CutPrefix(l, "@"); ok {
				var at int64
				fmt.Sscan(time, &at)
				ec.Time = append(ec.Time, at)
				continue
			}
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
