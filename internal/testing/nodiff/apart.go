package nodiff

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// Apart draws patterns of at most max vertices whose parts no edge connects, patterns with an EXISTS that has vertices which no path
// connects to the match, and patterns with both. They have vertices without edges, and otherwise all that Patterns, Choices and Nested draw.
func Apart(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := &pattern.Pattern{Mode: d.mode()}
		p.Induced = p.Mode == pattern.Iso && d.seldom("induced")
		d.parts(p, rapid.IntRange(1, max).Draw(t, "pattern vertices"), 0)
		d.labels(p)
		if rapid.Bool().Draw(t, "name edges") {
			for i := range p.Edges {
				if e := &p.Edges[i]; !e.Negated && e.Name == "" {
					e.Name = fmt.Sprintf("e%d", i)
				}
			}
		}
		if d.seldom("predicates") {
			p.Where = append(p.Where, d.predicate(p, 2))
		}
		if p.Connected() || rapid.Bool().Draw(t, "exists") {
			for range rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "conjuncts") {
				x := d.existsApart(p, 2)
				if d.seldom("or") {
					x = pattern.Binary{Op: pattern.OpOr, X: x, Y: d.predicate(p, 1)}
				}
				p.Where = append(p.Where, x)
			}
		}
		if d.seldom("connected exists") {
			p.Where = append(p.Where, d.nested(p, 2))
		}
		d.inTime(p)
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}

// parts draws n vertices more for p, and edges that connect about half of them to others. Some NOT edges are between parts. Vertices before
// the place first get none but these.
func (d drawer) parts(p *pattern.Pattern, n, first int) {
	fancy := rapid.Bool().Draw(d.t, "fancy edges")
	begin := len(p.Vertices)
	for range n {
		v := len(p.Vertices)
		name := string(rune('a' + v))
		if begin > 0 {
			name = fmt.Sprintf("y%d_%d", begin, v)
		}
		p.Vertices = append(p.Vertices, pattern.Vertex{Name: name})
		if v > first && rapid.Bool().Draw(d.t, "joined") {
			d.edge(p, first+d.pick("parent", v-first), v, fancy)
		}
	}
	if k := len(p.Vertices); k > 1 && d.seldom("not") {
		u := d.pick("from", k)
		d.edge(p, u, (u+1+d.pick("to", k-1))%k, fancy)
		p.Edges[len(p.Edges)-1].Negated, p.Edges[len(p.Edges)-1].Name = true, ""
	}
}

// existsApart draws EXISTS over some vertices of p, or all, with own vertices that mostly nothing connects to these, and perhaps another
// EXISTS inside.
func (d drawer) existsApart(p *pattern.Pattern, depth int) pattern.Expr {
	least := 1
	if rapid.Bool().Draw(d.t, "of all") { // as a text does
		least = len(p.Vertices)
	}
	outer := rapid.SliceOfNDistinct(rapid.IntRange(0, len(p.Vertices)-1), least, len(p.Vertices), rapid.ID).Draw(d.t, "outer")
	sub := &pattern.Pattern{Mode: p.Mode}
	own := d.seldom("own mode")
	if own {
		sub.Mode = d.mode()
	}
	for range outer {
		sub.Vertices = append(sub.Vertices, pattern.Vertex{Aside: true})
	}
	first := len(outer)
	if d.seldom("attached") {
		first = 0
		sub.Induced = sub.Mode == pattern.Iso && d.seldom("induced")
	}
	d.parts(sub, 1+d.pick("own vertices", 2), first)
	for i := range sub.Edges {
		e := &sub.Edges[i]
		sub.Vertices[e.From].Aside, sub.Vertices[e.To].Aside = false, false
		if e.Name != "" {
			e.Name = fmt.Sprintf("%s%d", e.Name, depth)
		}
	}
	d.labels(sub)
	if d.s.Labels != nil && d.seldom("outer label") {
		sub.Vertices[0].Label, sub.Vertices[0].Aside = d.label(vertexLabels, 1), false
	}
	d.inTime(sub)
	if d.seldom("condition") {
		sub.Where = append(sub.Where, d.compare(d.term(sub), d.term(sub)))
	}
	if depth > 1 && d.seldom("inside") {
		sub.Where = append(sub.Where, d.existsApart(sub, depth-1))
	}
	var x pattern.Expr = pattern.Exists{Sub: sub, Outer: outer, OwnMode: own}
	if rapid.Bool().Draw(d.t, "not exists") {
		x = pattern.Unary{Op: pattern.OpNot, X: x}
	}
	return x
}
