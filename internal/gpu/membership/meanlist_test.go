package membership

import (
	"math"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
)

// TestMeanList: samples of arcs tell the mean length of lists by their entries, about.
func TestMeanList(t *testing.T) {
	for _, c := range []struct {
		off  []uint64
		want float64
	}{{[]uint64{0}, 0}, {[]uint64{0, 0, 0}, 0}, {[]uint64{0, 3, 3}, 3}, {[]uint64{0, 1000, 1000, 4000}, 2500}} {
		if got := meanList(c.off); math.Abs(got-c.want) > c.want/1000 {
			t.Errorf("%d: %g, want %g", c.off, got, c.want)
		}
	}
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 60_000, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := g.Stats().SumSquares / float64(len(g.Out.Adj))
	if got := meanList(g.Out.Off); math.Abs(got-want) > want/10 {
		t.Errorf("%g of %g", got, want)
	}
}
