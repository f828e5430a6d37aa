// What a search reads of the lists when it counts wedges root – u – y by y: of u's list the part in a range of ids y. All of a list is
// there, or it is a sweep over columns: then of every list the ids of a block of columns are there, and each root is searched
// once for each block (columns.go of package session).
#ifndef WEFT_LOCAL_COLUMNS
#define WEFT_LOCAL_COLUMNS
#include "neighbourhood/hood.cuh"

// Programs that may run in such sweeps.
#if W_SIZES && defined(WEFT_CACHED)
struct Columns {
  const u32* rows; // never null, as compilers may read before they know
  const u32* ids;
  const u64* marks;
  u32 first, end, row_end, shift;

  // Whether it is a sweep: otherwise all of a list is there.
  DEV bool on() const { return row_end > 0; }
  DEV u32 from(u32 lo) const { return on() ? max(lo, first) : lo; }
  DEV u32 to(u32 hi) const { return on() ? min(hi, end) : hi; }
  DEV Set part(u32 u) const {
    if (u >= row_end) return Set{ids, 0};
    const u32 b = ldg(rows + u);
    return Set{ids + b, ldg(rows + u + 1) - b};
  }
  // About how many entries the columns below y have.
  DEV u64 below(u32 y) const {
    const u32 i = y >> shift;
    const u64 b = ldg(marks + i);
    return b + ((ldg(marks + i + 1) - b) * (y & ((1u << shift) - 1)) >> shift);
  }
};
DEV Columns columns(const Graph& q) {
  const Adj& a = q.adj[0];
  if (!a.cache) return Columns{a.adj, a.adj, (const u64*)a.adj, 0, 0, 0, 31};
  const CacheHead& b = *(const CacheHead*)a.cache;
  return Columns{b.rows, b.ids, b.marks, b.block, b.block_end, b.row_end, b.shift};
}

// The ids lo … hi-1 of u's list, which are of the block.
DEV Set slice_of(const Graph& q, const Columns& c, u32 u, u32 lo, u32 hi) {
  if (c.on()) return slice(c.part(u), lo == c.first ? 0 : lo, hi == c.end ? ~0u : hi);
  return slice(list(lists(q), u), lo, hi < q.n ? hi : ~0u);
}
DEV u32 degree_of(const Graph& q, const Columns& c, u32 u) { return c.on() ? c.part(u).n : degree(lists(q), u); }

// How many entries the columns below y have, from some id on: exactly where lists are whole.
DEV u64 entries_in(const Graph& q, const Columns& c, u32 y) { return c.on() ? c.below(y) : entries_below(lists(q), y); }
DEV u64 all_entries(const Graph& q, const Columns& c) {
  return c.on() ? c.below(c.end) - c.below(c.first) : entries_below(lists(q), q.n);
}

// About how much of the work below root v, of all lists, is in the block.
DEV u32 work_in(const Graph& q, const Columns& c, u32 v, u32 work) {
  if (!c.on()) return work;
  const u32 lo = c.from(outside_from(q, v)), hi = c.to(outside_end(q, v));
  if (lo >= hi) return 0;
  return (u32)((f64)work * (f64)(c.below(hi) - c.below(lo)) / (f64)max((u64)1, c.below(q.n)));
}

// A root's list is read for each range of ids: the end of the table of wedges has a copy.
template <class C> constexpr u32 table_size = C::wedges - C::wedges / 16;
template <class C> DEV Set kept(u8* m, Set s) {
  return copy_of<Team<C::team>>(s, (u32*)(m + C::keys) + 2 * table_size<C>, C::wedges / 16 * 2);
}
#else
struct Columns {
  DEV bool on() const { return false; }
  DEV u32 from(u32 lo) const { return lo; }
  DEV u32 to(u32 hi) const { return hi; }
};
DEV Columns columns(const Graph&) { return Columns{}; }
DEV Set slice_of(const Graph& q, const Columns&, u32 u, u32 lo, u32 hi) { return slice(list(lists(q), u), lo, hi < q.n ? hi : ~0u); }
DEV u32 degree_of(const Graph& q, const Columns&, u32 u) { return degree(lists(q), u); }
DEV u64 entries_in(const Graph& q, const Columns&, u32 y) { return entries_below(lists(q), y); }
DEV u64 all_entries(const Graph& q, const Columns&) { return entries_below(lists(q), q.n); }
DEV u32 work_in(const Graph&, const Columns&, u32, u32 work) { return work; }
template <class C> constexpr u32 table_size = C::wedges;
template <class C> DEV Set kept(u8*, Set s) { return s; }
#endif

#endif
