package kernels_test

import (
	"math/big"
	"math/bits"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
)

func TestBits(t *testing.T) {
	type found struct {
		MulHi, SquareHi, SquareLo, Quotient                  uint64
		Popc, PopcWide, Clz, ClzWide, Ctz, CtzWide, Ffs, FFS uint32
	}
	in := asks(random(), 960)
	for i := range 64 {
		in[i].Wide, in[i].X = 1<<i, 1<<(i%32)
		in[64+i].Wide, in[64+i].X = 1<<i-1, 1<<(i%32)-1
	}
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]found, len(in)))
		b.run("bits", 3, 64, 0, &asking{In: from.Ptr, Out: out.Ptr, N: uint32(len(in))})
		for i, got := range down[found](b, out, len(in)) {
			x, w := in[i].X, in[i].Wide
			var want found
			want.MulHi, _ = bits.Mul64(w, ^w)
			q := new(big.Int).SetUint64(w)
			q.Mul(q, q).Add(q, new(big.Int).SetUint64(uint64(x)))
			low := new(big.Int).And(q, new(big.Int).SetUint64(^uint64(0)))
			want.SquareLo = low.Uint64()
			want.SquareHi = new(big.Int).Rsh(q, 64).Uint64()
			q.Div(q, new(big.Int).SetUint64(uint64(x)+3))
			want.Quotient = q.And(q, new(big.Int).SetUint64(^uint64(0))).Uint64()
			want.Popc, want.PopcWide = uint32(bits.OnesCount32(x)), uint32(bits.OnesCount64(w))
			want.Clz, want.ClzWide = uint32(bits.LeadingZeros32(x)), uint32(bits.LeadingZeros64(w))
			want.Ctz, want.CtzWide = 99, 99
			if x != 0 {
				want.Ctz = uint32(bits.TrailingZeros32(x))
			}
			if w != 0 {
				want.CtzWide = uint32(bits.TrailingZeros64(w))
			}
			want.Ffs, want.FFS = want.Ctz, want.CtzWide
			if got != want {
				b.Fatalf("%#x, %#x: %+v, want %+v", x, w, got, want)
			}
		}
		b.must(b.c.Free(from))
	})
}

func TestAtomics(t *testing.T) {
	const blocks, threads, rounds, n = 12, 64, 5, 12 * 64
	onEach(t, func(b *bench) {
		const all = n * rounds
		narrow0, wide0 := make([]uint32, 9), make([]uint64, 11)
		narrow0[2], wide0[2] = ^uint32(0), ^uint64(0)
		narrow0[5], wide0[5] = ^uint32(0), ^uint64(0)
		narrow, wide, seen := up(b, narrow0), up(b, wide0), up(b, make([]uint32, all))
		b.run("atomics", blocks, threads, 16, &struct {
			Narrow, Wide, Seen uint64
			Rounds, _          uint32
		}{Narrow: narrow.Ptr, Wide: wide.Ptr, Seen: seen.Ptr, Rounds: rounds})
		for i, times := range down[uint32](b, seen, all) {
			if times != 1 {
				b.Fatalf("ticket %d was given %d times", i, times)
			}
		}
		sum := uint64(all) * (all + 1) / 2
		var or uint32
		var orWide uint64
		for x := uint32(1); x <= all; x++ {
			or |= x & 0xff0
			orWide |= uint64(x) << 20
		}
		got, gotWide := down[uint32](b, narrow, 9), down[uint64](b, wide, 11)
		want := []uint32{all, uint32(-sum), 1, all, or, ^or, got[6], uint32(sum) - got[6], 2 * all}
		wantWide := []uint64{sum << 20, -(sum << 20), 1 << 20, all << 20, orWide, ^orWide, gotWide[6], sum<<20 - gotWide[6], all << 33, sum << 20, all}
		for i := range want {
			if got[i] != want[i] {
				b.Errorf("32 bits, cell %d: %d, want %d", i, got[i], want[i])
			}
		}
		for i := range wantWide {
			if gotWide[i] != wantWide[i] {
				b.Errorf("64 bits, cell %d: %d, want %d", i, gotWide[i], wantWide[i])
			}
		}
	})
}

func TestSystemAtomics(t *testing.T) {
	const blocks, threads, n = 4, 64, 4 * 64
	onEach(t, func(b *bench) {
		pinned, err := b.c.Pinned(9*4 + 4 + 9*8)
		b.must(err)
		narrow, err := cuda.View[uint32](pinned, 0, 9)
		b.must(err)
		wide, err := cuda.View[uint64](pinned, 40, 9)
		b.must(err)
		narrow[2], wide[2] = ^uint32(0), ^uint64(0)
		narrow[5], wide[5] = ^uint32(0), ^uint64(0)
		b.run("systems", blocks, threads, 0, &struct{ Narrow, Wide uint64 }{pinned.Ptr(), pinned.Ptr() + 40})
		const sum, or = n * (n + 1) / 2, 2*n - 1
		want := []uint32{sum, -sum & (1<<32 - 1), 1, n, or, ^uint32(or), narrow[6], sum - narrow[6], narrow[8]}
		for i := range want {
			if narrow[i] != want[i] {
				b.Errorf("32 bits, cell %d: %d, want %d", i, narrow[i], want[i])
			}
		}
		wantWide := []uint64{sum << 32, 1<<64 - sum<<32, 1 << 32, n << 32, or << 32, ^uint64(or << 32), wide[6], sum<<32 - wide[6], wide[8]}
		for i := range wantWide {
			if wide[i] != wantWide[i] {
				b.Errorf("64 bits, cell %d: %d, want %d", i, wide[i], wantWide[i])
			}
		}
		// The first compare finds 0, whatever the order.
		if narrow[8] == 0 || narrow[8] > n || wide[8] == 0 || wide[8] > n {
			b.Errorf("compare and swap left %d and %d", narrow[8], wide[8])
		}
		b.must(pinned.Free())
	})
}

func TestLoads(t *testing.T) {
	r := random()
	in := make([]uint32, 4000)
	for i := range in {
		in[i] = r.Uint32()
	}
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]uint32, len(in)/4))
		b.run("loads", 8, 128, 0, &asking{In: from.Ptr, Out: out.Ptr, N: uint32(len(in))})
		for i, got := range down[uint32](b, out, len(in)/4) {
			want := in[4*i] + 3*in[4*i+1] + 5*in[4*i+2] + 7*in[4*i+3] + 11*in[2*i] + 13*in[2*i+1] + 17*in[i]
			if got != want {
				b.Fatalf("thread %d: %d, want %d", i, got, want)
			}
		}
		b.must(b.c.Free(from))
	})
}

func TestAsynchronousCopies(t *testing.T) {
	r := random()
	const threads, tiles = 64, 7
	in := make([]uint32, tiles*threads*7)
	for i := range in {
		in[i] = r.Uint32()
	}
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]uint64, threads))
		b.run("copies", 1, threads, 2*threads*28, &asking{In: from.Ptr, Out: out.Ptr, N: tiles})
		for t, got := range down[uint64](b, out, threads) {
			var want uint64
			for tile := range tiles {
				row := in[tile*threads*7:][:threads*7]
				for k := range 7 {
					want = want*31 + uint64(row[(t*7+k*13)%len(row)])
				}
			}
			if got != want {
				b.Fatalf("thread %d: %d, want %d", t, got, want)
			}
		}
		b.must(b.c.Free(from))
	})
}

func TestFloats(t *testing.T) {
	in := []float64{0, 1, 2.5, 1e9, 123456789.125, 7}
	onEach(t, func(b *bench) {
		from, out, narrow := up(b, in), up(b, make([]float64, len(in))), up(b, make([]float32, len(in)))
		b.run("floats", 1, 32, 0, &struct {
			In, Out, Narrow uint64
			N, _            uint32
		}{In: from.Ptr, Out: out.Ptr, Narrow: narrow.Ptr, N: uint32(len(in))})
		gotNarrow := down[float32](b, narrow, len(in))
		for i, got := range down[float64](b, out, len(in)) {
			x := in[i]
			if want := (x-1)/3 + float64(uint64(x)); got != want {
				b.Errorf("%v: %v, want %v", x, got, want)
			}
			if want := float32(x) / 3; gotNarrow[i] != want {
				b.Errorf("%v: %v, want %v", x, gotNarrow[i], want)
			}
		}
		b.must(b.c.Free(from))
	})
}
