package nodiff

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// Temporal draws patterns with ORDERED, WITHIN or both over the times of the edges, or over a
// property that some of them lack. They have any mode, parallel and undirected edges, edges
// that only have to exist or must not, and conditions. Config.Times makes the graphs for them.
func Temporal(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := d.shape(rapid.IntRange(2, max).Draw(t, "pattern vertices"))
		p.Mode = rapid.SampledFrom([]pattern.Mode{pattern.Iso, pattern.Iso, pattern.Hom, pattern.Trail}).Draw(t, "mode")
		p.Induced = p.Mode == pattern.Iso && d.seldom("induced")
		for i := range p.Edges {
			if e := &p.Edges[i]; !e.Negated && !d.seldom("leave it") {
				e.Name = fmt.Sprintf("e%d", i)
			}
		}
		for len(named(p)) < 2 {
			u := d.pick("from", len(p.Vertices))
			d.edge(p, u, (u+1+d.pick("to", len(p.Vertices)-1))%len(p.Vertices), false)
			p.Edges[len(p.Edges)-1].Name = fmt.Sprintf("e%d", len(p.Edges)-1)
		}
		p.Order = d.order(p)
		if d.seldom("conditions") {
			p.Where = append(p.Where, d.compare(d.term(p), d.term(p)))
		}
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil && len(named(p)) > 1 })
}

// Choices draws from Conditions and Temporal.
func Choices(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.OneOf(Conditions(s, max), Temporal(s, max))
}

// named are the edges that have names.
func named(p *pattern.Pattern) (out []int) {
	for i := range p.Edges {
		if p.Edges[i].Named() {
			out = append(out, i)
		}
	}
	return out
}

// order draws ORDERED over some of the named edges, or WITHIN over all that are
// chosen.
func (d drawer) order(p *pattern.Pattern) *pattern.Order {
	o := &pattern.Order{}
	if d.s.Weights && d.seldom("on") {
		o.On = "w"
	}
	if !d.seldom("not ordered") {
		all := rapid.Permutation(named(p)).Draw(d.t, "order")
		o.Edges = all[:rapid.IntRange(2, len(all)).Draw(d.t, "ordered")]
	}
	if o.Edges == nil || rapid.Bool().Draw(d.t, "within") {
		o.Within = int64(rapid.IntRange(1, 4).Draw(d.t, "bound"))
		if o.On == "" && rapid.Bool().Draw(d.t, "unit") {
			// Times without a unit are seconds.
			o.Within, o.Duration = o.Within*1e9+int64(rapid.IntRange(0, 1).Draw(d.t, "more"))*5e8, true
		}
	}
	return o
}
