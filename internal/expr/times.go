package expr

import (
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Plain writes x without literals of times: as numbers in the units of g's properties, which
// everything that evaluates expressions reads. It returns the type of x as a time. assumed says
// that the times of edges were taken as seconds, because g does not state their unit. Errors
// are those of pattern.PlainTimes.
func Plain(g *graph.Graph, x pattern.Expr) (out pattern.Expr, t pattern.TimeType, assumed bool, err error) {
	return pattern.PlainTimes(x, func(p pattern.Prop) pattern.TimeType { return TimeType(g, p) })
}

// TimeType returns the unit of a property that is a time, as g states it.
func TimeType(g *graph.Graph, p pattern.Prop) pattern.TimeType {
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
