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
			wants := map[Op]*big.Int{OpAdd: new(big.Int).Add(a, b), OpSub: new(big.Int).Sub(a, b), OpMul: new(big.Int).Mul(a, b)}
			if y != 0 {
				wants[OpDiv], wants[OpMod] = new(big.Int).QuoRem(a, b, new(big.Int))
			}
			for op, want := range wants {
				z, ok := IntArithmetic(op, x, y)
				if ok != want.IsInt64() || ok && z != want.Int64() {
					t.Errorf("op %d of %d and %d: %d, %v; want %v", op, x, y, z, ok, want)
				}
			}
		}
	}
}

// TestCompareIntFloat compares with exact fractions, about the integers that a
// float64 cannot hold and at the ends of both ranges.
func TestCompareIntFloat(t *testing.T) {
	var ints []int64
	var floats []float64
	for _, x := range []int64{0, 1, 3, 1 << 52, 1 << 53, 1<<53 + 2, 1 << 54, 1 << 62, 1<<62 + 1<<10, math.MaxInt64 - 2} {
		for d := int64(-2); d <= 2; d++ {
			ints = append(ints, x+d, -x-d)
		}
		f := float64(x)
		floats = append(floats, f, -f, f+0.5, f-0.5, math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1)), math.Nextafter(-f, math.Inf(-1)))
	}
	ints = append(ints, math.MinInt64, math.MinInt64+1)
	floats = append(floats, math.Copysign(0, -1), 1<<63, -1<<63, math.Nextafter(-1<<63, math.Inf(-1)), 1e300, -1e300, math.Inf(1), math.Inf(-1))
	for _, x := range ints {
		if _, ok := CompareIntFloat(x, math.NaN()); ok {
			t.Errorf("%d has an order with NaN", x)
		}
		for _, y := range floats {
			want := new(big.Float).SetInt64(x).Cmp(big.NewFloat(y))
			if got, ok := CompareIntFloat(x, y); !ok || got != want {
				t.Errorf("%d and %v: %d, %v; want %d", x, y, got, ok, want)
			}
		}
	}
}
