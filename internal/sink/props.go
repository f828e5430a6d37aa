package sink

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// reader returns the type of a property column and how to read a row of it; times
// are numbers of their unit.
// Types that the outputs do not have are written as Arrow writes them.
func reader(col arrow.Array) (Type, func(row int) any) {
	null := func(get func(row int) any) func(int) any {
		return func(row int) any {
			if col.IsNull(row) {
				return nil
			}
			return get(row)
		}
	}
	switch a := col.(type) {
	case *array.Boolean:
		return Bool, null(func(i int) any { return a.Value(i) })
	case *array.Int8:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Int16:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Int32:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Int64:
		return Int, null(func(i int) any { return a.Value(i) })
	case *array.Uint8:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Uint16:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Uint32:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Timestamp:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Date32:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Date64:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Duration:
		return Int, null(func(i int) any { return int64(a.Value(i)) })
	case *array.Null:
		return String, func(int) any { return nil }
	case *array.Float32:
		return Float, null(func(i int) any { return float64(a.Value(i)) })
	case *array.Float64:
		return Float, null(func(i int) any { return a.Value(i) })
	}
	return String, null(func(i int) any { return col.ValueStr(i) })
}
