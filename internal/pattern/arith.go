package pattern

import "math"

// IntArithmetic is x op y for +, - and *; not ok where the result has more than
// 63 bits.
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
	}
	return 0, false
}
