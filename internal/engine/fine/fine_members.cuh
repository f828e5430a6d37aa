// Who is in a neighbour list, in one load instead of a binary search: a hash table
// a list, of buckets of four ids. A search takes a chain of dependent loads, each
// from a line of its own for every lane; a bucket is half a sector.
//
// List v of d ids has (d+1)/2 buckets, which begin at bucket (off[v] + v + 1) / 2
// of its adjacency's tables: they are at most half full and need no offsets. A
// full bucket goes on in the next one. Short lists stay lists.
#ifndef FINE_MEMBERS
#define FINE_MEMBERS
#include "fine_steal.cuh"
#include "prepare.cuh"

// Lists that are searched: all of their probes are in a line or two.
#define FINE_SHORT 16
// Neighbours that a warp puts into tables at a time.
#define FINE_PART 1024

DEV u32 bucket_of(u32 v, u32 buckets) { return (u32)((u64)(v * 0x9e3779b1u) * buckets >> 32); }
DEV u64 first_bucket(u64 off, u32 v) { return (off + v + 1) >> 1; }

// Puts the neighbours of adjacency a with places first … end-1 into its tables,
// which are all ones. n: vertices. Collective.
DEV void put_members(const Adj& a, u32* tables, u32 n, u64 first, u64 end) {
  u32 v = source_of(a.off, n, first);
  for (u64 at = first; at < end; v++) {
    u64 b = a.off[v], e = a.off[v + 1], stop = min(e, end);
    if (e - b > FINE_SHORT) {
      u32 buckets = (u32)(e - b + 1) / 2;
      u32* mine = tables + 4 * first_bucket(b, v);
      for (u64 i = at + lane(); i < stop; i += 32) {
        u32 w = a.adj[i];
        for (u32 s = 4 * bucket_of(w, buckets); atomic_cas(&mine[s], ~0u, w) != ~0u; s = s + 1 == 4 * buckets ? 0 : s + 1) {}
      }
    }
    at = stop;
  }
}

// Whether v is in u's list of a, an adjacency of q; tables as the block's head has
// them. One lane.
template <class Q> DEV bool member(const Q& q, const Adj& a, const Adj& back, u32 u, u32 v) {
  u32 k = (u32)(&a - q.adj);
  const u32* tables = k < FINE_TABLES ? ((const Head*)shared())->tables[k] : 0;
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
