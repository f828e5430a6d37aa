// Membership in a neighbour list by one load. A binary search takes a chain of dependent loads, each
// from a different cache line for every lane. The tables are rows of bits if the text defines
// MEMBER_BITS, else hash tables. Each kind has
//   void put_list(a, tables, n, v, first, end)  puts places first … end-1 of a, in v's list; collective
//   bool listed(q, a, back, tables, u, v)       whether v is in u's list; one lane
//   Members members_of(q, a, tables, u)         with has(v), for many v
// Text over a plan's adjacencies calls member in place of adjacent, and members in place of neighbours.
#ifndef WEFT_MEMBERS
#define WEFT_MEMBERS
#include "base/prepare.cuh"
#ifdef MEMBER_BITS
#include "membership/bits.cuh"
#else
#include "membership/hash.cuh"
#endif

// Adjacencies that can have tables of members.
#define MEMBER_TABLES 4

// Neighbours that a warp puts into tables at a time.
#define MEMBER_PART 1024

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

// Whether v is in u's list of a, an adjacency of q, of which the first MEMBER_TABLES have tables. The lists of the others,
// which only conditions ask, are searched. One lane.
template <class Q> DEV bool member(const Q& q, const Adj& a, const Adj& back, const u32* const* tables, u32 u, u32 v) {
  u32 k = (u32)(&a - q.adj); // the compiler knows it
  return k < MEMBER_TABLES ? listed(q, a, back, tables[k], u, v) : adjacent(a, back, u, v);
}

// The members of u's list of a.
template <class Q> DEV Members members(const Q& q, const Adj& a, const u32* const* tables, u32 u) {
  u32 k = (u32)(&a - q.adj);
  return members_of(q, a, k < MEMBER_TABLES ? tables[k] : 0, u);
}

#endif
