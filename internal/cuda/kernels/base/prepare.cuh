// Work before and after a search, on the device: loops over all vertices or all neighbours of a
// graph. All threads of a grid of any size call each function, and each does its share.
#ifndef WEFT_PREPARE
#define WEFT_PREPARE
#include "base/graph.cuh"

// This thread's number in the grid, and the number of threads.
DEV u64 grid_rank() { return (u64)block() * threads() + thread(); }
DEV u64 grid_size() { return (u64)blocks() * threads(); }

// first[v] = the offset in adj of v's first neighbour above v, or of the end of
// its list, for v < n. Host twin: a binary search of each list.
DEV void first_offsets(const Adj& a, u64* first, u32 n) {
  for (u64 v = grid_rank(); v < n; v += grid_size()) {
    Set s = list(a, (u32)v);
    first[v] = a.off[v] + lower_bound(s.p, s.n, (u32)v);
  }
}

// The vertex v in whose part of a prefix sum t lies: sums[v] <= t < sums[v+1].
// One lane. It finds the source of edge task t, or of offset t in an adjacency.
template <class Sum> DEV u32 source_of(const Sum* sums, u32 n, u64 t) {
  u32 lo = 0;
  while (n > 1) {
    u32 half = n / 2;
    if (sums[lo + half] <= t) lo += half;
    n -= half;
  }
  return lo;
}

// The places of vertices in arrays that have a number for each vertex, or for each that has a sparse list: its row.
struct AllPlaces {
  DEV u32 vertex(u32 i) const { return i; }
  DEV u32 place(u32 v) const { return v; }
};
struct RowPlaces {
  SparseAdj lists;
  const u32* vertices; // of rows

  DEV u32 vertex(u32 i) const { return vertices[i]; }
  DEV u32 place(u32 v) const { // which has a list
    u32 row = 0;
    row_of(lists, v, row);
    return row;
  }
};

// One round of the removal of vertices with fewer than `least` remaining neighbours. It takes
// such vertices out of alive, and subtracts one from the degree of each of their neighbours.
// *changed becomes 1 if there was one. Rounds are repeated until none changes anything; the
// remaining vertices do not depend on their order. n: places. Host twin: the same with a queue.
template <class A, class P> DEV void peel(const A& a, const P& at, u32* degrees, u32* alive, u32* changed, u32 n, u32 least) {
  for (u64 i = grid_rank(); i < n; i += grid_size()) {
    u32 b = 1u << (i & 31);
    if (!(load_relaxed(&alive[i >> 5]) & b) || load_relaxed(&degrees[i]) >= least) continue;
    atomic_and(&alive[i >> 5], ~b);
    store_relaxed(changed, 1u);
    Set s = list(a, at.vertex((u32)i));
    for (u32 k = 0; k < s.n; k++) atomic_sub(&degrees[at.place(s.p[k])], 1u);
  }
}

// The conditions of one pattern vertex on a data vertex: an id range, a least
// degree, and least numbers of neighbours in id ranges (labels are id ranges).
struct Want {
  u32 first, end, degree, needs, at; // needs: how many, from at on
};
struct Need {
  u32 first, end, least;
};

// Row q of words, stride u32 words long, gets bit v for every data vertex v < n
// that passes for pattern vertex q. One lane a vertex, whole warps. Host twin: the
// three conditions in turn.
DEV void candidates_of(const Adj& a, const Want* wants, const Need* needs, u32* words, u32 queries, u32 n, u64 stride) {
  u64 rounded = ((u64)n + 63) / 64 * 64;
  for (u64 v = grid_rank(); v < rounded; v += grid_size()) {
    for (u32 q = 0; q < queries; q++) {
      Want w = wants[q];
      bool yes = v < n && w.first <= v && v < w.end && degree(a, (u32)v) >= w.degree;
      if (yes) {
        Set s = list(a, (u32)v);
        for (u32 k = 0; yes && k < w.needs; k++) {
          Need d = needs[w.at + k];
          yes = slice(s, d.first, d.end).n >= d.least;
        }
      }
      u32 votes = ballot(ALL, yes);
      if (lane() == 0) words[q * stride + v / 32] = votes;
    }
  }
}

#endif
