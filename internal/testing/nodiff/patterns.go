package nodiff

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// Patterns draws valid patterns of at most max vertices that may occur in a graph like s. They
// have any mode, INDUCED, directions, label algebra, NOT edges, named edges, predicates on one
// or several vertices and edges, and EXISTS. A few are not connected.
func Patterns(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := d.shape(rapid.IntRange(1, max).Draw(t, "pattern vertices"))
		p.Mode = rapid.SampledFrom([]pattern.Mode{pattern.Iso, pattern.Iso, pattern.Iso, pattern.Hom, pattern.Trail}).Draw(t, "mode")
		p.Induced = p.Mode == pattern.Iso && d.seldom("induced")
		if d.seldom("predicates") {
			for range rapid.IntRange(1, 2).Draw(t, "conjuncts") {
				p.Where = append(p.Where, d.predicate(p, 2))
			}
		}
		if d.seldom("exists") {
			p.Where = append(p.Where, d.exists(p))
		}
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}

// Conditions draws patterns of edges that are bound to data edges, by a name or
// under TRAIL, and with conditions that compare several vertices and edges.
func Conditions(s *Spec, max int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		d := drawer{t, s}
		p := d.shape(rapid.IntRange(2, max).Draw(t, "pattern vertices"))
		p.Mode = rapid.SampledFrom([]pattern.Mode{pattern.Iso, pattern.Hom, pattern.Trail}).Draw(t, "mode")
		for i := range p.Edges {
			if e := &p.Edges[i]; !e.Negated && e.Name == "" && rapid.Bool().Draw(t, "name it") {
				e.Name = fmt.Sprintf("e%d", i)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "conjuncts") {
			p.Where = append(p.Where, d.compare(d.term(p), d.term(p)))
		}
		if d.seldom("logic") {
			p.Where = append(p.Where, d.predicate(p, 2))
		}
		if d.seldom("exists") {
			p.Where = append(p.Where, d.exists(p))
		}
		return p
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}

type drawer struct {
	t *rapid.T
	s *Spec
}

func (d drawer) seldom(label string) bool { return rapid.IntRange(0, 3).Draw(d.t, label) == 3 }

func (d drawer) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

// shape draws vertices and edges: mostly a tree and some edges more.
func (d drawer) shape(n int) *pattern.Pattern {
	p := &pattern.Pattern{}
	for i := range n {
		v := pattern.Vertex{Name: string(rune('a' + i))}
		if d.s.Labels != nil && d.seldom("vertex label") {
			v.Label = d.label(vertexLabels, 2)
		}
		p.Vertices = append(p.Vertices, v)
	}
	fancy := rapid.Bool().Draw(d.t, "fancy edges")
	for v := 1; v < n; v++ {
		if rapid.IntRange(0, 19).Draw(d.t, "apart") < 19 {
			d.edge(p, d.pick("parent", v), v, fancy)
		}
	}
	if n > 1 {
		for range rapid.IntRange(0, 4).Draw(d.t, "more edges") {
			u := d.pick("from", n)
			v := (u + 1 + d.pick("to", n-1)) % n
			if fancy || !adjacent(p, u, v) {
				d.edge(p, u, v, fancy)
				p.Edges[len(p.Edges)-1].Negated = d.seldom("not")
			}
		}
	}
	return p
}

func adjacent(p *pattern.Pattern, u, v int) bool {
	for _, e := range p.Edges {
		if e.From == u && e.To == v || e.From == v && e.To == u {
			return true
		}
	}
	return false
}

func (d drawer) edge(p *pattern.Pattern, u, v int, fancy bool) {
	e := pattern.Edge{From: u, To: v, Min: 1, Max: 1}
	if rapid.Bool().Draw(d.t, "forward") {
		e.Dir = pattern.Forward
	}
	if rapid.Bool().Draw(d.t, "turn") {
		e.From, e.To = v, u
	}
	if fancy {
		if d.s.EdgeLabels && rapid.Bool().Draw(d.t, "edge label") {
			e.Label = d.label(edgeLabels[1:], 1)
		}
		if d.seldom("named") {
			e.Name = fmt.Sprintf("e%d", len(p.Edges))
		}
		if (d.s.Weights || d.s.Times) && d.seldom("edge predicate") {
			e.Where = append(e.Where, d.compare(d.edgeValue(len(p.Edges)), d.number()))
		}
	}
	p.Edges = append(p.Edges, e)
}

func (d drawer) label(names []string, depth int) *pattern.Label {
	op := pattern.LabelName
	if depth > 0 {
		op = rapid.SampledFrom([]pattern.LabelOp{
			pattern.LabelName, pattern.LabelName, pattern.LabelAny, pattern.LabelAnd, pattern.LabelOr, pattern.LabelNot,
		}).Draw(d.t, "label op")
	}
	l := &pattern.Label{Op: op}
	switch op {
	case pattern.LabelName:
		l.Name = rapid.SampledFrom(names).Draw(d.t, "label name")
	case pattern.LabelAnd, pattern.LabelOr:
		l.X, l.Y = d.label(names, depth-1), d.label(names, depth-1)
	case pattern.LabelNot:
		l.X = d.label(names, depth-1)
	}
	return l
}

func (d drawer) number() pattern.Expr {
	return pattern.Lit{Value: int64(rapid.IntRange(0, 4).Draw(d.t, "constant"))}
}

func (d drawer) edgeValue(i int) pattern.Expr {
	if d.s.Weights {
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef, Index: i}, Key: "w"}
	}
	return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef, Index: i}, Key: "time"}
}

// term draws a number over one vertex, one named edge, or a constant.
func (d drawer) term(p *pattern.Pattern) pattern.Expr {
	v := d.pick("vertex", len(p.Vertices))
	switch d.pick("term", 7) {
	case 0:
		return pattern.ID{Vertex: v}
	case 1:
		return pattern.Deg{Vertex: v}
	case 2:
		for i := range p.Edges {
			if p.Edges[i].Named() && (d.s.Weights || d.s.Times) {
				return d.edgeValue(i)
			}
		}
		return d.number()
	case 3:
		return d.number()
	case 4:
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}, Key: "big"}
	case 5:
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}, Key: "far"}
	}
	return pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}, Key: "x"}
}

func (d drawer) compare(x, y pattern.Expr) pattern.Expr {
	ops := []pattern.Op{pattern.OpEq, pattern.OpNe, pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe}
	return pattern.Binary{Op: rapid.SampledFrom(ops).Draw(d.t, "comparison"), X: x, Y: y}
}

func (d drawer) predicate(p *pattern.Pattern, depth int) pattern.Expr {
	kind := d.pick("predicate", 10)
	if depth == 0 {
		kind %= 6
	}
	switch kind {
	case 0:
		return pattern.Unary{Op: pattern.OpIsNull, X: d.term(p)}
	case 1:
		return pattern.Unary{Op: pattern.OpIsNotNull, X: d.term(p)}
	case 2:
		return pattern.Binary{Op: pattern.OpIn, X: d.term(p), Y: pattern.List{Items: []pattern.Expr{d.number(), d.number()}}}
	case 3:
		u, v := d.pick("ref", len(p.Vertices)), d.pick("ref", len(p.Vertices))
		op := rapid.SampledFrom([]pattern.Op{pattern.OpEq, pattern.OpNe}).Draw(d.t, "same")
		return pattern.Binary{Op: op, X: pattern.RefExpr{Of: vertexRef(u)}, Y: pattern.RefExpr{Of: vertexRef(v)}}
	case 6:
		return pattern.Unary{Op: pattern.OpNot, X: d.predicate(p, depth-1)}
	case 7, 8:
		op := rapid.SampledFrom([]pattern.Op{pattern.OpAnd, pattern.OpOr}).Draw(d.t, "logic")
		return pattern.Binary{Op: op, X: d.predicate(p, depth-1), Y: d.predicate(p, depth-1)}
	case 9:
		op := rapid.SampledFrom([]pattern.Op{pattern.OpAdd, pattern.OpSub, pattern.OpMul, pattern.OpDiv, pattern.OpMod}).Draw(d.t, "arithmetic")
		return d.compare(pattern.Binary{Op: op, X: d.term(p), Y: d.term(p)}, d.number())
	}
	return d.compare(d.term(p), d.term(p))
}

func vertexRef(v int) pattern.Ref { return pattern.Ref{Kind: pattern.VertexRef, Index: v} }

// exists draws EXISTS over one or two vertices of p and at most one of its own,
// perhaps induced or negated, in which the other vertices of p may stand aside.
func (d drawer) exists(p *pattern.Pattern) pattern.Expr {
	outer := rapid.SliceOfNDistinct(rapid.IntRange(0, len(p.Vertices)-1), 1, 2, rapid.ID).Draw(d.t, "outer")
	sub := &pattern.Pattern{Mode: p.Mode, Vertices: make([]pattern.Vertex, len(outer))}
	ends := len(outer)
	if sub.Mode == pattern.Iso {
		sub.Induced = rapid.Bool().Draw(d.t, "exists induced")
		if rapid.Bool().Draw(d.t, "others aside") {
			for v := range p.Vertices {
				if !slices.Contains(outer, v) {
					outer = append(outer, v)
					sub.Vertices = append(sub.Vertices, pattern.Vertex{Aside: true})
				}
			}
		}
	}
	last := ends - 1
	if ends == 1 || rapid.Bool().Draw(d.t, "own vertex") {
		last = len(sub.Vertices)
		sub.Vertices = append(sub.Vertices, pattern.Vertex{Name: "z"})
	}
	for v := range ends {
		if v != last {
			d.edge(sub, v, last, true)
			sub.Edges[v].Name = ""
		}
	}
	var x pattern.Expr = pattern.Exists{Sub: sub, Outer: outer}
	if rapid.Bool().Draw(d.t, "not exists") {
		x = pattern.Unary{Op: pattern.OpNot, X: x}
	}
	return x
}
