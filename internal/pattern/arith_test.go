package pattern

import (
	"math"
	"math/big"
	"testing"
)

func TestIntArithmetic(t *testing.T) {
	edges := []int64{0, 1, -1, 2, -2, 3, 1 << 31, -1 << 31, 1<<32 + 1, 3037000500, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	for _, x := range edges {
		for _, y := range edges {
			a, b := big.NewInt(x), big.NewInt(y)
			for op, want := range map[Op]*big.Int{OpAdd: new(big.Int).Add(a, b), OpSub: new(big.Int).Sub(a, b), OpMul: new(big.Int).Mul(a, b)} {
				z, ok := IntArithmetic(op, x, y)
				if ok != want.IsInt64() || ok && z != want.Int64() {
					t.Errorf("op %d of %d and %d: %d, %v; want %v", op, x, y, z, ok, want)
				}
			}
		}
	}
}
