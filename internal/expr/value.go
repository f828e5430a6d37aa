package expr

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// Kind is the type of a value; the zero value is NULL.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
)

// Value is the result of an expression.
type Value struct {
	Kind Kind
	I    int64 // also 0 or 1 of a boolean
	F    float64
	S    string
	List []Value
}

// Any is the value as Go has it: nil, bool, int64, float64, string or []any.
func (v Value) Any() any {
	switch v.Kind {
	case Bool:
		return v.I == 1
	case Int:
		return v.I
	case Float:
		return v.F
	case Text:
		return v.S
	case List:
		out := make([]any, len(v.List))
		for i := range out {
			out[i] = v.List[i].Any()
		}
		return out
	}
	return nil
}

var null = Value{}

func boolean(x bool) Value {
	if x {
		return Value{Kind: Bool, I: 1}
	}
	return Value{Kind: Bool}
}

func (v Value) isTrue() bool { return v.Kind == Bool && v.I == 1 }

func (v Value) number() (float64, bool) {
	switch v.Kind {
	case Int:
		return float64(v.I), true
	case Float:
		return v.F, true
	}
	return 0, false
}

// Literal converts a constant of the pattern.
func Literal(x any) Value {
	switch x := x.(type) {
	case bool:
		return boolean(x)
	case int:
		return Value{Kind: Int, I: int64(x)}
	case int32:
		return Value{Kind: Int, I: int64(x)}
	case uint32:
		return Value{Kind: Int, I: int64(x)}
	case int64:
		return Value{Kind: Int, I: x}
	case float32:
		return Value{Kind: Float, F: float64(x)}
	case float64:
		return Value{Kind: Float, F: x}
	case string:
		return Value{Kind: Text, S: x}
	case []any:
		v := Value{Kind: List, List: make([]Value, len(x))}
		for i := range x {
			v.List[i] = Literal(x[i])
		}
		return v
	}
	return null
}

// Compare orders two numbers, by their exact values, or two texts; ok is false for anything else, and for NaN.
func Compare(a, b Value) (c int, ok bool) { return compareValues(a, b) }

// compareValues orders two numbers, by their exact values, or two strings;
// anything else, and NaN, has no order.
func compareValues(a, b Value) (c int, ok bool) {
	switch {
	case a.Kind == Int && b.Kind == Int:
		return cmp.Compare(a.I, b.I), true
	case a.Kind == Text && b.Kind == Text:
		return strings.Compare(a.S, b.S), true
	case a.Kind == Int && b.Kind == Float:
		return pattern.CompareIntFloat(a.I, b.F)
	case a.Kind == Float && b.Kind == Int:
		c, ok = pattern.CompareIntFloat(b.I, a.F)
		return -c, ok
	case a.Kind == Float && b.Kind == Float:
		return cmp.Compare(a.F, b.F), a.F == a.F && b.F == b.F
	}
	return 0, false
}

// equalValues is true, false or NULL; values of different kinds are not equal.
func equalValues(a, b Value) Value {
	switch {
	case a.Kind == Null || b.Kind == Null:
		return null
	case a.Kind == Bool && b.Kind == Bool:
		return boolean(a.I == b.I)
	}
	c, ok := compareValues(a, b)
	return boolean(ok && c == 0)
}

// inList is x IN list: NULL where x is, or where only a NULL item could make it
// true.
func inList(x, list Value) Value {
	if list.Kind != List || x.Kind == Null {
		return null
	}
	found := boolean(false)
	for _, item := range list.List {
		switch e := equalValues(x, item); {
		case e.isTrue():
			return e
		case e.Kind == Null:
			found = null
		}
	}
	return found
}

// decimal reads s as an integer.
func decimal(s string) (int64, bool) {
	x, err := strconv.ParseInt(s, 10, 64)
	return x, err == nil
}
