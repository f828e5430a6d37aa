package nodiff

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// Nested draws patterns with one or several EXISTS, in which several edges may be the same data edge: they have any mode, which is
// often not that of the match, own vertices with labels, several edges, NOT edges, conditions, ORDERED and WITHIN, and EXISTS inside.
func Nested(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := d.shape(rapid.IntRange(2, max).Draw(t, "pattern vertices"))
		if k := len(p.Vertices) - 1; rapid.Bool().Draw(t, "no more than a tree") {
			p.Edges = p.Edges[:min(k, len(p.Edges))]
		}
		p.Mode = d.mode()
		p.Induced = p.Mode == pattern.Iso && d.seldom("induced")
		d.labels(p)
		if d.seldom("another not") {
			u := d.pick("from", len(p.Vertices))
			d.edge(p, u, (u+1+d.pick("to", len(p.Vertices)-1))%len(p.Vertices), true)
			p.Edges[len(p.Edges)-1].Negated = true
		}
		for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "conjuncts") {
			x := d.nested(p, 2)
			switch d.pick("logic", 6) {
			case 0:
				x = pattern.Binary{Op: pattern.OpOr, X: x, Y: d.nested(p, 1)}
			case 1:
				x = pattern.Binary{Op: pattern.OpOr, X: x, Y: d.predicate(p, 1)}
			}
			p.Where = append(p.Where, x)
		}
		d.inTime(p)
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil && p.Connected() })
}

// inTime seldom draws ORDERED or WITHIN, for a pattern with several named edges.
func (d drawer) inTime(p *pattern.Pattern) {
	if len(named(p)) > 1 && (d.s.Times || d.s.Weights) && d.seldom("in time") {
		p.Order = d.order(p)
	}
}

func (d drawer) mode() pattern.Mode {
	return rapid.SampledFrom([]pattern.Mode{pattern.Iso, pattern.Hom, pattern.Hom, pattern.Trail}).Draw(d.t, "mode")
}

// labels draws labels for the vertices that have names and no labels.
func (d drawer) labels(p *pattern.Pattern) {
	for i := range p.Vertices {
		if v := &p.Vertices[i]; d.s.Labels != nil && v.Name != "" && v.Label == nil && d.seldom("label") {
			v.Label = d.label(vertexLabels, 2)
		}
	}
}

// nested draws EXISTS over one or two vertices of p, with others EXISTS inside down to a depth.
func (d drawer) nested(p *pattern.Pattern, depth int) pattern.Expr {
	outer := rapid.SliceOfNDistinct(rapid.IntRange(0, len(p.Vertices)-1), 1, 2, rapid.ID).Draw(d.t, "outer")
	sub := &pattern.Pattern{Mode: p.Mode, Vertices: make([]pattern.Vertex, len(outer))}
	own := d.seldom("own mode")
	if own {
		sub.Mode = d.mode()
	}
	sub.Induced = sub.Mode == pattern.Iso && d.seldom("induced")
	fancy := rapid.Bool().Draw(d.t, "fancy edges")
	for i := range rapid.IntRange(2-len(outer), 2).Draw(d.t, "own vertices") {
		v := len(sub.Vertices)
		sub.Vertices = append(sub.Vertices, pattern.Vertex{Name: fmt.Sprintf("z%d%d", depth, i)})
		d.edge(sub, d.pick("parent", v), v, fancy)
	}
	least := 0
	if len(sub.Edges) == 0 {
		least = 1
	}
	for range rapid.IntRange(least, 1+d.pick("most", 2)).Draw(d.t, "more edges") {
		u, n := d.pick("from", len(sub.Vertices)), len(sub.Vertices)
		d.edge(sub, u, (u+1+d.pick("to", n-1))%n, fancy)
		sub.Edges[len(sub.Edges)-1].Negated = d.seldom("not")
	}
	for i := range sub.Edges {
		if e := &sub.Edges[i]; e.Name != "" {
			e.Name = fmt.Sprintf("%s%d", e.Name, depth)
		}
	}
	d.labels(sub)
	d.inTime(sub)
	if d.seldom("condition") {
		sub.Where = append(sub.Where, d.compare(d.term(sub), d.term(sub)))
	}
	if depth > 1 && d.seldom("inside") {
		sub.Where = append(sub.Where, d.nested(sub, depth-1))
	}
	var x pattern.Expr = pattern.Exists{Sub: sub, Outer: outer, OwnMode: own}
	if rapid.Bool().Draw(d.t, "not exists") {
		x = pattern.Unary{Op: pattern.OpNot, X: x}
	}
	return x
}
