// 4-cycles and closed walks of length five, at the least of their vertices: the root walks to larger neighbours'
// neighbours that are larger than itself, and counts how often it meets each. Triangles are met on the way.
#ifndef WEFT_CENSUS_CYCLES
#define WEFT_CENSUS_CYCLES
#include "census/census.cuh"

// A cell has the number of times that its vertex was met, and above that its place among the root's neighbours + 1, or 0.
DEV u32 times(u64 cell) { return (u32)cell; }
DEV u32 place_of(u64 cell) { return (u32)(cell >> 32); }

template <class T, u32 SIZE> DEV void census_cycles(const CensusParams& p) {
  const Census& x = p.x;
  Crew<T> c(p);
  u128 cycle4 = 0, banner = 0, house = 0, walks = 0, kite = 0, gem = 0, tailed = 0;
  u64 triangles = 0;
  each_root<T>(c, [&](u32 v) {
    const Set all = neighbours(x, v);
    const u32 first = x.less[v], n = all.n - first;
    if (n == 0 || SIZE == 4 && n < 2) return;
    const u64 slot = x.off[v];
    const u32* list = all.p;
    if (T::rank() == 0) c.m->met = c.m->flag = 0;
    if (SIZE == 5)
      for (u32 i = first + T::rank(); i < all.n; i += T::size()) c.cells[list[i]] = (u64)(i + 1) << 32;
    T::sync();
    // The neighbours of u = list[i] above v.
    auto above = [&](u32 k) {
      const u32 i = first + k, from = x.mirror[slot + i] + 1;
      const Set a = neighbours(x, list[i]);
      return Stretch{a.p + from, a.n - from, i};
    };
    u64 here = 0; // triangles
    c.each_of(n, above, [&](u32 i, const u32* at, u32 w, bool live) {
      const u64 old = live ? atomic_add(&c.cells[w], (u64)1) : 1;
      c.note(w, times(old) == 0);
      if (SIZE == 4 || !live || place_of(old) == 0) return;
      const u32 u = list[i];
      if (w < u) return;
      here++;
      const u64 vu = x.triangles[slot + i] - 1, vw = x.triangles[slot + place_of(old) - 1] - 1, uw = x.triangles[at - x.adj] - 1;
      kite += (u128)vu * (degree(x, w) - 2) + (u128)vw * (degree(x, u) - 2) + (u128)uw * (all.n - 2);
      gem += (u128)vu * vw + (u128)vu * uw + (u128)vw * uw;
    });
    triangles += here;
    if (here) tailed += (u128)here * (n - 2);
    const u32 met = c.m->met;
    bool cycles = false;
    for (u32 i = T::rank(); i < met; i += T::size()) {
      const u32 w = c.met[i];
      const u64 s = times(c.cells[w]);
      if (s < 2) continue;
      cycles = true;
      const u64 found = choose2(s);
      cycle4 += found;
      if (SIZE == 5) banner += (u128)found * ((u64)all.n + degree(x, w) - 4);
    }
    if (SIZE == 5) {
      if (cycles) store_relaxed(&c.m->flag, 1u);
      T::sync();
      if (c.m->flag)
        c.each_of(n, above, [&](u32 i, const u32* at, u32 w, bool live) {
          const u64 s = live ? times(c.cells[w]) : 0;
          if (s < 2) return;
          banner += (u128)(s - 1) * (degree(x, list[i]) - 2);
          house += (u128)(s - 1) * ((u64)x.triangles[slot + i] + x.triangles[at - x.adj]);
        });
      // Two of those met that are neighbours: each edge once.
      c.each_of(met, [&](u32 k) {
        const u32 w = c.met[k], end = x.less[w];
        const u32* a = x.adj + x.off[w];
        const u32 from = lower_bound(a, end, v + 1);
        return Stretch{a + from, end - from, times(c.cells[w])};
      }, [&](u32 s, const u32*, u32 z, bool live) {
        if (live) walks += (u64)times(c.cells[z]) * s;
      });
    }
    T::sync();
    for (u32 i = T::rank(); i < met; i += T::size()) c.cells[c.met[i]] = 0;
    if (SIZE == 5)
      for (u32 i = first + T::rank(); i < all.n; i += T::size()) c.cells[list[i]] = 0;
    T::sync();
  });
  add_sum(p, CYCLE4, cycle4);
  if constexpr (SIZE == 5) {
    add_sum(p, BANNER, banner), add_sum(p, HOUSE, house), add_sum(p, CYCLE5, walks), add_sum(p, KITE, kite);
    add_sum(p, GEM, gem), add_sum(p, LEAST_TRIANGLES, triangles), add_sum(p, LEAST_TAILED, tailed);
  }
}

#endif
