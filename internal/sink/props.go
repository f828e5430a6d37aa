package sink

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/expr"
)

// asText reports whether the column is shown as Arrow writes its values: texts, and
// types that the outputs do not have.
func asText(c *expr.Column) bool {
	if t := c.Type(); t != nil && t.ID() == arrow.DICTIONARY {
		return true
	}
	return c.Kind() == expr.TextWords || c.Kind() == expr.UnsignedWords
}

// typeOfColumn is the type that a property is shown with; times are numbers of their
// unit.
func typeOfColumn(c *expr.Column) Type {
	switch {
	case c == nil || asText(c):
		return String
	case c.Kind() == expr.BoolWords:
		return Bool
	case c.Kind() == expr.FloatWords:
		return Float
	case c.Kind() == expr.IntWords:
		return Int
	}
	return String
}

// shown returns how a row of a property is read.
func shown(c *expr.Column) func(row int) any {
	if !asText(c) {
		get := c.Reader()
		return func(row int) any { return get(row).Any() }
	}
	a := c.Array()
	return func(row int) any {
		if a.IsNull(row) {
			return nil
		}
		return a.ValueStr(row)
	}
}
