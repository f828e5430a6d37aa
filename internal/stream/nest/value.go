package nest

import (
	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph/dynamic"
)

// ValueOf is a property's value as conditions have it.
func ValueOf(v dynamic.Value) expr.Value {
	switch v.Kind() {
	case dynamic.Int:
		return expr.Value{Kind: expr.Int, I: v.Int()}
	case dynamic.Unsigned:
		if x := v.Unsigned(); x>>63 != 0 {
			return expr.Value{Kind: expr.Float, F: float64(x)}
		}
		return expr.Value{Kind: expr.Int, I: int64(v.Unsigned())}
	case dynamic.Float:
		return expr.Value{Kind: expr.Float, F: v.Float()}
	case dynamic.Bool:
		return expr.Literal(v.Bool())
	case dynamic.String:
		return expr.Value{Kind: expr.Text, S: v.Text()}
	}
	return expr.Value{}
}
