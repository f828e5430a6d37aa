// Pruning: vertices with fewer neighbours than the pattern's least degree are in no match.
// Without them, other vertices have too few. The search uses new lists of the remaining
// vertices (gMatch, PVLDB 2026).
#ifndef FINE_CORE
#define FINE_CORE
#include "base/ran.cuh"
#include "base/prepare.cuh"

// Go's type coreArgs. Arrays have a number for each vertex, or for each sparse list; pruned sparse lists have the bitmaps of the
// graph's own, and may be empty.
struct Core {
  u32* alive; // a bit a place
  u32* degrees;
  u32* sizes; // of the remaining part of each list
  u64* off;
  u32* adj;
  u64* first;        // with an offset for each vertex
  u32* rows;         // of sparse lists: off, in 32 bits
  u32* changed;      // by this round
  const u32* before; // the same of the round before; null: this is the first
  const u32* vertices; // of sparse lists
  u32 least, places;
};

struct Coring {
  Run run;
  Graph graph;
  Core x;
};

#ifdef FINE_SPARSE
DEV SparseAdj core_lists(const Coring& p) { return SparseAdj{p.graph.adj[0]}; }
DEV RowPlaces core_places(const Coring& p) { return RowPlaces{core_lists(p), p.x.vertices}; }
#else
DEV const Adj& core_lists(const Coring& p) { return p.graph.adj[0]; }
DEV AllPlaces core_places(const Coring&) { return AllPlaces{}; }
#endif

DEV bool remains(const Core& x, u32 i) { return x.alive[i >> 5] >> (i & 31) & 1; }

// Requires alive of ones.
WEFT_KERNEL(fine_core_start, Coring) {
  ran(p.run);
  const auto at = core_places(p);
  for (u64 i = grid_rank(); i < p.x.places; i += grid_size()) p.x.degrees[i] = degree(core_lists(p), at.vertex((u32)i));
}

// A round; to be repeated until *changed stays 0. Rounds behind that one do nothing,
// so that they can be launched before it is known.
WEFT_KERNEL(fine_core_peel, Coring) {
  ran(p.run);
  if (p.x.before && *p.x.before == 0) return;
  peel(core_lists(p), core_places(p), p.x.degrees, p.x.alive, p.x.changed, p.x.places, p.x.least);
}

// After this off becomes prefix sums of sizes.
WEFT_KERNEL(fine_core_sizes, Coring) {
  ran(p.run);
  for (u64 i = grid_rank(); i < p.x.places; i += grid_size()) p.x.sizes[i] = remains(p.x, (u32)i) ? p.x.degrees[i] : 0;
}

WEFT_KERNEL(fine_core_fill, Coring) {
  ran(p.run);
  Warp g;
  const auto at = core_places(p);
  for (u64 i = grid_rank() / 32; i < p.x.places; i += grid_size() / 32) {
    if (!remains(p.x, (u32)i)) continue;
    Set s = list(core_lists(p), at.vertex((u32)i));
    u32* out = p.x.adj + p.x.off[i];
    for (u32 k = 0; k < s.n; k += 32) {
      u32 w = k + lane() < s.n ? s.p[k + lane()] : 0;
      u32 votes = g.ballot(k + lane() < s.n && remains(p.x, at.place(w)));
      if (votes >> lane() & 1) out[popc(votes & g.below())] = w;
      out += popc(votes);
    }
  }
}

// What the search needs besides offsets and entries.
WEFT_KERNEL(fine_core_index, Coring) {
  ran(p.run);
#ifdef FINE_SPARSE
  for (u64 i = grid_rank(); i <= p.x.places; i += grid_size()) p.x.rows[i] = (u32)p.x.off[i];
#else
  first_offsets(adj_of(Lists{p.x.off, p.x.adj, 0}), p.x.first, p.x.places);
#endif
}

#endif
