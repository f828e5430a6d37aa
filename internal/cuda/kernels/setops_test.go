package kernels_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// setopsText does every operation on pairs of lists, a group a pair.
const setopsText = `
#include "base/setops.cuh"

struct Case { u64 a, b, out; u32 na, nb, lo, hi; };
struct Answer { u32 and_, minus, and_count, minus_count, filtered, filter_count, bits_and, bits_minus, bits_count, slice_at, slice_n, copied, in, merged; };
struct P { const u32* lists; u32* out; const Case* cases; Answer* answers; const u64* words; u64 n; };

template <int N> DEV void all(const P& p) {
  Group<N> g;
  u64 first = ((u64)block() * threads() + thread()) / N, step = (u64)blocks() * threads() / N;
  for (u64 i = first; i < p.n; i += step) {
    Case c = p.cases[i];
    Set a = {p.lists + c.a, c.na}, b = {p.lists + c.b, c.nb};
    u32* out = p.out + c.out;
    u32 room = c.na + 32;
    Answer r;
    r.and_ = intersect(g, out, a, b);
    r.minus = subtract(g, out + room, a, b);
    r.and_count = intersect_count(g, a, b);
    r.minus_count = subtract_count(g, a, b);
    auto odd = [](u32 x) { return x % 2 == 1; };
    r.filtered = filter(g, out + 2 * room, a, odd);
    r.filter_count = count_if(g, a, odd);
    r.bits_and = intersect(g, out + 3 * room, a, p.words);
    r.bits_minus = subtract(g, out + 4 * room, a, p.words);
    r.bits_count = intersect_count(g, a, p.words);
    Set s = slice(g, a, c.lo, c.hi), t = slice(a, c.lo, c.hi);
    r.slice_at = s.p == t.p ? (u32)(s.p - a.p) : ~0u;
    r.slice_n = s.n == t.n ? s.n : ~0u;
    // In place: a copy of a becomes a - b, one of b becomes the intersection.
    r.copied = copy(g, out + 5 * room, a);
    Set mine = {out + 5 * room, r.copied};
    r.copied = subtract(g, out + 5 * room, mine, b);
    copy(g, out + 6 * room, b);
    Set yours = {out + 6 * room, c.nb};
    r.in = intersect(g, out + 6 * room, a, yours);
    // What of a is not in b, all of b, and nothing of what both have: the union.
    const Set both = {out, r.and_};
    const Piece pieces[] = {{a, both}, {b, Set{0, 0}}, {both, both}};
    r.merged = merge(g, out + 6 * room + c.nb, pieces);
    if (g.leader()) p.answers[i] = r;
  }
}
WEFT_KERNEL(g1, P) { all<1>(p); }
WEFT_KERNEL(g2, P) { all<2>(p); }
WEFT_KERNEL(g4, P) { all<4>(p); }
WEFT_KERNEL(g8, P) { all<8>(p); }
WEFT_KERNEL(g16, P) { all<16>(p); }
WEFT_KERNEL(g32, P) { all<32>(p); }
`

type setCase struct {
	A, B, Out      uint64
	NA, NB, Lo, Hi uint32
}

type setAnswer struct {
	And, Minus, AndCount, MinusCount, Filtered, FilterCount, BitsAnd, BitsMinus, BitsCount, SliceAt, SliceN, Copied, In, Merged uint32
}

// setUniverse bounds the ids of the lists.
const setUniverse = 4096

// randomSet is n ids below most, ascending.
func randomSet(r *rand.Rand, n, most int) []uint32 {
	var s []uint32
	for _, x := range r.Perm(most)[:min(n, most)] {
		s = append(s, uint32(x))
	}
	slices.Sort(s)
	return s
}

// setPairs are lists of all sizes around those of groups, dense and sparse, far
// apart and equal.
func setPairs(r *rand.Rand) (pairs [][2][]uint32) {
	sizes := []int{0, 1, 2, 3, 5, 8, 15, 31, 32, 33, 63, 64, 65, 100, 500, 2000}
	if !long.Asked() {
		sizes = []int{0, 1, 3, 31, 33, 64, 500}
	}
	for _, m := range sizes {
		for _, n := range sizes {
			most := []int{2 * max(m, n, 1), setUniverse}[r.IntN(2)]
			pairs = append(pairs, [2][]uint32{randomSet(r, m, most), randomSet(r, n, most)})
		}
	}
	s := randomSet(r, 300, setUniverse)
	pairs = append(pairs, [2][]uint32{s, s}, [2][]uint32{s[:100], s[200:]}, [2][]uint32{s[200:], s[:100]}, [2][]uint32{s[100:101], s})
	return pairs
}

func TestSetOperations(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		r := rand.New(rand.NewPCG(device.Seed(), 1))
		pairs := setPairs(r)
		var lists []uint32
		var cases []setCase
		room := uint64(0)
		for _, p := range pairs {
			c := setCase{A: uint64(len(lists)), NA: uint32(len(p[0])), NB: uint32(len(p[1])), Out: room}
			lists = append(lists, p[0]...)
			c.B = uint64(len(lists))
			lists = append(lists, p[1]...)
			c.Lo, c.Hi = r.Uint32N(setUniverse), r.Uint32N(setUniverse)
			if r.IntN(4) == 0 {
				c.Lo, c.Hi = 0, ^uint32(0)
			}
			room += 6*uint64(c.NA+32) + uint64(c.NB) + uint64(c.NA+c.NB)
			cases = append(cases, c)
		}
		words := make([]uint64, setUniverse/64)
		for i := range words {
			words[i] = r.Uint64()
		}
		for _, n := range []int{1, 2, 4, 8, 16, 32} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				answers := make([]setAnswer, len(cases))
				out := make([]uint32, room)
				err := d.Do(func(c *cuda.Context) error {
					return launch(c, setopsText, fmt.Sprintf("g%d", n), 3, 64, 0, func(b *buffers) any {
						return &struct{ Lists, Out, Cases, Answers, Words, N uint64 }{
							b.in(raw(lists)), b.out(raw(out)), b.in(raw(cases)), b.out(raw(answers)), b.in(raw(words)), uint64(len(cases)),
						}
					})
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, c := range cases {
					checkSets(t, c, pairs[i][0], pairs[i][1], words, out, answers[i])
				}
			})
		}
	})
}

func checkSets(t *testing.T, c setCase, a, b []uint32, words []uint64, out []uint32, got setAnswer) {
	t.Helper()
	only := func(keep func(x uint32) bool) (s []uint32) {
		for _, x := range a {
			if keep(x) {
				s = append(s, x)
			}
		}
		return s
	}
	inB := func(x uint32) bool { _, ok := slices.BinarySearch(b, x); return ok }
	bit := func(x uint32) bool { return words[x/64]>>(x%64)&1 != 0 }
	both := only(inB)
	minus := only(func(x uint32) bool { return !inB(x) })
	odd := only(func(x uint32) bool { return x%2 == 1 })
	set := only(bit)
	clear := only(func(x uint32) bool { return !bit(x) })
	lo, _ := slices.BinarySearch(a, c.Lo)
	hi, _ := slices.BinarySearch(a, max(c.Lo, c.Hi))
	room := uint64(c.NA + 32)
	for k, w := range []struct {
		name string
		want []uint32
		n    uint32
	}{
		{"intersect", both, got.And},
		{"subtract", minus, got.Minus},
		{"filter", odd, got.Filtered},
		{"intersect with bits", set, got.BitsAnd},
		{"subtract bits", clear, got.BitsMinus},
		{"subtract in place", minus, got.Copied},
		{"intersect in place", both, got.In},
	} {
		at := c.Out + uint64(k)*room
		if int(w.n) != len(w.want) || !slices.Equal(out[at:at+uint64(w.n)], w.want) {
			t.Errorf("%s of %v and %v: %d elements, want %v", w.name, a, b, w.n, w.want)
		}
	}
	union := slices.Concat(minus, b)
	slices.Sort(union)
	if at := c.Out + 6*room + uint64(c.NB); int(got.Merged) != len(union) || !slices.Equal(out[at:at+uint64(got.Merged)], union) {
		t.Errorf("merge of %v and %v: %d elements, want %v", a, b, got.Merged, union)
	}
	counts := [][2]uint32{
		{got.AndCount, uint32(len(both))}, {got.MinusCount, uint32(len(minus))}, {got.FilterCount, uint32(len(odd))},
		{got.BitsCount, uint32(len(set))}, {got.SliceAt, uint32(lo)}, {got.SliceN, uint32(hi - lo)},
	}
	for k, n := range counts {
		if n[0] != n[1] {
			t.Errorf("count %d of %d and %d elements: %d, want %d", k, len(a), len(b), n[0], n[1])
		}
	}
}

func TestIncludes(t *testing.T) {
	names := map[string]bool{}
	for _, name := range kernels.Names() {
		names[name] = true
	}
	if len(names) < 50 {
		t.Errorf("%d files", len(names))
	}
	for name := range names {
		text := kernels.Source(name)
		if text == "" {
			t.Errorf("%s is empty", name)
		}
		for included := range kernels.Includes(text) {
			if !names[included] {
				t.Errorf("%s includes %s, which is not a file", name, included)
			}
		}
	}
	got := slices.Sorted(maps.Keys(kernels.Includes("int x;\n#include \"membership/bits.cuh\"\n#include \"mine.cuh\"\n// #include \"stack/stack.cuh\"\n#include \"")))
	if !slices.Contains(got, "base/device.cuh") || slices.Contains(got, "mine.cuh") || slices.Contains(got, "stack/stack.cuh") {
		t.Errorf("membership/bits.cuh includes %v", got)
	}
}
