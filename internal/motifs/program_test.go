package motifs

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// TestOneProgram: a graph with a vertex whose neighbours are so numerous that its stars may
// not be numbers of 64 bits has each motif counted for itself.
func TestOneProgram(t *testing.T) {
	const leaves = 50000
	data, err := gen.Generate(t.Context(), gen.Spec{Model: "star", N: leaves}, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := search.NewGraph(runtime.New(runtime.Options{}), data)
	defer g.Close()
	if got, want := library.StarMaps(data, 3), float64(leaves)*leaves+leaves; got != want {
		t.Errorf("%g maps from a star of three vertices, want %g", got, want)
	}
	ask := func(k int, device string) bool {
		s := setting.New()
		s.Engine, s.Device = route.Codegen, device
		f, err := newFamily(g, k, false, s)
		if err != nil {
			t.Fatal(err)
		}
		_, ok := f.oneProgram(t.Context())
		return ok
	}
	for k, want := range map[int]bool{3: true, 4: true, 5: false} {
		if ok := ask(k, ""); ok != want {
			t.Errorf("%d vertices: %v", k, ok)
		}
	}
	if ask(3, "gpu:0,1") {
		t.Error("one program for two GPUs")
	}
}
