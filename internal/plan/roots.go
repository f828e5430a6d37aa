package plan

import "github.com/weftgraph/weft/internal/graph"

// SparseRoots returns the lists of fewest vertices that a vertex of level 0 must have a list in, of
// those that are stored sparse. It returns nil if there are none: then level 0's own ranges and bits
// say all.
func (p *Plan) SparseRoots() (s *graph.Sparse) {
	for l := range p.Levels {
		for _, b := range p.Levels[l].Back {
			if x := p.Adjs[b.Adj].Lists.Sparse; b.Level == 0 && !b.Neg && x != nil && (s == nil || x.Len() < s.Len()) {
				s = x
			}
		}
	}
	return s
}
