package kernels_test

import (
	"testing"
)

func TestVotes(t *testing.T) {
	type votes struct{ Ballot, Any, All, Match, MatchWide uint32 }
	in := asks(random(), someLanes)
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]votes, len(in)))
		b.run("votes", someBlocks, someThreads, 0, &asking{In: from.Ptr, Out: out.Ptr, N: someRounds})
		for i, got := range down[votes](b, out, len(in)) {
			want := votes{All: 1}
			lanesOf(in, i, func(l int, a ask) {
				want.Ballot |= a.X & 1 << l
				want.Any |= a.X & 1
				want.All &= a.X & 1
				if a.X == in[i].X {
					want.Match |= 1 << l
				}
				if a.Wide == in[i].Wide {
					want.MatchWide |= 1 << l
				}
			})
			if got != want {
				b.Fatalf("lane %d: %+v, want %+v", i, got, want)
			}
		}
		b.must(b.c.Free(from))
	})
}

func TestReductions(t *testing.T) {
	type sums struct {
		AddWide                        uint64
		Add, Min, Max, Or, And, Active uint32
	}
	in := asks(random(), someLanes)
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]sums, len(in)))
		b.run("sums", someBlocks, someThreads, 0, &asking{In: from.Ptr, Out: out.Ptr, N: someRounds})
		for i, got := range down[sums](b, out, len(in)) {
			want := sums{Min: ^uint32(0), And: ^uint32(0), Active: got.Active}
			lanesOf(in, i, func(_ int, a ask) {
				want.AddWide += a.Wide
				want.Add += a.X
				want.Min = min(want.Min, a.X)
				want.Max = max(want.Max, a.X)
				want.Or |= a.X
				want.And &= a.X
			})
			if got != want {
				b.Fatalf("lane %d: %+v, want %+v", i, got, want)
			}
			if got.Active>>(i%32)&1 == 0 {
				b.Fatalf("lane %d is not among the active %#x", i%32, got.Active)
			}
		}
		b.must(b.c.Free(from))
	})
}

func TestShuffles(t *testing.T) {
	type shuffled struct {
		Wide, Pointer      uint64
		WideSigned         int64
		WideFloat          float64
		X, Up, Down, Cross uint32
		XSigned            int32
		XFloat             float32
	}
	in := asks(random(), someLanes)
	const round = someBlocks * someThreads
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]shuffled, len(in)))
		b.run("shuffles", someBlocks, someThreads, 0, &asking{In: from.Ptr, Out: out.Ptr, N: someRounds})
		for i, got := range down[shuffled](b, out, len(in)) {
			warp, l, r, w := i/32*32, i%32, i/round, int(in[i].Width)
			low, high := l/w*w, l/w*w+w-1
			of := in[warp+int(in[i].By)]
			at := func(lane int) uint32 {
				if lane < low || lane > high {
					lane = l
				}
				return in[warp+lane].X
			}
			want := shuffled{
				Wide: of.Wide, Pointer: of.Wide, WideSigned: int64(of.Wide), WideFloat: float64(of.X) / 3,
				X: of.X, Up: at(l - r%5), Down: at(l + r%5), Cross: at(l ^ r%w),
				XSigned: int32(of.X), XFloat: float32(of.X),
			}
			if got != want {
				b.Fatalf("lane %d: %+v, want %+v", i, got, want)
			}
		}
		b.must(b.c.Free(from))
	})
}

func TestBranches(t *testing.T) {
	onEach(t, func(b *bench) {
		const blocks, threads = 5, 64
		out := up(b, make([]uint32, blocks*threads))
		b.run("branches", blocks, threads, 0, &struct{ Out uint64 }{out.Ptr})
		for i, got := range down[uint32](b, out, blocks*threads) {
			l, want := i%32, 100000*31
			switch l % 3 {
			case 0:
				for k := range 10 {
					for m := 0; m < 32; m += 3 {
						if m > k {
							want++
						}
					}
				}
			case 1:
				for k := range 7 {
					want += (1 + 3*(k%10)) * k
				}
				if l > 15 {
					want += 1000 * 6 // 16, 19, …, 31
				}
			case 2:
				for m := 2; m < 32; m += 3 {
					want += 5 * m
				}
			}
			if int(got) != want {
				b.Fatalf("lane %d: %d, want %d", l, got, want)
			}
		}
	})
}

func TestBarriers(t *testing.T) {
	r := random()
	const blocks, threads, rounds, n = 7, 160, 9, 128
	in := make([]uint32, blocks*rounds*n)
	for i := range in {
		in[i] = r.Uint32()
	}
	onEach(t, func(b *bench) {
		from, out := up(b, in), up(b, make([]uint32, blocks*n))
		b.run("barriers", blocks, threads, 4*n, &asking{In: from.Ptr, Out: out.Ptr, N: rounds})
		for i, got := range down[uint32](b, out, blocks*n) {
			block, t := i/n, i%n
			var want uint32
			for r := range rounds {
				row := in[(block*rounds+r)*n:][:n]
				var or, count uint32
				for _, v := range row {
					count += v & 1
					if v%97 == 0 {
						or = 1
					}
				}
				want = want*31 + row[n-1-t] + row[(t+1)%n]
				want = want*31 + or
				want = want*31 + count
			}
			if got != want {
				b.Fatalf("block %d thread %d: %d, want %d", block, t, got, want)
			}
		}
		b.must(b.c.Free(from))
	})
}
