package interp

import (
	"math/big"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
)

// TestWide compares arithmetic of 128 bits with that of big numbers.
func TestWide(t *testing.T) {
	mod := new(big.Int).Lsh(big.NewInt(1), 128)
	values := []Value{{}, {N: 1}, {N: 3}, {N: 1<<63 + 5}, {N: ^uint64(0)}, {Hi: 1}, {N: 7, Hi: 1 << 63}, {N: ^uint64(0), Hi: ^uint64(0)}, {N: 0x0123456789abcdef, Hi: 0xfedcba9876543210}}
	shifts := []Value{{}, {N: 1}, {N: 63}, {N: 64}, {N: 65}, {N: 100}, {N: 127}}
	for op, of := range map[kir.Op]func(z, x, y *big.Int) *big.Int{
		kir.Add: (*big.Int).Add, kir.Sub: (*big.Int).Sub, kir.Mul: (*big.Int).Mul, kir.Div: (*big.Int).Quo, kir.Mod: (*big.Int).Rem,
		kir.BitAnd: (*big.Int).And, kir.BitOr: (*big.Int).Or,
		kir.Shl: func(z, x, y *big.Int) *big.Int { return z.Lsh(x, uint(y.Uint64())) },
		kir.Shr: func(z, x, y *big.Int) *big.Int { return z.Rsh(x, uint(y.Uint64())) },
	} {
		right := values
		if op == kir.Shl || op == kir.Shr {
			right = shifts
		}
		for _, a := range values {
			for _, b := range right {
				want := new(big.Int)
				if b.N|b.Hi != 0 || op != kir.Div && op != kir.Mod { // division by zero is zero
					of(want, toBig(a), toBig(b))
				}
				if got := toBig(wide(op)(a, b)); got.Cmp(want.Mod(want, mod)) != 0 {
					t.Errorf("%v %v %v is %v, want %v", toBig(a), op, toBig(b), got, want)
				}
			}
		}
	}
}
