package nodiff

import (
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// Hubs draws patterns with plain edges in which one vertex is a neighbour of all others except
// at most one. They are for the local method.
func Hubs(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		n := rapid.IntRange(3, max).Draw(t, "pattern vertices")
		p := d.vertices(n)
		joined := n // the first vertex that is not a neighbour of vertex 0
		if rapid.Bool().Draw(t, "outside") {
			joined--
		}
		for v := 1; v < joined; v++ {
			d.edge(p, 0, v, false)
		}
		for v := 2; v < n; v++ {
			for u := 1; u < v; u++ {
				if u == 1 && v == joined || rapid.Bool().Draw(t, "edge") {
					d.edge(p, u, v, false)
				}
			}
		}
		p.Induced = d.seldom("induced")
		if d.seldom("predicates") {
			p.Where = append(p.Where, d.predicate(p, 1))
		}
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}

// vertices draws a pattern of n vertices without edges, of which few have labels.
func (d drawer) vertices(n int) *pattern.Pattern {
	p := &pattern.Pattern{}
	for i := range n {
		v := pattern.Vertex{Name: string(rune('a' + i))}
		if d.s.Labels != nil && d.seldom("vertex label") {
			v.Label = d.label(vertexLabels, 2)
		}
		p.Vertices = append(p.Vertices, v)
	}
	return p
}
