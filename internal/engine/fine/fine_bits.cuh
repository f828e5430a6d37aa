// Neighbour lists as rows of bits (fine_members.cuh), for graphs whose vertices are
// so few that all rows stay in L2. A look-up is a load and a shift, the same steps
// in every lane, where buckets of a hash table overflow in some: of the tests that
// a vertex-induced pattern adds most find no neighbour, and go to the end of a
// bucket's chain. Lanes that ask the same list share the few lines of its row.
#ifndef FINE_BITS_H
#define FINE_BITS_H
#include "graph.cuh"

// Words of a row; n: vertices.
DEV u32 row_words(u32 n) { return (n + 31) / 32; }

DEV void put_list(const Adj& a, u32* tables, u32 n, u32 v, u64 first, u64 end) {
  u32* row = tables + (u64)v * row_words(n);
  for (u64 i = first + lane(); i < end; i += 32) atomic_or(&row[a.adj[i] >> 5], 1u << (a.adj[i] & 31));
}

template <class Q> DEV bool listed(const Q& q, const Adj&, const Adj&, const u32* tables, u32 u, u32 v) {
  return ldg(&tables[(u64)u * row_words(q.n) + (v >> 5)]) >> (v & 31) & 1;
}

#endif
