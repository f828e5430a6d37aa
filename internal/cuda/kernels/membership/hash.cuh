// Neighbour lists as hash tables (membership/membership.cuh), with buckets of four ids: half a
// sector, and one load.
//
// List v of d ids has (d+1)/2 buckets, which begin at bucket (off[v] + v + 1) / 2 of its
// adjacency's tables, and a sparse list has the number of its row in place of v. So tables are at most half full and need no offsets. A full bucket
// continues in the next one; empty places are ones. Short lists stay lists.
//
// A seventh of the buckets is full, so some lanes of a warp nearly always continue, and all
// wait for them; and most look-ups fail. A filter answers most failing ones first, except one
// in 170. Each bucket has a word of 64 bits. Each id whose first bucket it is has set one bit
// in either half of the word. The words lie before the tables, that of bucket i 8 * (i + 1)
// bytes before. They take half as much memory, so that more of them stay in L1 while lanes ask
// a list. They always exist, and are read if the text defines MEMBER_FILTERED: with short lists
// more look-ups succeed, and whole tables stay in L1.
#ifndef WEFT_MEMBERHASH
#define WEFT_MEMBERHASH
#include "base/graph.cuh"

// Lists that are searched: all of their probes are in a line or two.
#ifndef MEMBER_SHORT
#define MEMBER_SHORT 16
#endif

DEV u32 bucket_of(u32 v, u32 buckets) { return (u32)((u64)(v * 0x9e3779b1u) * buckets >> 32); }
DEV u64 first_bucket(u64 off, u32 v) { return (off + v + 1) >> 1; }

// The bits of v in the two halves of a filter's word, as shifts.
DEV u32 low_bit(u32 h) { return h >> 27; }
DEV u32 high_bit(u32 h) { return h >> 22 & 31; }
DEV u32 filter_hash(u32 v) { return v * 0x85ebca6bu; }

DEV void put_filter(u32* tables, u64 bucket, u32 v) {
  u32 h = filter_hash(v), *word = tables - 2 * (bucket + 1);
  atomic_or(&word[0], 1u << low_bit(h));
  atomic_or(&word[1], 1u << high_bit(h));
}

template <class A> DEV void put_list(const A&, u32* tables, u32, u32 i, const u32* ids, u64 b, u64 e, u64 first, u64 end) {
  if (e - b <= MEMBER_SHORT) return;
  u32 buckets = (u32)(e - b + 1) / 2;
  u32* mine = tables + 4 * first_bucket(b, i);
  for (u64 at = first + lane(); at < end; at += 32) {
    u32 w = ids[at], s = bucket_of(w, buckets);
    put_filter(tables, first_bucket(b, i) + s, w);
    for (s *= 4; atomic_cas(&mine[s], ~0u, w) != ~0u; s = s + 1 == 4 * buckets ? 0 : s + 1) {}
  }
}

// The members of a list: the values that all look-ups in it share.
struct Members {
  const u32* ids;   // the list, or its buckets
  const u64* words; // of the filter, the first the highest; null: a list
  u32 n;

  DEV bool has(u32 v) const {
    if (!words) return contains(Set{ids, n}, v);
    u32 buckets = (n + 1) / 2, s = bucket_of(v, buckets);
#ifdef MEMBER_FILTERED
    u32 h = filter_hash(v);
    u64 w = ldg(words - s);
    if (!((u32)w >> low_bit(h) & (u32)(w >> 32) >> high_bit(h) & 1)) return false;
#endif
    for (;; s = s + 1 == buckets ? 0 : s + 1) {
      u32x4 k = ldg((const u32x4*)ids + s);
      if (k.x == v || k.y == v || k.z == v || k.w == v) return true;
      if (k.w == ~0u) return false;
    }
  }
};

// Of u's list. tables null: all lists are searched.
template <class Q> DEV Members members_of(const Q&, const Adj& a, const u32* tables, u32 u) {
#ifdef WEFT_CACHED
  Set s = list(a, u);
  if (!tables || s.n <= MEMBER_SHORT) return Members{s.p, 0, s.n};
#endif
  u64 b = ldg(&a.off[u]);
  u32 n = (u32)(ldg(&a.off[u + 1]) - b);
  if (!tables || n <= MEMBER_SHORT) return Members{a.adj + b, 0, n};
  u64 first = first_bucket(b, u);
  return Members{tables + 4 * first, (const u64*)tables - (first + 1), n};
}

template <class Q> DEV Members members_of(const Q&, SparseAdj a, const u32* tables, u32 u) {
  u32 row;
  if (!row_of(a, u, row)) return Members{a.a.adj, 0, 0};
  const u32 b = ldg(a.a.rows + row), n = ldg(a.a.rows + row + 1) - b;
  if (!tables || n <= MEMBER_SHORT) return Members{a.a.adj + b, 0, n};
  u64 first = first_bucket(b, row);
  return Members{tables + 4 * first, (const u64*)tables - (first + 1), n};
}

template <class Q, class A, class B> DEV bool listed(const Q& q, const A& a, const B& back, const u32* tables, u32 u, u32 v) {
  return tables ? members_of(q, a, tables, u).has(v) : adjacent(a, back, u, v);
}

#endif
