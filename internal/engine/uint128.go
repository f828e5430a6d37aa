package engine

import (
	"fmt"
	"math/big"
	"math/bits"
)

// Uint128 is an exact total: counts are summed in 128 bits so that no overflow
// can pass silently.
type Uint128 struct{ Hi, Lo uint64 }

// U64 returns x as a Uint128.
func U64(x uint64) Uint128 { return Uint128{Lo: x} }

// Add returns a+b, modulo 2^128.
func (a Uint128) Add(b Uint128) Uint128 {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(a.Hi, b.Hi, c)
	return Uint128{hi, lo}
}

// Sub returns a-b, modulo 2^128.
func (a Uint128) Sub(b Uint128) Uint128 {
	lo, c := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(a.Hi, b.Hi, c)
	return Uint128{hi, lo}
}

// Add64 returns a+x, modulo 2^128.
func (a Uint128) Add64(x uint64) Uint128 {
	lo, c := bits.Add64(a.Lo, x, 0)
	return Uint128{a.Hi + c, lo}
}

// Mul64 returns a*x, modulo 2^128.
func (a Uint128) Mul64(x uint64) Uint128 {
	hi, lo := bits.Mul64(a.Lo, x)
	return Uint128{hi + a.Hi*x, lo}
}

// Mul returns a*b, modulo 2^128.
func (a Uint128) Mul(b Uint128) Uint128 {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	return Uint128{hi + a.Hi*b.Lo + a.Lo*b.Hi, lo}
}

// AddOver returns a+b and whether it passes 128 bits.
func (a Uint128) AddOver(b Uint128) (sum Uint128, over bool) {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, c := bits.Add64(a.Hi, b.Hi, c)
	return Uint128{hi, lo}, c != 0
}

// MulOver returns a*b and whether it passes 128 bits.
func (a Uint128) MulOver(b Uint128) (product Uint128, over bool) {
	if a.Hi != 0 {
		a, b = b, a // now a < 2^64, or both are not
	}
	if a.Hi != 0 {
		return a.Mul(b), true
	}
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	over1, mid := bits.Mul64(a.Lo, b.Hi)
	hi, carry := bits.Add64(hi, mid, 0)
	return Uint128{hi, lo}, over1|carry != 0
}

// MulDiv returns a*x/d, for products that d > 0 divides, and whether it passes
// 128 bits. The product itself may.
func (a Uint128) MulDiv(x, d uint64) (q Uint128, over bool) {
	h0, l0 := bits.Mul64(a.Lo, x)
	h1, l1 := bits.Mul64(a.Hi, x)
	mid, carry := bits.Add64(h0, l1, 0)
	top := h1 + carry
	over = top >= d
	hi, r := bits.Div64(top%d, mid, d)
	lo, _ := bits.Div64(r, l0, d)
	return Uint128{hi, lo}, over
}

// IsZero reports whether a is 0.
func (a Uint128) IsZero() bool { return a.Hi|a.Lo == 0 }

// Cmp compares a with b: -1, 0 or 1.
func (a Uint128) Cmp(b Uint128) int {
	switch {
	case a == b:
		return 0
	case a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	}
	return 1
}

// Div64 returns a/x and the remainder.
func (a Uint128) Div64(x uint64) (Uint128, uint64) {
	hi, r := a.Hi/x, a.Hi%x
	lo, r := bits.Div64(r, a.Lo, x)
	return Uint128{hi, lo}, r
}

// Big returns a as a big.Int.
func (a Uint128) Big() *big.Int {
	z := new(big.Int).SetUint64(a.Hi)
	return z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(a.Lo))
}

// String writes a in decimal.
func (a Uint128) String() string { return a.Big().String() }

// Float64 returns the nearest float64.
func (a Uint128) Float64() float64 { return float64(a.Hi)*(1<<64) + float64(a.Lo) }

// FromBig is the inverse of Big; the error says that x does not fit.
func FromBig(x *big.Int) (Uint128, error) {
	if x.Sign() < 0 || x.BitLen() > 128 {
		return Uint128{}, fmt.Errorf("count %v does not fit 128 bits", x)
	}
	lo := new(big.Int).And(x, new(big.Int).SetUint64(^uint64(0)))
	return Uint128{new(big.Int).Rsh(x, 64).Uint64(), lo.Uint64()}, nil
}
