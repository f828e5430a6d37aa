// Membership in a neighbour list by one load. A binary search takes a chain of dependent loads, each
// from a different cache line for every lane. The tables are rows of bits if the text defines
// MEMBER_BITS, else hash tables. Each kind has
//   void put_list(a, tables, n, i, ids, b, e, first, end)  puts places first … end-1 of list i, which is b … e-1; the id at place p is
//                                              ids[p]; collective
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
// tables. Lists begin at off, which has one number more than there are lists. n: vertices. Collective.
template <class A, class Off> DEV void put_members(const A& a, const Off* off, u32* tables, u32 n, u32 lists, u64 first, u64 end) {
  u32 i = source_of(off, lists, first);
  for (u64 at = first; at < end; i++) {
    u64 b = off[i], e = off[i + 1], stop = min(e, end);
    put_list(a, tables, n, i, places(a, i), b, e, at, stop);
    at = stop;
  }
}

// The number of an adjacency of q, which the compiler knows.
template <class Q> DEV u32 number_of(const Q& q, const Adj& a) { return (u32)(&a - q.adj); }
template <class Q> DEV u32 number_of(const Q& q, SparseAdj a) { return number_of(q, a.a); }

// Whether v is in u's list of a, an adjacency of q, of which the first MEMBER_TABLES have tables. The lists of the others,
// which only conditions ask, are searched. One lane.
template <class Q, class A, class B> DEV bool member(const Q& q, const A& a, const B& back, const u32* const* tables, u32 u, u32 v) {
  u32 k = number_of(q, a);
  return k < MEMBER_TABLES ? listed(q, a, back, tables[k], u, v) : adjacent(a, back, u, v);
}

// The members of u's list of a.
template <class Q, class A> DEV Members members(const Q& q, const A& a, const u32* const* tables, u32 u) {
  u32 k = number_of(q, a);
  return members_of(q, a, k < MEMBER_TABLES ? tables[k] : 0, u);
}

#endif
