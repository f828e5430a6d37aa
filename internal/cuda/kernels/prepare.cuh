// What surrounds a search, on the device: work over all vertices or all
// neighbours of a graph. Every function is called by all threads of a grid of
// any size, and does its share.
#ifndef WEFT_PREPARE
#define WEFT_PREPARE
#include "graph.cuh"

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

#endif
