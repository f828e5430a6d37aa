// Neighbour lists as rows of bits (membership/membership.cuh), for graphs with so few vertices
// that all rows fit. A look-up is a load and a shift, the same steps in every lane. In a hash
// table the buckets of some lanes overflow: most tests that a vertex-induced pattern adds fail,
// and go to the end of a bucket's chain. Lanes that ask the same list share the few cache lines
// of its row.
#ifndef WEFT_MEMBERBITS
#define WEFT_MEMBERBITS
#include "base/graph.cuh"

// The word of row u that has v's bit; n: vertices. All rows have fewer than 2^32.
DEV u32 word_of(u32 n, u32 u, u32 v) { return u * ((n + 31) / 32) + v / 32; }

DEV void put_list(const Adj& a, u32* tables, u32 n, u32 v, u64 first, u64 end) {
  const u32* ids = places(a, v);
  for (u64 i = first + lane(); i < end; i += 32) {
    u32 w = ids[i];
    atomic_or(&tables[word_of(n, v, w)], 1u << (w & 31));
  }
}

// The members of a list: the values that all look-ups in it share.
struct Members {
  const u32* row;

  DEV bool has(u32 v) const { return ldg(&row[v / 32]) >> (v & 31) & 1; }
};

// Of u's list.
template <class Q> DEV Members members_of(const Q& q, const Adj&, const u32* tables, u32 u) {
  return Members{tables + word_of(q.n, u, 0)};
}

template <class Q> DEV bool listed(const Q& q, const Adj&, const Adj&, const u32* tables, u32 u, u32 v) {
  return ldg(&tables[word_of(q.n, u, v)]) >> (v & 31) & 1;
}

#endif
