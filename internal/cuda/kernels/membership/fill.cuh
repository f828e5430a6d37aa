// The kernel that makes membership tables (membership/membership.cuh), of the lists of a plan or of
// others that replace them.
#ifndef WEFT_MEMBERFILL
#define WEFT_MEMBERFILL
#include "membership/membership.cuh"
#include "base/ran.cuh"

// Requires empty tables: all ones, or zeros with MEMBER_BITS. Fills them with entries
// first … end-1 of lists.
struct Tabling {
  Run run;
  Graph graph;
  Lists instead; // of the plan's lists, if it has offsets; sparse ones have the plan's bitmaps
  u32* tables[MEMBER_TABLES];
  u64 first, end;
  u32 lists; // of sparse ones, their number
  u32 unused;
};

// Fills tables with this warp's parts of a's lists, which have offsets. Collective.
DEV void fill_table(const Tabling& p, const Adj& a, u32* tables, u64 first, u64 step) {
  const u64 n = min(a.off[p.run.vertices], p.end);
  for (u64 at = first; at < n; at += step) put_members(a, a.off, tables, p.run.vertices, p.run.vertices, at, min(at + MEMBER_PART, n));
}

WEFT_KERNEL(fill_members, Tabling) {
  ran(p.run);
  u64 first = p.first + (u64)(block() * warps() + warp()) * MEMBER_PART, step = (u64)blocks() * warps() * MEMBER_PART;
  // Those of conditions too, which lie behind the plan's own.
  constexpr u32 adjs = sizeof p.graph.adj / sizeof p.graph.adj[0];
  UNROLL
  for (u32 k = 0; k < (adjs < MEMBER_TABLES ? adjs : MEMBER_TABLES); k++) {
    if (!p.tables[k]) continue;
    // Two calls, and no choice between an adjacency without a cache of lists and one that may have it: see place_of.
    const Adj& a = p.graph.adj[k];
    if (!a.levels) {
      if (p.instead.off) fill_table(p, adj_of(p.instead), p.tables[k], first, step);
      else fill_table(p, a, p.tables[k], first, step);
      continue;
    }
    Adj own = a; // sparse lists have no cache
    if (p.instead.off) own.adj = p.instead.adj, own.rows = p.instead.rows;
    const u64 n = min((u64)own.rows[p.lists], p.end);
    for (u64 at = first; at < n; at += step) put_members(SparseAdj{own}, own.rows, p.tables[k], p.run.vertices, p.lists, at, min(at + MEMBER_PART, n));
  }
}

#endif
