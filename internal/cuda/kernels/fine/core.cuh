// Pruning: vertices with fewer neighbours than the pattern's least degree are in no match.
// Without them, other vertices have too few. The search uses new lists of the remaining
// vertices (gMatch, PVLDB 2026).
#ifndef FINE_CORE
#define FINE_CORE
#include "base/ran.cuh"
#include "base/prepare.cuh"

// Go's type coreArgs.
struct Core {
  u32* alive; // a bit a vertex
  u32* degrees;
  u32* sizes; // of the remaining part of each list
  u64* off;
  u32* adj;
  u64* first;
  u32* changed;      // by this round
  const u32* before; // the same of the round before; null: this is the first
  u32 least, unused;
};

struct Coring {
  Run run;
  Graph graph;
  Core x;
};

DEV bool remains(const Core& x, u32 v) { return x.alive[v >> 5] >> (v & 31) & 1; }

// Requires alive of ones.
WEFT_KERNEL(fine_core_start, Coring) {
  ran(p.run);
  for (u64 v = grid_rank(); v < p.run.vertices; v += grid_size()) p.x.degrees[v] = degree(p.graph.adj[0], (u32)v);
}

// A round; to be repeated until *changed stays 0. Rounds behind that one do nothing,
// so that they can be launched before it is known.
WEFT_KERNEL(fine_core_peel, Coring) {
  ran(p.run);
  if (p.x.before && *p.x.before == 0) return;
  peel(p.graph.adj[0], p.x.degrees, p.x.alive, p.x.changed, p.run.vertices, p.x.least);
}

// After this off becomes prefix sums of sizes.
WEFT_KERNEL(fine_core_sizes, Coring) {
  ran(p.run);
  for (u64 v = grid_rank(); v < p.run.vertices; v += grid_size()) p.x.sizes[v] = remains(p.x, (u32)v) ? p.x.degrees[v] : 0;
}

WEFT_KERNEL(fine_core_fill, Coring) {
  ran(p.run);
  Warp g;
  for (u64 v = grid_rank() / 32; v < p.run.vertices; v += grid_size() / 32) {
    if (!remains(p.x, (u32)v)) continue;
    Set s = list(p.graph.adj[0], (u32)v);
    u32* out = p.x.adj + p.x.off[v];
    for (u32 k = 0; k < s.n; k += 32) {
      u32 w = k + lane() < s.n ? s.p[k + lane()] : 0;
      u32 votes = g.ballot(k + lane() < s.n && remains(p.x, w));
      if (votes >> lane() & 1) out[popc(votes & g.below())] = w;
      out += popc(votes);
    }
  }
}

WEFT_KERNEL(fine_core_first, Coring) { ran(p.run); first_offsets(adj_of(Lists{p.x.off, p.x.adj, 0}), p.x.first, p.run.vertices); }

#endif
