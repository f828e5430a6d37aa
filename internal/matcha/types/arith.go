package types

import (
	"errors"
	"math"
	"math/bits"
)

// Word is a Var at run time: an Int, a Bool as 0 or 1, or the bits of a Float.
type Word int64

// FromFloat is a Float as a Word.
func FromFloat(x float64) Word { return Word(math.Float64bits(x)) }

// Float is a Word as a Float.
func (w Word) Float() float64 { return math.Float64frombits(uint64(w)) }

// FromBool is a Bool as a Word.
func FromBool(x bool) Word {
	if x {
		return 1
	}
	return 0
}

// Mistakes of arithmetic.
var (
	ErrOverflow = errors.New("the result does not fit 64 bits")
	ErrDivision = errors.New("division by zero")
)

// Compute is x op y for two Ints or two Floats; op is one of + - * / %. The
// quotient of Ints is rounded towards zero, and the remainder has the sign of x.
func Compute(op string, k Kind, x, y Word) (Word, error) {
	if k == Float {
		return computeFloat(op, x.Float(), y.Float()), nil
	}
	switch op {
	case "+":
		z := x + y
		if (x >= 0) == (y >= 0) && (z >= 0) != (x >= 0) {
			return 0, ErrOverflow
		}
		return z, nil
	case "-":
		z := x - y
		if (x >= 0) != (y >= 0) && (z >= 0) != (x >= 0) {
			return 0, ErrOverflow
		}
		return z, nil
	case "*":
		hi, lo := bits.Mul64(magnitude(x), magnitude(y))
		limit := uint64(math.MaxInt64)
		if (x < 0) != (y < 0) {
			limit++
		}
		if hi != 0 || lo > limit {
			return 0, ErrOverflow
		}
		return x * y, nil
	}
	switch {
	case y == 0:
		return 0, ErrDivision
	case y == -1 && x == math.MinInt64:
		return 0, ErrOverflow
	case op == "/":
		return x / y, nil
	}
	return x % y, nil
}

func magnitude(x Word) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func computeFloat(op string, x, y float64) Word {
	switch op {
	case "+":
		return FromFloat(x + y)
	case "-":
		return FromFloat(x - y)
	case "*":
		return FromFloat(x * y)
	case "/":
		return FromFloat(x / y)
	}
	return FromFloat(math.Mod(x, y))
}

// Compare is x op y for two values of a kind; op is one of == != < <= > >=.
func Compare(op string, k Kind, x, y Word) bool {
	if k == Float {
		return compare(op, x.Float(), y.Float())
	}
	return compare(op, x, y)
}

func compare[T Word | float64](op string, x, y T) bool {
	switch op {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}
