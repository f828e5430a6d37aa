// Operations on sets: ascending lists of u32 without repeats, below 2^32 - 1.
//
// Lists of about one length are merged block by block, every value of one block
// against every value of the other (Schlegel, Willhalm and Lehner, ADMS 2011;
// the next blocks without branches: Inoue, Ohara and Taura, PVLDB 8(3), 2014);
// a far longer one is searched by doubling steps; and where it is a hub's, one
// bit of a bitmap is looked up for each value of the other. Results lie in
// memory that has the room that the operation says and meets no operand's: whole
// blocks are stored, but never behind that room.
#ifndef WEFT_SETOPS
#define WEFT_SETOPS
#include "weft.h"
#ifdef __AVX2__
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 7 && __GNUC__ <= 14
// The parts of immintrin.h that are needed here: all of it takes compilers ten
// times as long as a program.
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#else
#include <immintrin.h>
#endif
#endif

// A list, or a slice of one.
typedef struct {
  const u32 *p;
  u32 n;
  u32 hub; // not 0: the number of the hub whose list, or a slice of it, this is
} Set;

#define W_GALLOP 3 // log2 of how many times longer a list is to be searched
#ifndef W_HUB
#define W_HUB 3    // log2 of how many times longer a hub's list is to have a bitmap
#endif

// The bitmap of a hub's list, made when it is first wanted; null: there is no
// memory for it. See graph.h.
static const u64 *w_hub(const Graph *q, u32 hub);

// The bitmap of b, where that is to be asked for the elements of a.
#define W_ASK(q, a, b) ((b).hub && (b).n >> W_HUB >= (a).n ? w_hub(q, (b).hub) : 0)

// The number of elements of p[0 … n) below x.
static inline u32 w_lower(const u32 *p, u32 n, u32 x) {
  u32 lo = 0;
  while (n > 1) {
    const u32 half = n >> 1;
    lo += p[lo + half - 1] < x ? half : 0;
    n -= half;
  }
  return n == 1 ? lo + (p[lo] < x) : lo;
}

// The first place ≥ from of an element ≥ x, in time logarithmic in how far it is.
static inline u32 w_search(const u32 *p, u32 n, u32 from, u32 x) {
  u64 step = 1, lo = from;
  while (lo + step <= n && p[lo + step - 1] < x) {
    lo += step;
    step *= 2;
  }
  const u64 end = lo + step <= n ? lo + step - 1 : n;
  return (u32)lo + w_lower(p + lo, (u32)(end - lo), x);
}

static inline bool w_contains(Set s, u32 x) {
  const u32 i = w_lower(s.p, s.n, x);
  return i < s.n && s.p[i] == x;
}

// The elements x of s with lo ≤ x < hi.
static inline Set w_slice(Set s, u32 lo, u32 hi) {
  if (s.n > 0 && s.p[s.n - 1] >= hi) s.n = w_lower(s.p, s.n, hi);
  if (s.n > 0 && s.p[0] < lo) {
    const u32 at = w_lower(s.p, s.n, lo);
    s.p += at;
    s.n -= at;
  }
  return s;
}

static inline bool w_bit(const u64 *words, u64 v) { return words[v >> 6] >> (v & 63) & 1; }

#ifdef __AVX2__
// w_lanes[m]: the lanes whose bits are set in m, first, a byte each.
static u64 w_lanes[256];
__attribute__((constructor)) static void w_fill_lanes(void) {
  for (u32 m = 0; m < 256; ++m)
    for (u32 i = 0, n = 0; i < 8; ++i)
      if (m >> i & 1) w_lanes[m] |= (u64)i << 8 * n++;
}

// The lanes of v whose bits are set in m, first.
static inline __m256i w_pack(__m256i v, u32 m) {
  return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&w_lanes[m])));
}

// A lane of a is all ones where its value is among the eight of b, of which lo
// has the first four twice and hi the others.
static inline __m256i w_match(__m256i a, __m256i lo, __m256i hi) {
  __m256i x = _mm256_or_si256(_mm256_cmpeq_epi32(a, lo), _mm256_cmpeq_epi32(a, hi));
  __m256i y = _mm256_or_si256(_mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(lo, 0x39)), _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(hi, 0x39)));
  __m256i z = _mm256_or_si256(_mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(lo, 0x4e)), _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(hi, 0x4e)));
  __m256i u = _mm256_or_si256(_mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(lo, 0x93)), _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32(hi, 0x93)));
  return _mm256_or_si256(_mm256_or_si256(x, y), _mm256_or_si256(z, u));
}

static inline u32 w_ones(__m256i x) { return (u32)_mm256_movemask_ps(_mm256_castsi256_ps(x)); }

static inline __m256i w_iota(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }

// The first n ≤ 8 values at p, and the last of them behind.
static inline __m256i w_some(const u32 *p, u32 n) {
  const __m256i i = w_iota();
  const __m256i v = _mm256_maskload_epi32((const int *)p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), i));
  return _mm256_permutevar8x32_epi32(v, _mm256_min_epu32(i, _mm256_set1_epi32((int)n - 1)));
}

static u32 w_merge_count(const u32 *a, u32 na, const u32 *b, u32 nb) {
  const u32 *const ea = a + na, *const eb = b + nb;
  u32 n = 0;
  if (na >= 8 && nb >= 8) {
    const u32 *const la = ea - 8, *const lb = eb - 8; // the last full blocks
    __m256i sum = _mm256_setzero_si256();
    do {
      const __m256i x = _mm256_loadu_si256((const __m256i *)a);
      const __m256i lo = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)b));
      const __m256i hi = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(b + 4)));
      const u32 u = a[7], v = b[7];
      a += u <= v ? 8 : 0;
      b += v <= u ? 8 : 0;
      sum = _mm256_sub_epi32(sum, w_match(x, lo, hi));
    } while (a <= la && b <= lb);
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x39));
    n = (u32)_mm_cvtsi128_si32(s);
  }
  while (a < ea && b < eb) {
    const u32 ca = ea - a < 8 ? (u32)(ea - a) : 8, cb = eb - b < 8 ? (u32)(eb - b) : 8;
    const __m256i x = w_some(a, ca), y = w_some(b, cb);
    const u32 m = w_ones(w_match(x, _mm256_permute2x128_si256(y, y, 0x00), _mm256_permute2x128_si256(y, y, 0x11)));
    n += (u32)__builtin_popcount(m & ((1u << ca) - 1));
    const u32 u = a[ca - 1], v = b[cb - 1];
    a += u <= v ? ca : 0;
    b += v <= u ? cb : 0;
  }
  return n;
}

// The elements of a that are in b, or with keep 0xff those that are not; room
// for na.
static inline u32 w_merge(u32 *out, const u32 *a, u32 na, const u32 *b, u32 nb, const u32 keep) {
  const u32 *const ea = a + na, *const eb = b + nb;
  u32 n = 0, seen = 0; // lanes of a's block that were met
  if (na >= 8 && nb >= 8) {
    const u32 *const la = ea - 8, *const lb = eb - 8;
    do {
      const __m256i x = _mm256_loadu_si256((const __m256i *)a);
      const __m256i lo = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)b));
      const __m256i hi = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(b + 4)));
      const u32 u = a[7], v = b[7];
      a += u <= v ? 8 : 0;
      b += v <= u ? 8 : 0;
      seen |= w_ones(w_match(x, lo, hi));
      // Stored at every step, and kept where the block of a ends: n is no more
      // than the places of a before it.
      _mm256_storeu_si256((__m256i *)(out + n), w_pack(x, seen ^ keep));
      n += u <= v ? (u32)__builtin_popcount(seen ^ keep) : 0;
      seen = u <= v ? 0 : seen;
    } while (a <= la && b <= lb);
  }
  while (a < ea) {
    const u32 ca = ea - a < 8 ? (u32)(ea - a) : 8;
    const __m256i x = w_some(a, ca);
    while (b < eb) {
      const u32 cb = eb - b < 8 ? (u32)(eb - b) : 8;
      const __m256i y = w_some(b, cb);
      seen |= w_ones(w_match(x, _mm256_permute2x128_si256(y, y, 0x00), _mm256_permute2x128_si256(y, y, 0x11)));
      const u32 u = a[ca - 1], v = b[cb - 1];
      if (v <= u) b += cb;
      if (u <= v) break;
    }
    const u32 m = (seen ^ keep) & ((1u << ca) - 1), k = (u32)__builtin_popcount(m);
    _mm256_maskstore_epi32((int *)(out + n), _mm256_cmpgt_epi32(_mm256_set1_epi32((int)k), w_iota()), w_pack(x, m));
    n += k;
    a += ca;
    seen = 0;
    if (b == eb && keep == 0) break;
    if (b == eb) {
      __builtin_memcpy(out + n, a, (u64)(ea - a) * 4);
      return n + (u32)(ea - a);
    }
  }
  return n;
}

// The bits of eight values, in the lowest bits of lanes.
static inline __m256i w_bits(const u64 *words, __m256i v) {
  const __m256i w = _mm256_i32gather_epi32((const int *)words, _mm256_srli_epi32(v, 5), 4);
  return _mm256_srlv_epi32(w, _mm256_and_si256(v, _mm256_set1_epi32(31)));
}
#else
static u32 w_merge_count(const u32 *a, u32 na, const u32 *b, u32 nb) {
  u32 i = 0, j = 0, n = 0;
  while (i < na && j < nb) {
    const u32 x = a[i], y = b[j];
    i += x <= y;
    j += y <= x;
    n += x == y;
  }
  return n;
}

static inline u32 w_merge(u32 *out, const u32 *a, u32 na, const u32 *b, u32 nb, const u32 keep) {
  u32 i = 0, j = 0, n = 0;
  while (i < na && j < nb) {
    const u32 x = a[i], y = b[j];
    out[n] = x; // n ≤ i
    i += x <= y;
    j += y <= x;
    n += keep ? x < y : x == y;
  }
  if (keep) {
    __builtin_memcpy(out + n, a + i, (u64)(na - i) * 4);
    n += na - i;
  }
  return n;
}
#endif

// Elements of p[0 … n) whose bits are set.
static u32 w_bits_count(const u64 *words, const u32 *p, u32 n) {
  u32 i = 0, c = 0;
#ifdef __AVX2__
  if (n >= 16) {
    __m256i sum = _mm256_setzero_si256();
    for (; i + 8 <= n; i += 8)
      sum = _mm256_add_epi32(sum, _mm256_and_si256(w_bits(words, _mm256_loadu_si256((const __m256i *)(p + i))), _mm256_set1_epi32(1)));
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x39));
    c = (u32)_mm_cvtsi128_si32(s);
  }
#endif
  for (; i < n; ++i) c += w_bit(words, p[i]);
  return c;
}

// Keeps the elements whose bits are set, or with keep 0xff those whose are not.
static u32 w_bits_keep(u32 *out, const u64 *words, const u32 *p, u32 n, const u32 keep) {
  u32 i = 0, c = 0;
#ifdef __AVX2__
  if (n >= 16) {
    for (; i + 8 <= n; i += 8) {
      const __m256i x = _mm256_loadu_si256((const __m256i *)(p + i));
      const u32 m = w_ones(_mm256_slli_epi32(w_bits(words, x), 31)) ^ keep;
      _mm256_storeu_si256((__m256i *)(out + c), w_pack(x, m));
      c += (u32)__builtin_popcount(m);
    }
  }
#endif
  for (; i < n; ++i) {
    out[c] = p[i];
    c += w_bit(words, p[i]) ^ (keep & 1);
  }
  return c;
}

// The part of a that lies within the values of b, which is not empty.
static inline Set w_within(Set a, Set b) { return w_slice(a, b.p[0], b.p[b.n - 1] + 1); }

// |a ∩ b|.
static u32 w_intersect_count(const Graph *q, Set a, Set b) {
  if (a.n > b.n) {
    const Set c = a;
    a = b;
    b = c;
  }
  if (a.n == 0) return 0;
  const u64 *bits = W_ASK(q, a, b);
  if (bits) {
    a = w_within(a, b);
    return w_bits_count(bits, a.p, a.n);
  }
  if (b.n >> W_GALLOP < a.n) return w_merge_count(a.p, a.n, b.p, b.n);
  u32 n = 0;
  for (u32 i = 0, at = 0; i < a.n && at < b.n; ++i) {
    at = w_search(b.p, b.n, at, a.p[i]);
    n += at < b.n && b.p[at] == a.p[i];
  }
  return n;
}

// |a − b|.
static inline u32 w_subtract_count(const Graph *q, Set a, Set b) { return a.n - w_intersect_count(q, a, b); }

// a ∩ b; room for the shorter.
static Set w_intersect(const Graph *q, u32 *out, Set a, Set b) {
  if (a.n > b.n) {
    const Set c = a;
    a = b;
    b = c;
  }
  u32 n = 0;
  if (a.n == 0) return (Set){out, 0, 0};
  const u64 *bits = W_ASK(q, a, b);
  if (bits) {
    a = w_within(a, b);
    return (Set){out, w_bits_keep(out, bits, a.p, a.n, 0), 0};
  }
  if (b.n >> W_GALLOP < a.n) return (Set){out, w_merge(out, a.p, a.n, b.p, b.n, 0), 0};
  for (u32 i = 0, at = 0; i < a.n; ++i) {
    at = w_search(b.p, b.n, at, a.p[i]);
    if (at == b.n) break;
    out[n] = a.p[i];
    n += b.p[at] == a.p[i];
  }
  return (Set){out, n, 0};
}

// a − b; room for a.n.
static Set w_subtract(const Graph *q, u32 *out, Set a, Set b) {
  u32 n = 0;
  if (a.n == 0) return (Set){out, 0, 0};
  const u64 *bits = b.n > 0 ? W_ASK(q, a, b) : 0;
  if (bits) {
    const Set in = w_within(a, b);
    const u32 before = (u32)(in.p - a.p), behind = a.n - before - in.n;
    __builtin_memcpy(out, a.p, (u64)before * 4);
    n = before + w_bits_keep(out + before, bits, in.p, in.n, 0xff);
    __builtin_memcpy(out + n, in.p + in.n, (u64)behind * 4);
    return (Set){out, n + behind, 0};
  }
  if (b.n >> W_GALLOP >= a.n) {
    for (u32 i = 0, at = 0; i < a.n; ++i) {
      at = w_search(b.p, b.n, at, a.p[i]);
      out[n] = a.p[i];
      n += at == b.n || b.p[at] != a.p[i];
    }
    return (Set){out, n, 0};
  }
  if (a.n >> W_GALLOP >= b.n) {
    // The runs between the few that go.
    u32 at = 0;
    for (u32 j = 0; j < b.n && at < a.n; ++j) {
      const u32 to = w_search(a.p, a.n, at, b.p[j]);
      __builtin_memcpy(out + n, a.p + at, (u64)(to - at) * 4);
      n += to - at;
      at = to + (to < a.n && a.p[to] == b.p[j]);
    }
    __builtin_memcpy(out + n, a.p + at, (u64)(a.n - at) * 4);
    return (Set){out, n + a.n - at, 0};
  }
  return (Set){out, w_merge(out, a.p, a.n, b.p, b.n, 0xff), 0};
}

// The union of what is left of `pieces` runs, each without the elements of gone, which
// is a part of it; no two have an element in common. run and gone are used up. Room for
// all that is left.
static Set w_merge_pieces(u32 *out, Set *run, Set *gone, u32 pieces) {
  u32 n = 0;
  for (;;) {
    Set *least = 0;
    for (u32 k = 0; k < pieces; ++k) {
      for (; gone[k].n > 0 && gone[k].p[0] == run[k].p[0]; --gone[k].n, --run[k].n) ++gone[k].p, ++run[k].p;
      if (run[k].n > 0 && (!least || run[k].p[0] < least->p[0])) least = &run[k];
    }
    if (!least) return (Set){out, n, 0};
    out[n++] = *least->p++;
    --least->n;
  }
}

#endif
