// Package matchatest gives tests of the Matcha compiler's stages their input: programs from
// text, and graphs to run them on.
package matchatest

import (
	"context"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/syntax"
)

// Failer is what tests, benchmarks and properties have in common.
type Failer interface {
	Helper()
	Fatal(args ...any)
}

// Build is the graph of a program that has no mistakes.
func Build(t Failer, text string) *asg.Program {
	t.Helper()
	f, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := asg.Build(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Graph draws a graph of few vertices, most of them with a label.
func Graph(t *rapid.T) *graph.Graph {
	n := rapid.IntRange(1, 9).Draw(t, "vertices")
	in := graph.CSRInput{Off: make([]uint64, n+1), LabelNames: []string{"0", "1", "2"}}
	lists := make([][]uint32, n)
	for a := range n {
		for b := range a {
			if rapid.Bool().Draw(t, "edge") {
				lists[a], lists[b] = append(lists[a], uint32(b)), append(lists[b], uint32(a))
			}
		}
	}
	for v, l := range lists {
		in.Adj = append(in.Adj, l...)
		in.Off[v+1] = uint64(len(in.Adj))
		in.Label = append(in.Label, rapid.SampledFrom([]uint32{0, 1, 2, graph.NoLabel}).Draw(t, "label"))
	}
	g, err := graph.FromCSR(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
