package setops

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkLists compares every list operation on a and b with answers from a map,
// in all the ways dst may lie.
func checkLists(t rapid.TB, a, b []uint32) {
	t.Helper()
	inB := make(map[uint32]bool, len(b))
	for _, v := range b {
		inB[v] = true
	}
	var both, only []uint32
	for _, v := range a {
		if inB[v] {
			both = append(both, v)
		} else {
			only = append(only, v)
		}
	}
	a0, b0 := slices.Clone(a), slices.Clone(b)

	if got := IntersectCount(a, b); got != len(both) {
		t.Fatalf("IntersectCount = %d, want %d\na %v\nb %v", got, len(both), a, b)
	}
	for _, c := range []struct {
		name string
		op   func(dst, a, b []uint32) int
		need int
		want []uint32
		over func(a, b []uint32) []uint32 // nil: dst is apart from both
	}{
		{"Intersect", Intersect, min(len(a), len(b)), both, nil},
		{"Intersect over a", Intersect, 0, both, func(a, b []uint32) []uint32 { return a }},
		{"Intersect over b", Intersect, 0, both, func(a, b []uint32) []uint32 { return b }},
		{"Difference", Difference, len(a), only, nil},
		{"Difference over a", Difference, 0, only, func(a, b []uint32) []uint32 { return a }},
	} {
		// Each list gets a guard behind it, so that a store outside shows.
		ga, gb := guarded(a0), guarded(b0)
		var dst, whole []uint32
		if c.over == nil {
			whole = guarded(make([]uint32, c.need))
			dst = whole[:0:c.need]
		} else {
			dst = c.over(ga[:len(a):len(a)], gb[:len(b):len(b)])
		}
		n := c.op(dst, ga[:len(a):len(a)], gb[:len(b):len(b)])
		if got := dst[:n]; !slices.Equal(got, c.want) {
			t.Fatalf("%s = %v, want %v\na %v\nb %v", c.name, got, c.want, a0, b0)
		}
		for _, g := range [][]uint32{ga, gb, whole} {
			if g != nil && !guardIntact(g) {
				t.Fatalf("%s wrote behind a slice\na %v\nb %v", c.name, a0, b0)
			}
		}
		if !overlaps(dst, ga) && !slices.Equal(ga[:len(a)], a0) {
			t.Fatalf("%s changed a\na %v\nb %v", c.name, a0, b0)
		}
		if !overlaps(dst, gb) && !slices.Equal(gb[:len(b)], b0) {
			t.Fatalf("%s changed b\na %v\nb %v", c.name, a0, b0)
		}
	}
}

const guardLen, guardValue = 40, 0xDEADBEEF

func guarded(s []uint32) []uint32 {
	g := make([]uint32, len(s)+guardLen)
	copy(g, s)
	for i := len(s); i < len(g); i++ {
		g[i] = guardValue
	}
	return g
}

func guardIntact(g []uint32) bool {
	for _, v := range g[len(g)-guardLen:] {
		if v != guardValue {
			return false
		}
	}
	return true
}

func overlaps(dst, s []uint32) bool {
	return cap(dst) > 0 && len(s) > 0 && &dst[:1][0] == &s[0]
}

// lists draws two lists whose lengths are mostly near block boundaries, and whose overlap goes
// from none to full. Their values lie in a window anywhere in the range of uint32, often at one
// of its ends.
func lists(t *rapid.T) (a, b []uint32) {
	length := rapid.OneOf(
		rapid.IntRange(0, 20),
		rapid.SampledFrom([]int{7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65}),
		rapid.IntRange(0, 300),
		rapid.SampledFrom([]int{1000, 3000}),
	)
	la, lb := length.Draw(t, "len a"), length.Draw(t, "len b")
	spread := rapid.SampledFrom([]int{1, 2, 3, 10, 1000}).Draw(t, "spread")
	width := uint64(max(la, lb, 1) * spread)
	base := rapid.SampledFrom([]uint64{
		0, 1, 1<<31 - width/2, 1<<32 - width, uint64(rapid.Uint32Range(0, 1<<31).Draw(t, "anywhere")),
	}).Draw(t, "base")
	seed := rapid.Uint64().Draw(t, "seed")
	skew := rapid.SampledFrom([]uint64{0, width / 2, width}).Draw(t, "skew") // b may sit higher
	a = pick(&seed, la, base, width)
	b = pick(&seed, lb, min(base+skew, 1<<32-width), width)
	return a, b
}

// pick returns n different values from [base, base+width), ascending.
func pick(seed *uint64, n int, base, width uint64) []uint32 {
	out := make([]uint32, 0, n)
	for i := uint64(0); i < width && len(out) < n; i++ {
		// Selection sampling: Knuth, TAOCP 2, 3.4.2, algorithm S.
		*seed = *seed*6364136223846793005 + 1442695040888963407
		r, _ := bits.Mul64(*seed, width-i)
		if r < uint64(n-len(out)) {
			out = append(out, uint32(base+i))
		}
	}
	return out
}

func TestListsProperty(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := lists(t)
			checkLists(t, a, b)
			checkLists(t, a, a)
		})
	})
}

// TestListsBoundaries goes through all pairs of short lengths for a few ways
// two lists can lie to each other, so that every tail of every kernel runs.
func TestListsBoundaries(t *testing.T) {
	ramp := func(n int, start, step uint32) []uint32 {
		s := make([]uint32, n)
		for i := range s {
			s[i] = start + uint32(i)*step
		}
		return s
	}
	const top = 0xFFFFFFFF
	eachLevel(t, func(t *testing.T) {
		for la := range 50 {
			for lb := range 50 {
				checkLists(t, ramp(la, 0, 1), ramp(lb, 0, 1))    // equal as far as they go
				checkLists(t, ramp(la, 0, 2), ramp(lb, 0, 3))    // every third
				checkLists(t, ramp(la, 0, 2), ramp(lb, 1, 2))    // interleaved, disjoint
				checkLists(t, ramp(la, 0, 1), ramp(lb, 1000, 1)) // all before
				checkLists(t, ramp(la, 0, 40), ramp(lb, 100, 1)) // b inside one gap
				checkLists(t, ramp(la, 1<<31-20, 1), ramp(lb, 1<<31-30, 2))
				if la > 0 && lb > 0 { // both end at the largest value
					checkLists(t, ramp(la, top-uint32(la-1), 1), ramp(lb, top-2*uint32(lb-1), 2))
				}
			}
		}
	})
}

// TestListsRatios crosses the threshold between merging and galloping.
func TestListsRatios(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		seed := uint64(1)
		for _, short := range []int{1, 2, 7, 8, 9, 30} {
			for _, ratio := range []int{2, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 200} {
				for _, base := range []uint64{0, 1<<32 - 50000} {
					n := short * ratio
					a, b := pick(&seed, short, base, 50000), pick(&seed, n, base, 50000)
					sub := pick(&seed, short, 0, uint64(n))
					for i := range sub {
						sub[i] = b[sub[i]]
					}
					checkLists(t, a, b)
					checkLists(t, b, a)
					checkLists(t, sub, b)
					checkLists(t, b, sub)
				}
			}
		}
	})
}

// TestListsLong covers the lists that are cut into pieces. Of the first pair, one list's
// second piece is a value, which the other list has in its last.
func TestListsLong(t *testing.T) {
	const piece = 1 << 15
	one, other := make([]uint32, piece+1), make([]uint32, 3*piece)
	for i := range other {
		other[i] = uint32(i)
	}
	copy(one, other)
	one[piece] = 3*piece - 1
	eachLevel(t, func(t *testing.T) {
		checkLists(t, one, other)
		checkLists(t, other, one)
		seed := uint64(7)
		for _, n := range []int{1<<16 + 5, 200_000} {
			a, b := pick(&seed, n, 1<<31-uint64(n), 2*uint64(n)), pick(&seed, n/2, 1<<31-uint64(n), 2*uint64(n))
			checkLists(t, a, b)
			checkLists(t, b, a)
			checkLists(t, a, a)
		}
	})
}

func FuzzLists(f *testing.F) {
	f.Add([]byte{}, []byte{}, uint32(0))
	f.Add(bytes.Repeat([]byte{0, 1}, 40), bytes.Repeat([]byte{1, 0}, 70), uint32(0xFFFFFF00))
	f.Add([]byte{3, 9, 255}, bytes.Repeat([]byte{0}, 200), uint32(1<<31-20))
	f.Fuzz(func(t *testing.T, da, db []byte, start uint32) {
		// Bytes are gaps between neighbours; a list ends where it would wrap.
		decode := func(gaps []byte) []uint32 {
			var s []uint32
			v := uint64(start)
			for _, g := range gaps {
				if v > 0xFFFFFFFF {
					break
				}
				s = append(s, uint32(v))
				v += uint64(g) + 1
			}
			return s
		}
		a, b := decode(da), decode(db)
		old := active
		defer func() { active = old }()
		for l := levelPortable; l < numLevels; l++ {
			if supported(l) {
				active = l
				checkLists(t, a, b)
			}
		}
	})
}

func TestLowerBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := lists(t)
		for _, x := range append(b, 0, 1, 1<<31-1, 1<<31, 0xFFFFFFFE, 0xFFFFFFFF) {
			want, found := slices.BinarySearch(a, x)
			if got := LowerBound(a, x); got != want {
				t.Fatalf("LowerBound(%v, %d) = %d, want %d", a, x, got, want)
			}
			if got := Contains(a, x); got != found {
				t.Fatalf("Contains(%v, %d) = %v, want %v", a, x, got, found)
			}
			from := 0
			if want > 0 {
				from = rapid.IntRange(0, want).Draw(t, "from")
			}
			if got := gallopFrom(a, from, x); got != want {
				t.Fatalf("gallopFrom(%v, %d, %d) = %d, want %d", a, from, x, got, want)
			}
		}
	})
}

func TestBitmap(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 3000).Draw(t, "vertices")
			id := rapid.Uint32Range(0, uint32(n-1))
			members := rapid.SliceOf(id).Draw(t, "members")
			list := rapid.SliceOf(id).Draw(t, "list")
			in := map[uint32]bool{}
			for _, v := range members {
				in[v] = true
			}
			bm := NewBitmap(n)
			SetAll(bm, members)
			var yes, no []uint32
			for _, v := range list {
				if bm.Has(v) != in[v] {
					t.Fatalf("Has(%d) = %v", v, bm.Has(v))
				}
				if in[v] {
					yes = append(yes, v)
				} else {
					no = append(no, v)
				}
			}
			if got := CountBits(list, bm); got != len(yes) {
				t.Fatalf("CountBits = %d, want %d", got, len(yes))
			}
			check := func(name string, op func(dst, list []uint32, bm []uint64) int, want []uint32) {
				apart := guarded(make([]uint32, len(list)))
				k := op(apart[:0:len(list)], list, bm)
				over := guarded(list)
				k2 := op(over[:len(list)], over[:len(list)], bm)
				if !slices.Equal(apart[:k], want) || !slices.Equal(over[:k2], want) {
					t.Fatalf("%s = %v, in place %v, want %v", name, apart[:k], over[:k2], want)
				}
				if !guardIntact(apart) || !guardIntact(over) {
					t.Fatalf("%s wrote behind dst", name)
				}
			}
			check("FilterBits", FilterBits, yes)
			check("FilterNotBits", FilterNotBits, no)
			x := id.Draw(t, "x")
			bm.Set(x)
			if !bm.Has(x) {
				t.Fatal("Set")
			}
			bm.Clear(x)
			if bm.Has(x) {
				t.Fatal("Clear")
			}
			ClearAll(bm, members)
			for _, w := range bm {
				if w != 0 {
					t.Fatal("ClearAll left a bit")
				}
			}
		})
	})
}

// checkRows compares every row operation with a loop over the bits.
func checkRows(t rapid.TB, a, b []uint64) {
	t.Helper()
	bit := func(s []uint64, i int) bool { return s[i/64]>>(i%64)&1 != 0 }
	var nAnd, nNot int
	and, not := make([]uint64, len(a)), make([]uint64, len(a))
	for i := range 64 * len(a) {
		if !bit(a, i) {
			continue
		}
		if bit(b, i) {
			nAnd++
			and[i/64] |= 1 << (i % 64)
		} else {
			nNot++
			not[i/64] |= 1 << (i % 64)
		}
	}
	if got := AndCount(a, b); got != nAnd {
		t.Fatalf("AndCount = %d, want %d (%d words)", got, nAnd, len(a))
	}
	const guard = 0x5555AAAA5555AAAA
	withGuard := func(s []uint64) []uint64 {
		return append(slices.Clone(s), guard, guard, guard, guard, guard, guard, guard, guard)
	}
	for _, op := range []struct {
		name string
		f    func(dst, a, b []uint64) int
		n    int
		want []uint64
	}{{"And", And, nAnd, and}, {"AndNot", AndNot, nNot, not}} {
		for _, where := range []string{"apart", "a", "b"} {
			ga, gb := withGuard(a), withGuard(b)
			dst := withGuard(make([]uint64, len(a)))
			switch where {
			case "a":
				dst = ga
			case "b":
				dst = gb
			}
			n := op.f(dst[:len(a)], ga[:len(a)], gb[:len(a)])
			if n != op.n || !slices.Equal(dst[:len(a)], op.want) {
				t.Fatalf("%s over %s: %d, want %d (%d words)\n%x\n%x", op.name, where, n, op.n, len(a), dst, op.want)
			}
			if dst[len(a)] != guard || dst[len(a)+7] != guard {
				t.Fatalf("%s over %s wrote behind dst", op.name, where)
			}
		}
	}
}

func TestRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		seed := uint64(3)
		next := func() uint64 {
			seed = seed*6364136223846793005 + 1442695040888963407
			return seed ^ seed>>29
		}
		for n := range 300 {
			a, b := make([]uint64, n), make([]uint64, n)
			for i := range n {
				a[i], b[i] = next(), next()
			}
			checkRows(t, a, b)
			for i := range n {
				a[i], b[i] = ^uint64(0), ^uint64(0)
			}
			checkRows(t, a, b)
		}
		rapid.Check(t, func(t *rapid.T) {
			words := func(name string, n int) []uint64 {
				return rapid.SliceOfN(rapid.Uint64(), n, n).Draw(t, name)
			}
			n := rapid.IntRange(0, 140).Draw(t, "words")
			checkRows(t, words("a", n), words("b", n))
		})
	})
}

func FuzzRows(f *testing.F) {
	f.Add(bytes.Repeat([]byte{0xF0, 1, 2}, 800))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := len(data) / 16
		rows := make([]uint64, 2*n)
		for i := range rows {
			rows[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		old := active
		defer func() { active = old }()
		for l := levelPortable; l < numLevels; l++ {
			if supported(l) {
				active = l
				checkRows(t, rows[:n:n], rows[n:])
			}
		}
	})
}

func TestTooShortPanics(t *testing.T) {
	panics := func(name string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s did not panic", name)
			}
		}()
		f()
	}
	eachLevel(t, func(t *testing.T) {
		five, ten, twenty := make([]uint32, 5), make([]uint32, 10), make([]uint32, 20)
		for i := range twenty {
			twenty[i] = uint32(i)
		}
		copy(ten, twenty)
		panics("Intersect", func() { Intersect(five[:5:5], ten, twenty) })
		panics("Difference", func() { Difference(five[:5:5], ten, twenty) })
		panics("CountBits", func() { CountBits([]uint32{1, 2, 3, 64}, make([]uint64, 1)) })
		panics("CountBits", func() { CountBits(append(twenty, 0xFFFFFFFF), make([]uint64, 1)) })
		panics("FilterBits", func() { FilterBits(ten, []uint32{64}, make([]uint64, 1)) })
		for _, n := range []int{2, 40} {
			a, b := make([]uint64, n), make([]uint64, n-1)
			panics("AndCount", func() { AndCount(a, b) })
			panics("And", func() { And(b, a, a) })
			panics("And", func() { And(a, a, b) })
			panics("AndNot", func() { AndNot(b, a, a) })
			panics("AndNot", func() { AndNot(a, a, b) })
		}
	})
}
