// Neighbour lists as rows of bits (membership/membership.cuh), for graphs with so few vertices
// that all rows fit. A look-up is a load and a shift, the same steps in every lane. In a hash
// table the buckets of some lanes overflow: most tests that a vertex-induced pattern adds fail,
// and go to the end of a bucket's chain. Lanes that ask the same list share the few cache lines
// of its row. Of sparse lists each has a row of bits, and before them there is one without bits, of all vertices that have no list.
#ifndef WEFT_MEMBERBITS
#define WEFT_MEMBERBITS
#include "base/graph.cuh"

// The word of row u that has v's bit; n: vertices. All rows have fewer than 2^32.
DEV u32 word_of(u32 n, u32 u, u32 v) { return u * ((n + 31) / 32) + v / 32; }

// The number of the bits of list i.
DEV u32 bits_of(const Adj&, u32 i) { return i; }
DEV u32 bits_of(SparseAdj, u32 row) { return row + 1; }

template <class A> DEV void put_list(const A& a, u32* tables, u32 n, u32 i, const u32* ids, u64, u64, u64 first, u64 end) {
  for (u64 at = first + lane(); at < end; at += 32) {
    u32 w = ids[at];
    atomic_or(&tables[word_of(n, bits_of(a, i), w)], 1u << (w & 31));
  }
}

// The members of a list: the values that all look-ups in it share.
struct Members {
  const u32* row;

  DEV bool has(u32 v) const { return ldg(&row[v / 32]) >> (v & 31) & 1; }
};

DEV u32 bits_of_vertex(const Adj&, u32 u) { return u; }
DEV u32 bits_of_vertex(SparseAdj a, u32 u) {
  u32 row;
  return row_of(a, u, row) ? bits_of(a, row) : 0;
}

// Of u's list.
template <class Q, class A> DEV Members members_of(const Q& q, const A& a, const u32* tables, u32 u) {
  return Members{tables + word_of(q.n, bits_of_vertex(a, u), 0)};
}

template <class Q, class A, class B> DEV bool listed(const Q& q, const A& a, const B&, const u32* tables, u32 u, u32 v) {
  return ldg(&tables[word_of(q.n, bits_of_vertex(a, u), v)]) >> (v & 31) & 1;
}

#endif
