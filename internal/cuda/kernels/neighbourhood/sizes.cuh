// Plans of which only the number of common neighbours of root and level 1 matters
// (a triangle, a diamond): no matrix. The universe is put into a sieve, and the
// neighbours of level 1's vertices, laid end to end, are asked for in it.
#ifndef WEFT_LOCAL_SIZES
#define WEFT_LOCAL_SIZES
#include "neighbourhood/hood.cuh"
#include "base/sieve.cuh"

#define OWN_WALK 96 // elements from which a list is walked by itself

// How many elements of each lane's list are in the sieve; where only the sum over
// all lanes matters, it may be spread over them otherwise. Long lists are walked
// one by one, four loads at a time, the others end to end. Collective for the warp.
DEV u32 count_known(const Sieve& known, Set a) {
  constexpr bool sum_only = W_LEVELS - W_ENUM == 1;
  u32 mine = 0;
  for (u32 longs = ballot(ALL, a.n >= OWN_WALK); longs; longs &= longs - 1) {
    u32 from = ctz(longs), n = shfl(ALL, a.n, from), c = 0;
    const u32* p = shfl(ALL, a.p, from);
    for (u32 i = lane(); i < n; i += 128) {
      u32 x[4];
      UNROLL
      for (u32 j = 0; j < 4; j++) x[j] = i + 32 * j < n ? p[i + 32 * j] : ~0u;
      UNROLL
      for (u32 j = 0; j < 4; j++) c += has(known, x[j]);
    }
    if constexpr (!sum_only) {
      u32 all = reduce_add(ALL, c);
      c = lane() == from ? all : 0;
    }
    mine += c;
  }
  if (a.n >= OWN_WALK) a.n = 0;
  if (!any(ALL, a.n > 0)) return mine;
  if constexpr (sum_only)
    each(stream(a), [&](Window w) { mine += has(known, w.x); });
  else
    mine += count_each(a, stream(a), [&](u32 x, u32) { return has(known, x); });
  return mine;
}

// Whether this sweep of the search may find matches of a root: all may, if there is only one.
DEV bool in_sweep(const Graph& q, u32 root) {
#ifdef WEFT_CACHED
  if (q.adj[0].cache) {
    const CacheHead& b = *(const CacheHead*)q.adj[0].cache;
    return b.roots <= root && root < b.roots_end;
  }
#endif
  return true;
}

// The matches whose root has the universe s, in share's part of them. The sieve is zero before and after.
template <class C> DEV void search_root(const LocalParams& p, u8* m, u32*, const Share& share, Set s, Tally& n) {
  using T = Team<C::team>;
  using Row = typename C::Row;
  const Graph& q = p.graph;
  u32 root = share.root;
#ifdef WEFT_CACHED
  s = copy_of<T>(s, (u32*)(m + C::copy), C::kept);
#endif
  u32 cut = W_UNIVERSE == 1 ? s.n : W_UNIVERSE == 2 ? 0 : below(lists(q), root).n;
  Hood<Row> h = {(const u32*)0, (const u32*)0, s.n, cut};
  u32 from = level1_from(q, h), end = min(level1_end(q, h), h.d);
  if (share.parts > 1) {
    u32 all = end > from ? end - from : 0;
    end = from + all * (share.part + 1) / share.parts;
    from += all * share.part / share.parts;
  }
#ifdef WEFT_CACHED
  if (q.adj[0].cache) { // those of a block of vertices
    const CacheHead& b = *(const CacheHead*)q.adj[0].cache;
    if (b.block > 0) from = max(from, lower_bound(s.p, s.n, b.block));
    if (b.block_end != ~0u) end = min(end, lower_bound(s.p, s.n, b.block_end));
    if (from >= end) return;
  }
#endif
  Sieve known = sieve(T(), (u32*)(m + C::table), C::sieve, s);
  deal<T>((TeamHead*)m, from, end, 4, [&](u32 k0, u32 k1) {
    if (n.watch.leave(Warp(), p.run)) return;
    u32 k = k0 + lane();
    bool ok = k < k1;
    u32 u = ok ? s.p[k] : 0;
#if W_MASK1
    ok = ok && mask_ok(q, W_MASK1 - 1, u);
#endif
    Set a = {(const u32*)0, 0};
    if (ok) a = counted(q, u);
    u32 common = count_known(known, a);
#if W_LEVELS - W_ENUM == 1
    n.root += common; // each common neighbour is a match
#else
    if (!ok) return;
    h.rows = &common;
    n.root += nest(q, h, 0u, 0u);
#endif
  });
  clear(T(), known);
}

#endif
