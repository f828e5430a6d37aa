package interp

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"github.com/weftgraph/weft/internal/kir"
)

// arithmetic is an operator on two numbers of a kind. Whole numbers wrap; a
// division by zero gives 0.
func arithmetic(op kir.Op, k kir.Kind) func(a, b Value) Value {
	switch k {
	case kir.U32:
		f := whole(op)
		return func(a, b Value) Value { return Value{N: uint64(uint32(f(a.N, b.N)))} }
	case kir.I64:
		f := signed(op)
		return func(a, b Value) Value { return Value{N: uint64(f(int64(a.N), int64(b.N)))} }
	case kir.F64:
		f := floating(op)
		return func(a, b Value) Value {
			return Value{N: math.Float64bits(f(math.Float64frombits(a.N), math.Float64frombits(b.N)))}
		}
	case kir.U128:
		return wide(op)
	}
	f := whole(op)
	return func(a, b Value) Value { return Value{N: f(a.N, b.N)} }
}

func whole(op kir.Op) func(a, b uint64) uint64 {
	switch op {
	case kir.Add:
		return func(a, b uint64) uint64 { return a + b }
	case kir.Sub:
		return func(a, b uint64) uint64 { return a - b }
	case kir.Mul:
		return func(a, b uint64) uint64 { return a * b }
	case kir.Div:
		return func(a, b uint64) uint64 {
			if b == 0 {
				return 0
			}
			return a / b
		}
	case kir.Mod:
		return func(a, b uint64) uint64 {
			if b == 0 {
				return 0
			}
			return a % b
		}
	case kir.BitAnd:
		return func(a, b uint64) uint64 { return a & b }
	case kir.BitOr:
		return func(a, b uint64) uint64 { return a | b }
	case kir.Shl:
		return func(a, b uint64) uint64 { return a << b }
	case kir.Shr:
		return func(a, b uint64) uint64 { return a >> b }
	case kir.Min:
		return func(a, b uint64) uint64 { return min(a, b) }
	case kir.Max:
		return func(a, b uint64) uint64 { return max(a, b) }
	}
	panic("interp: " + op.String() + " of whole numbers")
}

func signed(op kir.Op) func(a, b int64) int64 {
	switch op {
	case kir.Div:
		return func(a, b int64) int64 {
			if b == 0 {
				return 0
			}
			return a / b
		}
	case kir.Mod:
		return func(a, b int64) int64 {
			if b == 0 {
				return 0
			}
			return a % b
		}
	case kir.Shr:
		return func(a, b int64) int64 { return a >> uint64(b) }
	case kir.Min:
		return func(a, b int64) int64 { return min(a, b) }
	case kir.Max:
		return func(a, b int64) int64 { return max(a, b) }
	}
	f := whole(op)
	return func(a, b int64) int64 { return int64(f(uint64(a), uint64(b))) }
}

func floating(op kir.Op) func(a, b float64) float64 {
	switch op {
	case kir.Add:
		return func(a, b float64) float64 { return a + b }
	case kir.Sub:
		return func(a, b float64) float64 { return a - b }
	case kir.Mul:
		return func(a, b float64) float64 { return a * b }
	case kir.Div:
		return func(a, b float64) float64 { return a / b }
	case kir.Min:
		return math.Min
	case kir.Max:
		return math.Max
	}
	panic("interp: " + op.String() + " of floating-point numbers")
}

// wide is arithmetic modulo 2^128.
func wide(op kir.Op) func(a, b Value) Value {
	switch op {
	case kir.Add:
		return func(a, b Value) Value {
			lo, c := bits.Add64(a.N, b.N, 0)
			return Value{N: lo, Hi: a.Hi + b.Hi + c}
		}
	case kir.Sub:
		return func(a, b Value) Value {
			lo, c := bits.Sub64(a.N, b.N, 0)
			return Value{N: lo, Hi: a.Hi - b.Hi - c}
		}
	case kir.Mul:
		return func(a, b Value) Value {
			hi, lo := bits.Mul64(a.N, b.N)
			return Value{N: lo, Hi: hi + a.Hi*b.N + a.N*b.Hi}
		}
	case kir.Div, kir.Mod:
		return func(a, b Value) Value {
			if b.N|b.Hi == 0 {
				return Value{}
			}
			q, r := new(big.Int).QuoRem(toBig(a), toBig(b), new(big.Int))
			if op == kir.Mod {
				return fromBig(r)
			}
			return fromBig(q)
		}
	case kir.BitAnd:
		return func(a, b Value) Value { return Value{N: a.N & b.N, Hi: a.Hi & b.Hi} }
	case kir.BitOr:
		return func(a, b Value) Value { return Value{N: a.N | b.N, Hi: a.Hi | b.Hi} }
	case kir.Shl:
		return func(a, b Value) Value { return Value{N: a.N << b.N, Hi: a.Hi<<b.N | a.N<<(b.N-64) | a.N>>(64-b.N)} }
	case kir.Shr:
		return func(a, b Value) Value { return Value{N: a.N>>b.N | a.Hi>>(b.N-64) | a.Hi<<(64-b.N), Hi: a.Hi >> b.N} }
	case kir.Min, kir.Max:
		return func(a, b Value) Value {
			if (cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.N, b.N)) < 0) == (op == kir.Min) {
				return a
			}
			return b
		}
	}
	panic("interp: " + op.String() + " of 128-bit numbers")
}

func fromBig(x *big.Int) Value {
	lo := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	return Value{N: lo.Uint64(), Hi: new(big.Int).Rsh(x, 64).Uint64()}
}

func toBig(v Value) *big.Int {
	x := new(big.Int).SetUint64(v.Hi)
	return x.Or(x.Lsh(x, 64), new(big.Int).SetUint64(v.N))
}

// comparison compares two numbers of a kind. As everywhere, NaN is not equal,
// below or above anything.
func comparison(op kir.Op, k kir.Kind) func(a, b Value) bool {
	if k == kir.F64 {
		return func(a, b Value) bool {
			x, y := math.Float64frombits(a.N), math.Float64frombits(b.N)
			if x != x || y != y {
				return op == kir.Ne
			}
			return holds(op, cmp.Compare(x, y))
		}
	}
	order := func(a, b Value) int { return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.N, b.N)) }
	if k == kir.I64 {
		order = func(a, b Value) int { return cmp.Compare(int64(a.N), int64(b.N)) }
	}
	return func(a, b Value) bool { return holds(op, order(a, b)) }
}

func holds(op kir.Op, c int) bool {
	switch op {
	case kir.Eq:
		return c == 0
	case kir.Ne:
		return c != 0
	case kir.Lt:
		return c < 0
	case kir.Le:
		return c <= 0
	case kir.Gt:
		return c > 0
	}
	return c >= 0
}

// conversion turns a number of one kind into one of another, as C++ does.
func conversion(from, to kir.Kind) func(Value) Value {
	switch {
	case from == kir.F64 && to == kir.I64:
		return func(v Value) Value { return Value{N: uint64(int64(math.Float64frombits(v.N)))} }
	case from == kir.F64 && to != kir.F64:
		return func(v Value) Value {
			n := uint64(math.Float64frombits(v.N))
			if to == kir.U32 {
				n = uint64(uint32(n))
			}
			return Value{N: n}
		}
	case to == kir.F64 && from == kir.I64:
		return func(v Value) Value { return Value{N: math.Float64bits(float64(int64(v.N)))} }
	case to == kir.F64 && from == kir.U128:
		return func(v Value) Value {
			return Value{N: math.Float64bits(math.Ldexp(float64(v.Hi), 64) + float64(v.N))}
		}
	case to == kir.F64 && from != kir.F64:
		return func(v Value) Value { return Value{N: math.Float64bits(float64(v.N))} }
	case to == kir.U32:
		return func(v Value) Value { return Value{N: uint64(uint32(v.N))} }
	case to == kir.U128 && from == kir.I64:
		return func(v Value) Value { return Value{N: v.N, Hi: uint64(int64(v.N) >> 63)} }
	case to != kir.U128:
		return func(v Value) Value { return Value{N: v.N} }
	}
	return func(v Value) Value { return v }
}
