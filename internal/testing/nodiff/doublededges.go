package nodiff

import (
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// Doubled draws trees of 2 to max vertices, with more edges. Some edges of a tree have a second
// edge between the same vertices, with a direction and a label of its own. Candidates of one
// vertex are then bound to another's in two ways.
func Doubled(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		n := rapid.IntRange(2, max).Draw(t, "pattern vertices")
		p := d.vertices(n)
		for v := 1; v < n; v++ {
			u := rapid.IntRange(0, v-1).Draw(t, "parent")
			d.edge(p, u, v, false)
			if rapid.Bool().Draw(t, "twice") {
				d.edge(p, v, u, false)
			}
		}
		if n > 2 && d.seldom("another edge") {
			d.edge(p, 0, n-1, true)
		}
		p.Induced = d.seldom("induced")
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}
