package escape

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/weftgraph/weft/internal/pattern"
)

// Motifs returns how often each of the patterns occurs, of the numbers of subgraphs that
// Sums.Counts gives. The patterns are all those that the catalogue calls motifs of one size, in
// its order, all of them induced or none.
func Motifs(counts map[string]*big.Int, ps []*pattern.Pattern) ([]*big.Int, error) {
	out := make([]*big.Int, len(ps))
	for i, p := range ps {
		if out[i] = counts[p.Name]; out[i] == nil {
			return nil, fmt.Errorf("no formula for %s", p.Name)
		}
	}
	if ps[0].Induced {
		makeInduced(ps, out)
	}
	return out, nil
}

// makeInduced turns the numbers of subgraphs into the numbers of induced subgraphs. A set of
// vertices that induces G has as many copies of each pattern H as G has:
//
//	subgraphs(H) = Σ_G induced(G) · (copies of H on all vertices of G)
//
// Only H itself, and graphs G with more edges than H, have a copy. The patterns are sorted by
// number of edges.
func makeInduced(ps []*pattern.Pattern, n []*big.Int) {
	number := map[shape]int{}
	for i, p := range ps {
		number[shapeOf(len(p.Vertices), p.Edges)] = i
	}
	var some []pattern.Edge
	for i := len(ps) - 1; i >= 0; i-- {
		p := ps[i]
		copies := make([]int64, len(ps))
		for set := uint(0); set < 1<<len(p.Edges)-1; set++ {
			if bits.OnesCount(set) < len(p.Vertices)-1 {
				continue
			}
			some = some[:0]
			for m := set; m != 0; m &= m - 1 {
				some = append(some, p.Edges[bits.TrailingZeros(m)])
			}
			if h, ok := number[shapeOf(len(p.Vertices), some)]; ok {
				copies[h]++
			}
		}
		for h, c := range copies {
			if c > 0 {
				n[h].Sub(n[h], new(big.Int).Mul(big.NewInt(c), n[i]))
			}
		}
	}
}

// shape identifies a connected graph of at most five vertices. It has the number of vertices of
// each degree, three bits each, and above these three times the number of triangles. A graph
// that is not connected and has enough edges either has an isolated vertex or is a triangle and
// a separate edge. Its shape is different from all of theirs.
type shape uint32

func shapeOf(n int, edges []pattern.Edge) (s shape) {
	var near [5]uint8
	for i := range edges {
		e := &edges[i]
		near[e.From] |= 1 << e.To
		near[e.To] |= 1 << e.From
	}
	for _, m := range near[:n] {
		s += 1 << (3 * bits.OnesCount8(m))
	}
	for i := range edges {
		s += shape(bits.OnesCount8(near[edges[i].From]&near[edges[i].To])) << 15
	}
	return s
}
