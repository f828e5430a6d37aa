// The data graph as kernels see it: adjacency in compressed rows, neighbours
// ascending by id, ids in weft's degree order.
#ifndef WEFT_GRAPH
#define WEFT_GRAPH
#include "setops.cuh"

// Neighbour lists. List v is adj[off[v] … off[v+1]).
struct Adj {
  const u64* off;   // vertices+1 offsets
  const u32* adj;
  const u64* first; // first[v]: the offset in adj of v's first neighbour above v; null: look for it
};

// A column of 64-bit values; valid has a bit for each row that has one, null:
// all have.
struct Column {
  const u64* words;
  const u64* valid;
};

// v's neighbours.
DEV Set list(const Adj& a, u32 v) {
  u64 b = a.off[v];
  return Set{a.adj + b, (u32)(a.off[v + 1] - b)};
}

DEV u32 degree(const Adj& a, u32 v) { return (u32)(a.off[v + 1] - a.off[v]); }

// v's neighbours with smaller ids (of higher or equal degree in one class).
DEV Set below(const Adj& a, u32 v) {
  u64 b = a.off[v];
  if (a.first) return Set{a.adj + b, (u32)(a.first[v] - b)};
  Set s = list(a, v);
  return Set{s.p, lower_bound(s.p, s.n, v)};
}

// v's neighbours with larger ids.
DEV Set above(const Adj& a, u32 v) {
  u64 e = a.off[v + 1];
  if (a.first) return Set{a.adj + a.first[v], (u32)(e - a.first[v])};
  Set s = list(a, v);
  u32 k = lower_bound(s.p, s.n, v);
  return Set{s.p + k, s.n - k};
}

// Whether v is in u's list. One lane; the caller puts the vertex with the
// shorter list first.
DEV bool adjacent(const Adj& a, u32 u, u32 v) { return contains(list(a, u), v); }

// Whether v is in u's list, by the shorter of the two lists that can tell: rev
// has the lists of a seen from their other ends. One lane.
DEV bool adjacent(const Adj& a, const Adj& rev, u32 u, u32 v) {
  Set there = list(a, u), back = list(rev, v);
  return back.n < there.n ? contains(back, u) : contains(there, v);
}

#endif
