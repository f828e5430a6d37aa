package plan

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// valueKind is the type of a value; the zero value is NULL.
type valueKind uint8

const (
	kindNull valueKind = iota
	kindBool
	kindInt
	kindFloat
	kindString
	kindList
)

// value is what an expression evaluates to.
type value struct {
	kind valueKind
	i    int64 // also 0 or 1 of a boolean
	f    float64
	s    string
	list []value
}

var null = value{}

func boolean(x bool) value {
	if x {
		return value{kind: kindBool, i: 1}
	}
	return value{kind: kindBool}
}

func (v value) isTrue() bool  { return v.kind == kindBool && v.i == 1 }
func (v value) isFalse() bool { return v.kind == kindBool && v.i == 0 }

func (v value) number() (float64, bool) {
	switch v.kind {
	case kindInt:
		return float64(v.i), true
	case kindFloat:
		return v.f, true
	}
	return 0, false
}

// literal converts a constant of the pattern.
func literal(x any) value {
	switch x := x.(type) {
	case bool:
		return boolean(x)
	case int:
		return value{kind: kindInt, i: int64(x)}
	case int32:
		return value{kind: kindInt, i: int64(x)}
	case uint32:
		return value{kind: kindInt, i: int64(x)}
	case int64:
		return value{kind: kindInt, i: x}
	case float32:
		return value{kind: kindFloat, f: float64(x)}
	case float64:
		return value{kind: kindFloat, f: x}
	case string:
		return value{kind: kindString, s: x}
	case []any:
		v := value{kind: kindList, list: make([]value, len(x))}
		for i := range x {
			v.list[i] = literal(x[i])
		}
		return v
	}
	return null
}

// compareValues orders two numbers, by their exact values, or two strings;
// anything else, and NaN, has no order.
func compareValues(a, b value) (c int, ok bool) {
	switch {
	case a.kind == kindInt && b.kind == kindInt:
		return cmp.Compare(a.i, b.i), true
	case a.kind == kindString && b.kind == kindString:
		return strings.Compare(a.s, b.s), true
	case a.kind == kindInt && b.kind == kindFloat:
		return pattern.CompareIntFloat(a.i, b.f)
	case a.kind == kindFloat && b.kind == kindInt:
		c, ok = pattern.CompareIntFloat(b.i, a.f)
		return -c, ok
	case a.kind == kindFloat && b.kind == kindFloat:
		return cmp.Compare(a.f, b.f), a.f == a.f && b.f == b.f
	}
	return 0, false
}

// equalValues is true, false or NULL; values of different kinds are not equal.
func equalValues(a, b value) value {
	switch {
	case a.kind == kindNull || b.kind == kindNull:
		return null
	case a.kind == kindBool && b.kind == kindBool:
		return boolean(a.i == b.i)
	}
	c, ok := compareValues(a, b)
	return boolean(ok && c == 0)
}

// inList is x IN list: NULL where x is, or where only a NULL item could make it
// true.
func inList(x, list value) value {
	if list.kind != kindList || x.kind == kindNull {
		return null
	}
	found := boolean(false)
	for _, item := range list.list {
		switch e := equalValues(x, item); {
		case e.isTrue():
			return e
		case e.kind == kindNull:
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
