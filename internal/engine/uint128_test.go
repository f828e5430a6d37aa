package engine_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
)

// numbers of any length, the lengths about as likely as each other.
var numbers = rapid.Custom(func(t *rapid.T) engine.Uint128 {
	x := engine.Uint128{Hi: rapid.Uint64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
	b := x.Big()
	x, _ = engine.FromBig(b.Rsh(b, uint(rapid.IntRange(0, 128).Draw(t, "shift"))))
	return x
})

// TestOverflow compares sums, products and quotients, and whether they pass 128
// bits, with big integers.
func TestOverflow(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	check := func(t *rapid.T, what string, got engine.Uint128, over bool, want *big.Int) {
		if over != (want.Cmp(limit) >= 0) {
			t.Fatalf("%s = %v: over is %v", what, want, over)
		}
		if !over && got.Big().Cmp(want) != 0 {
			t.Fatalf("%s = %v, want %v", what, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		sum, over := a.AddOver(b)
		check(t, "sum", sum, over, new(big.Int).Add(a.Big(), b.Big()))
		product, over := a.MulOver(b)
		check(t, "product", product, over, new(big.Int).Mul(a.Big(), b.Big()))

		d := rapid.Uint64Range(1, 1<<40).Draw(t, "d")
		x := rapid.Uint64().Draw(t, "x")
		ax := new(big.Int).Mul(a.Big(), new(big.Int).SetUint64(x))
		quotient := new(big.Int).Quo(ax, new(big.Int).SetUint64(d))
		q, over := a.MulDiv(x, d)
		check(t, "quotient", q, over, quotient)
	})
}
