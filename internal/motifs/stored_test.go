package motifs

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestStored: motifs of relations that are stored in parts are those of the same pairs in one run,
// and so are the inputs of programs.
func TestStored(t *testing.T) {
	for _, directed := range []bool{false, true} {
		generate := func() *graph.Graph {
			g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 14, P: 0.4, Directed: directed, Seed: 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		count := func(g *graph.Graph) []search.Result {
			sg := search.NewGraph(runtime.New(runtime.Options{}), g)
			defer sg.Close()
			s := setting.New()
			s.Threads = 2
			all, err := Count(t.Context(), sg, 4, s)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		plain, stored := generate(), generate()
		parts.Layouts[0].Store(stored)
		want := count(plain)
		defer parts.Hide(stored)()
		got := count(stored)
		found := 0
		for i := range want {
			if want[i].Embeddings.Cmp(got[i].Embeddings) != 0 {
				t.Errorf("directed %v: motif %d: %v, want %v", directed, i, got[i].Embeddings, want[i].Embeddings)
			}
			if want[i].Embeddings.Sign() > 0 {
				found++
			}
		}
		if found < 6 {
			t.Errorf("directed %v: only %d motifs were found", directed, found)
		}
		if got, want := library.StarMaps(stored, 3), library.StarMaps(plain, 3); got != want {
			t.Errorf("directed %v: %g maps from a star, want %g", directed, got, want)
		}
		for v := range uint32(plain.NumVertices()) {
			if got, want := (data.Input{Graph: stored}).Lists().List(v), plain.Out.List(v); len(got) != len(want) {
				t.Errorf("directed %v: a program's input has %v at vertex %d, want %v", directed, got, v, want)
			}
		}
	}
}
