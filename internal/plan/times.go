package plan

import (
	"errors"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// plain writes a condition without literals of times: as numbers in the units of
// the graph's properties, which all that evaluates conditions reads.
func (b *binding) plain(x pattern.Expr) (pattern.Expr, error) {
	out, _, assumed, err := pattern.PlainTimes(x, func(p pattern.Prop) pattern.TimeType { return timeType(b.g, p) })
	var wrong *pattern.TimeError
	if errors.As(err, &wrong) {
		return nil, &QueryError{Vertex: -1, Edge: -1, Msg: wrong.Msg, Near: wrong.Near, Expected: wrong.Expected}
	}
	if assumed {
		b.warn("the times of edges are taken as seconds, since the graph does not say their unit")
	}
	return out, err
}

// timeType says what the graph knows of a property as a time.
func timeType(g *graph.Graph, p pattern.Prop) pattern.TimeType {
	c := g.VertexTime(p.Key)
	if p.Of.Kind == pattern.EdgeRef {
		c = g.EdgeTime(p.Key)
	}
	t := pattern.TimeType{Num: c.Num, Den: c.Den, Known: c.Known}
	switch {
	case !c.Exists:
		t.Kind = pattern.Missing
	case c.Moment:
		t.Kind = pattern.Moment
	case c.Span:
		t.Kind = pattern.Span
	}
	return t
}
