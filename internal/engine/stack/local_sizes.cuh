// Plans of which only the number of common neighbours of root and level 1 matters
// (a triangle, a diamond): no matrix. The universe is put into a sieve, and the
// neighbours of level 1's vertices, laid end to end, are asked for in it.
#ifndef WEFT_LOCAL_SIZES
#define WEFT_LOCAL_SIZES
#include "local_hood.cuh"
#include "sieve.cuh"

// The matches whose root has the universe s. The sieve is zero before and after.
template <class C> DEV void search_root(const LocalParams& p, u8* m, u32*, u32 root, Set s, Tally& n) {
  using T = Team<C::team>;
  using Row = typename C::Row;
  const Graph& q = p.graph;
  u32 cut = W_UNIVERSE == 1 ? s.n : W_UNIVERSE == 2 ? 0 : below(q.adj[0], root).n;
  Hood<Row> h = {(const u32*)0, (const u32*)0, s.n, cut};
  u32 from = level1_from(q, h), end = min(level1_end(q, h), h.d);
  Sieve known = sieve(T(), (u32*)(m + C::table), C::sieve, s);
  deal<T>((TeamHead*)m, from, end, 4, [&](u32 k0, u32 k1) {
    u32 k = k0 + lane();
    bool ok = k < k1;
    u32 u = ok ? s.p[k] : 0;
#if W_MASK1
    ok = ok && mask_ok(q, W_MASK1 - 1, u);
#endif
    Set a = {(const u32*)0, 0};
    if (ok) a = counted(q, u);
#if W_LEVELS - W_ENUM == 1
    // A common neighbour is a match, whoever's it is.
    u32 common = 0;
    each(stream(a), [&](Window w) { common += has(known, w.x); });
    n.root += common;
#else
    u32 common = count_each(a, stream(a), [&](u32 x, u32) { return has(known, x); });
    if (!ok) return;
    h.rows = &common;
    n.root += nest(q, h, 0u, 0u);
#endif
  });
  clear(T(), known);
}

#endif
