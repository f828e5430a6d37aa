package plan

import (
	"errors"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/pattern"
)

// plain writes a condition without literals of times: as numbers in the units of
// the graph's properties, which all that evaluates conditions reads.
func (b *binding) plain(x pattern.Expr) (pattern.Expr, error) {
	out, _, assumed, err := expr.Plain(b.g, x)
	var wrong *pattern.TimeError
	if errors.As(err, &wrong) {
		return nil, &QueryError{Vertex: -1, Edge: -1, Msg: wrong.Msg, Near: wrong.Near, Expected: wrong.Expected}
	}
	if assumed {
		b.warn("the times of edges are taken as seconds, since the graph does not say their unit")
	}
	return out, err
}

// scope returns a scope in which slots are indexes into the pattern.
func (b *binding) scope() *expr.Scope {
	return &expr.Scope{Graph: b.g, Exists: b.existsCheck, Warn: b.warn, Ended: func() error {
		if b.ended() {
			return errEnded
		}
		return nil
	}}
}

// existsCheck compiles EXISTS; its errors are not about a vertex or edge of the outer
// pattern.
func (b *binding) existsCheck(x pattern.Exists) (func(outer []uint32) bool, error) {
	f, err := b.exists(x)
	var wrong *QueryError
	if errors.As(err, &wrong) {
		return nil, &QueryError{Vertex: -1, Edge: -1, Msg: wrong.Msg, Near: wrong.Near, Expected: wrong.Expected}
	}
	return f, err
}

// compiled returns the error of a scope's compilations as one of the query.
func compiled(sc *expr.Scope) error {
	var wrong *QueryError
	if sc.Err == nil || sc.Err == errEnded || errors.As(sc.Err, &wrong) {
		return sc.Err
	}
	return queryErrorf("%v", sc.Err)
}
