// Package golden runs golden tests, and reads the graphs and patterns that they name.
package golden

import (
	"bufio"
	"embed"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

//go:embed *.txt
var graphs embed.FS

// Walk compares what write makes with the files in testdata/golden, which -rewrite rewrites.
// Their commands are "graph FILE [directed]", for a graph of this package, and command,
// which write answers for the last graph.
func Walk(t *testing.T, command string, write func(t *testing.T, g *graph.Graph, d *datadriven.TestData) string) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var g *graph.Graph
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				g = Graph(t, d)
				return fmt.Sprintf("%d vertices, %d edges\n", g.NumVertices(), g.NumEdges())
			case command:
				return write(t, g, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// Pattern reads a query, or a name of the catalogue.
func Pattern(t *testing.T, text string) *pattern.Pattern {
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

// Graph returns the graph that the command "graph FILE [directed]" asks for. FILE is one
// of this package, with lines "v id label…" and "e u v [label] [@time]".
func Graph(t *testing.T, d *datadriven.TestData) *graph.Graph {
	t.Helper()
	f, err := graphs.Open(d.CmdArgs[0].Key)
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
