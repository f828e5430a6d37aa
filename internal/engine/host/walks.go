package host

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Homomorphisms of a cycle are closed walks. From each vertex v the walks of
// length two are counted in a dense array, and two of them meet over an edge:
//
//	closed walks of length five through v = Σ_{w—z} walks₂(v,w) · walks₂(v,z)

// runWalks counts the closed walks of length five.
func runWalks(ctx context.Context, g *graph.Graph, p *plan.Plan, o job) (engine.Result, error) {
	lists := p.Adjs[p.Levels[1].Back[0].Adj].Lists.Whole()
	roots := rootList{n: uint64(g.NumVertices())}
	if lists.Sparse != nil {
		roots.list = slices.Collect(lists.Vertices)
		roots.n = uint64(len(roots.list))
	} else {
		roots.ranges, roots.off = []rootRange{{0, 0, roots.n}}, lists.Dense.Off
	}
	s := newSched(roots, o, false, 1)
	sums := make([]engine.Uint128, o.Threads)
	s.run(ctx, o, func(i int, _ *crew.Memory) {
		var n, seen []uint32
		var sum engine.Uint128
		for {
			t, ok := s.Next()
			if !ok {
				break
			}
			if n == nil {
				s.took("numbers of walks", 4*g.NumVertices())
				n = make([]uint32, g.NumVertices())
			}
			s.roots.each(t.begin, t.end, func(v uint32) bool {
				seen = seen[:0]
				for _, u := range lists.List(v) {
					for _, w := range lists.List(u) {
						if n[w] == 0 {
							seen = append(seen, w)
						}
						n[w]++
					}
				}
				var here engine.Uint128
				for _, w := range seen {
					// Each edge is met from both ends: once is enough.
					x := uint64(0)
					for _, z := range lists.List(w) {
						if z >= w {
							break
						}
						x += uint64(n[z])
					}
					hi, lo := bits.Mul64(x, uint64(n[w]))
					here = here.Add(engine.Uint128{Hi: hi, Lo: lo})
				}
				for _, w := range seen {
					n[w] = 0
				}
				here = here.Add(here)
				sum = sum.Add(here)
				s.AddPerRoot(o.PerRoot, v, here)
				return !s.Stop.Load()
			})
		}
		sums[i] = sum
	})
	var res engine.Result
	for _, x := range sums {
		res.Matches = res.Matches.Add(x)
	}
	res.Complete = !s.Stop.Load()
	return res, s.Failure()
}
