package lower_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestWideTails counts stars around a vertex with enough neighbours that the sums of a
// tail need 62, 63, 64 and more bits, by inclusion–exclusion (five leaves) and by binomial
// coefficients (six).
func TestWideTails(t *testing.T) {
	for _, c := range []struct {
		leaves     int
		neighbours []uint32
	}{
		{5, []uint32{2000, 5400, 6200, 6300, 7100, 7300, 20000}},
		{6, []uint32{500, 1280, 1450, 1700, 5000}},
	} {
		star := &pattern.Pattern{Vertices: make([]pattern.Vertex, c.leaves+1)}
		for v := 1; v <= c.leaves; v++ {
			star.Edges = append(star.Edges, pattern.Edge{From: 0, To: v, Min: 1, Max: 1})
		}
		for _, n := range c.neighbours {
			var pairs [][2]uint32
			for v := uint32(1); v <= n; v++ {
				pairs = append(pairs, [2]uint32{0, v})
			}
			g := graph.FromEdges(int(n)+1, pairs, false)
			for _, o := range []plan.Options{{}, {Embeddings: true}} {
				want := new(big.Int).MulRange(int64(n)-int64(c.leaves)+1, int64(n))
				if !o.Embeddings {
					want.Quo(want, new(big.Int).MulRange(1, int64(c.leaves)))
				}
				t.Run(fmt.Sprintf("%d of %d, embeddings=%v", c.leaves, n, o.Embeddings), func(t *testing.T) {
					o.Root = plan.NoRoot
					p, err := nest(g, star, o)
					if err != nil {
						t.Fatal(err)
					}
					if p.Tail.K != c.leaves {
						t.Fatalf("a tail of %d levels", p.Tail.K)
					}
					for _, view := range []lower.View{lower.Sets, lower.Checks} {
						r, err := interpreted{o: lower.Options{View: view}, room: 100}.Run(t.Context(), g, p, engine.Options{}, engine.Goal{})
						if err != nil || r.Matches.Big().Cmp(want) != 0 {
							t.Errorf("view %v: %v stars, want %v: %v", view, r.Matches, want, err)
						}
					}
				})
			}
		}
	}
}
