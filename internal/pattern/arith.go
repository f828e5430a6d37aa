package pattern

import (
	"cmp"
	"math"
)

// IntArithmetic is x op y for + - * / and %; y is not 0 for the last two. ok is
// false where the result has more than 63 bits.
func IntArithmetic(op Op, x, y int64) (z int64, ok bool) {
	switch op {
	case OpAdd:
		z = x + y
		return z, (z > x) == (y > 0)
	case OpSub:
		z = x - y
		return z, (z < x) == (y > 0)
	case OpMul:
		if x == 0 || y == 0 {
			return 0, true
		}
		if x == -1 && y == math.MinInt64 || y == -1 && x == math.MinInt64 {
			return 0, false
		}
		z = x * y
		return z, z/y == x
	case OpDiv:
		return x / y, y != -1 || x != math.MinInt64
	case OpMod:
		return x % y, true
	}
	return 0, false
}

// FloatArithmetic is x op y for + - * / and %; y is not 0 for the last two.
func FloatArithmetic(op Op, x, y float64) float64 {
	switch op {
	case OpAdd:
		return x + y
	case OpSub:
		return x - y
	case OpMul:
		return x * y
	case OpDiv:
		return x / y
	}
	return math.Mod(x, y)
}

// Negative is -x: an int64, or the float64 2^63 for the least integer.
func Negative(x int64) any {
	if x == math.MinInt64 {
		return -float64(x)
	}
	return -x
}

// CompareIntFloat orders an integer and a floating-point number by their exact
// values, without rounding the integer. ok is false where y is NaN.
func CompareIntFloat(x int64, y float64) (c int, ok bool) {
	switch {
	case y != y:
		return 0, false
	case y >= 1<<63:
		return -1, true
	case y < -1<<63:
		return 1, true
	}
	whole := math.Trunc(y)
	if c = cmp.Compare(x, int64(whole)); c == 0 {
		c = cmp.Compare(whole, y)
	}
	return c, true
}
