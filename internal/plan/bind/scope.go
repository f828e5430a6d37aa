package bind

import (
	"errors"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// plain writes a condition without literals of times: as numbers in the units of
// the graph's properties, which all that evaluates conditions reads.
func (b *Binding) plain(x pattern.Expr) (pattern.Expr, error) {
	out, _, assumed, err := expr.Plain(b.Graph, x)
	var wrong *pattern.TimeError
	if errors.As(err, &wrong) {
		return nil, &plan.QueryError{Vertex: -1, Edge: -1, Msg: wrong.Msg, Near: wrong.Near, Expected: wrong.Expected}
	}
	if assumed {
		b.warn("the times of edges are taken as seconds, since the graph does not say their unit")
	}
	return out, err
}

// scope returns a scope in which slots are indexes into the pattern.
func (b *Binding) scope() *expr.Scope {
	sc := &expr.Scope{Graph: b.Graph, Exists: b.existsCheck, Warn: b.warn, Ended: func() error {
		if b.ended() {
			return plan.ErrEnded
		}
		return nil
	}}
	if of := b.of; of != nil {
		any := of.Graph.Flat(of.Graph.Any())
		sc.Degree = func(v uint32) int64 { return int64(any.Degree(of.Vertex(v))) }
	}
	return sc
}

// existsCheck compiles EXISTS; its errors are not about a vertex or edge of the outer
// pattern.
func (b *Binding) existsCheck(x pattern.Exists) (subSearch, error) {
	f, err := b.exists(x)
	var wrong *plan.QueryError
	if errors.As(err, &wrong) {
		return nil, &plan.QueryError{Vertex: -1, Edge: -1, Msg: wrong.Msg, Near: wrong.Near, Expected: wrong.Expected}
	}
	return f, err
}

// compiled returns the error of a scope's compilations as one of the query.
func compiled(sc *expr.Scope) error {
	var wrong *plan.QueryError
	if sc.Err == nil || sc.Err == plan.ErrEnded || errors.As(sc.Err, &wrong) {
		return sc.Err
	}
	return plan.Errorf("%v", sc.Err)
}
