// 4-cycles and closed walks of length five, at the least of their vertices: the root walks to larger neighbours'
// neighbours that are larger than itself, and counts how often it meets each. Triangles are met on the way.
#ifndef WEFT_CENSUS_CYCLES
#define WEFT_CENSUS_CYCLES
#include "census/census.cuh"

// SIZE 5 is for motifs of five vertices, and 4 for those of four, which need 4-cycles alone.
template <class T, u32 SIZE> DEV void census_cycles(const CensusParams& p) {
  const Census& x = p.x;
  Crew<T, true> c(p);
  u128 cycle4 = 0, banner = 0, house = 0, walks = 0, kite = 0, gem = 0, tailed = 0;
  u64 triangles = 0;
  auto size = [&](u32 v) {
    const u64 slot = x.off[v];
    const u32 d = degree(x, v), first = x.less[v];
    if (d - first > x.limit) return d - first;
    u32 n = 0;
    for (u32 i = first + lane(); i < d; i += 32) n += min(degree(x, x.adj[slot + i]) - x.mirror[slot + i], x.limit + 1);
    return Warp::sum(n);
  };
  each_root(c, size, [&](u32 v) {
    const Set all = neighbours(x, v);
    const u32 first = x.less[v], n = all.n - first;
    if (n == 0 || SIZE == 4 && n < 2) return;
    const u64 slot = x.off[v];
    const u32* list = all.p;
    if (SIZE == 5) c.mark(all, first);
    T::sync();
    // The neighbours above v of list[first + k].
    auto above = [&](u32 k) {
      const u32 i = first + k, from = x.mirror[slot + i] + 1;
      const Set a = neighbours(x, list[i]);
      return Stretch{a.p + from, a.n - from, i};
    };
    u64 here = 0; // triangles
    c.each_of(n, above, [&](u32 i, const u32* at, u32 w, bool live) {
      c.meet(w, live);
      if (SIZE == 4 || !live) return;
      const u32 u = list[i];
      const u64 t = x.triangles[slot + i];
      if (t == 0 || w < u) return;
      const u32 k = c.place_of(w);
      if (k == 0) return;
      here++;
      const u64 vu = t - 1, vw = x.triangles[slot + k - 1] - 1, uw = x.triangles[at - x.adj] - 1;
      kite += (u128)vu * (degree(x, w) - 2) + (u128)vw * (degree(x, u) - 2) + (u128)uw * (all.n - 2);
      gem += (u128)vu * vw + (u128)vu * uw + (u128)vw * uw;
    });
    triangles += here;
    if (here) tailed += (u128)here * (n - 2);
    const u32 met = c.m->met;
    bool cycles = false;
    for (u32 i = T::rank(); i < met; i += T::size()) {
      const u64 s = c.times[c.met[i]];
      if (s < 2) continue;
      cycles = true;
      const u64 found = choose2(s);
      cycle4 += found;
      if (SIZE == 5) banner += (u128)found * ((u64)all.n + degree(x, c.vertex(c.met[i])) - 4);
    }
    if (SIZE == 5) {
      if (c.any(cycles))
        c.each_of(n, above, [&](u32 i, const u32* at, u32 w, bool live) {
          const u64 s = live ? c.times_of(w) : 0;
          if (s < 2) return;
          banner += (u128)(s - 1) * (degree(x, list[i]) - 2);
          house += (u128)(s - 1) * ((u64)x.triangles[slot + i] + x.triangles[at - x.adj]);
        });
      // Two of those met that are neighbours: each edge once.
      c.each_of(met, [&](u32 k) {
        const u32 s = c.times[c.met[k]];
        if (s == 0) return Stretch{x.adj, 0, 0};
        const u32 w = c.vertex(c.met[k]), end = x.less[w];
        const u32* a = x.adj + x.off[w];
        const u32 from = lower_bound(a, end, v + 1);
        return Stretch{a + from, end - from, s};
      }, [&](u32 s, const u32*, u32 z, bool live) {
        if (live) walks += (u64)c.times_of(z) * s;
      });
    }
    c.forget(all, SIZE == 5 ? first : all.n);
  });
  add_sum(p, CYCLE4, cycle4);
  if constexpr (SIZE == 5) {
    add_sum(p, BANNER, banner), add_sum(p, HOUSE, house), add_sum(p, CYCLE5, walks), add_sum(p, KITE, kite);
    add_sum(p, GEM, gem), add_sum(p, LEAST_TRIANGLES, triangles), add_sum(p, LEAST_TAILED, tailed);
  }
}

#endif
