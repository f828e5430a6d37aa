// Neighbour lists as hash tables (fine_members.cuh), of buckets of four ids: half a
// sector, and one load.
//
// List v of d ids has (d+1)/2 buckets, which begin at bucket (off[v] + v + 1) / 2
// of its adjacency's tables: they are at most half full and need no offsets. A
// full bucket goes on in the next one; empty places are ones. Short lists stay
// lists.
#ifndef FINE_HASH
#define FINE_HASH
#include "graph.cuh"

// Lists that are searched: all of their probes are in a line or two.
#define FINE_SHORT 16

DEV u32 bucket_of(u32 v, u32 buckets) { return (u32)((u64)(v * 0x9e3779b1u) * buckets >> 32); }
DEV u64 first_bucket(u64 off, u32 v) { return (off + v + 1) >> 1; }

DEV void put_list(const Adj& a, u32* tables, u32, u32 v, u64 first, u64 end) {
  u64 b = a.off[v], e = a.off[v + 1];
  if (e - b <= FINE_SHORT) return;
  u32 buckets = (u32)(e - b + 1) / 2;
  u32* mine = tables + 4 * first_bucket(b, v);
  for (u64 i = first + lane(); i < end; i += 32) {
    u32 w = a.adj[i];
    for (u32 s = 4 * bucket_of(w, buckets); atomic_cas(&mine[s], ~0u, w) != ~0u; s = s + 1 == 4 * buckets ? 0 : s + 1) {}
  }
}

// tables null: all lists are searched.
template <class Q> DEV bool listed(const Q&, const Adj& a, const Adj& back, const u32* tables, u32 u, u32 v) {
  if (!tables) return adjacent(a, back, u, v);
  u64 b = ldg(&a.off[u]);
  u32 n = (u32)(ldg(&a.off[u + 1]) - b);
  if (n <= FINE_SHORT) return contains(Set{a.adj + b, n}, v);
  u32 buckets = (n + 1) / 2;
  const u32x4* mine = (const u32x4*)tables + first_bucket(b, u);
  for (u32 s = bucket_of(v, buckets);; s = s + 1 == buckets ? 0 : s + 1) {
    u32x4 k = ldg(&mine[s]);
    if (k.x == v || k.y == v || k.z == v || k.w == v) return true;
    if (k.w == ~0u) return false;
  }
}

#endif
