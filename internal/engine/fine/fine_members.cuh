// Who is in a neighbour list, in one load instead of a binary search, which takes
// a chain of dependent loads, each from a line of its own for every lane: by rows
// of bits where the text defines FINE_BITS, else by hash tables. Each has
//   void put_list(a, tables, n, v, first, end)  puts places first … end-1 of a, in v's list; collective
//   bool listed(q, a, back, tables, u, v)       whether v is in u's list; one lane
#ifndef FINE_MEMBERS
#define FINE_MEMBERS
#include "fine_steal.cuh"
#include "prepare.cuh"
#ifdef FINE_BITS
#include "fine_bits.cuh"
#else
#include "fine_hash.cuh"
#endif

// Neighbours that a warp puts into tables at a time.
#define FINE_PART 1024

// Puts the neighbours of adjacency a with places first … end-1 into its empty
// tables. n: vertices. Collective.
DEV void put_members(const Adj& a, u32* tables, u32 n, u64 first, u64 end) {
  u32 v = source_of(a.off, n, first);
  for (u64 at = first; at < end; v++) {
    u64 stop = min(a.off[v + 1], end);
    put_list(a, tables, n, v, at, stop);
    at = stop;
  }
}

// Whether v is in u's list of a, an adjacency of q; tables as the block's head has
// them. One lane.
template <class Q> DEV bool member(const Q& q, const Adj& a, const Adj& back, u32 u, u32 v) {
  u32 k = (u32)(&a - q.adj);
  const u32* tables = k < FINE_TABLES ? ((const Head*)shared())->tables[k] : 0;
  return listed(q, a, back, tables, u, v);
}

#endif
