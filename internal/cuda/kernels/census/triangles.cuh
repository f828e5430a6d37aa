// The triangles of each edge: the root marks its neighbours, and its edge to each larger vertex shares the marked ones of
// that vertex's list, which is the shorter (Chiba and Nishizeki, Arboricity and subgraph listing algorithms, 1985).
#ifndef WEFT_CENSUS_TRIANGLES
#define WEFT_CENSUS_TRIANGLES
#include "census/census.cuh"

// Finds triangles, mirror and less for all vertices. triangles is 0 before.
template <class T> DEV void census_triangles(const CensusParams& p) {
  const Census& x = p.x;
  Crew<T, false> c(p);
  each_root(c, [&](u32 v) { return degree(x, v); }, [&](u32 v) {
    const Set all = neighbours(x, v);
    const u32 first = lower_bound(all.p, all.n, v), n = all.n - first;
    const u64 slot = x.off[v] + first;
    if (T::rank() == 0) x.less[v] = first;
    if (n == 0) return;
    c.mark(all, 0);
    T::sync();
    const u32* above = all.p + first;
    c.each_of(n, [&](u32 k) {
      const Set a = neighbours(x, above[k]);
      return Stretch{a.p, a.n, k};
    }, [&](u32 k, const u32* at, u32 w, bool live) {
      const bool in = live && c.place_of(w) != 0;
      if (live && w == v) {
        const u64 other = (u64)(at - x.adj);
        x.mirror[slot + k] = (u32)(other - x.off[above[k]]);
        x.mirror[other] = first + k;
      }
      // The lanes of a stretch are neighbours: one adds for all of them.
      const u32 votes = ballot(ALL, in);
      if (!votes) return;
      const u32 before = shfl_up(ALL, k, 1);
      const u32 begins = ballot(ALL, live && (lane() == 0 || before != k));
      if (begins >> lane() & 1) {
        const u32 later = lane() == 31 ? 0 : begins >> (lane() + 1) << (lane() + 1);
        const u32 until = later ? (1u << ctz(later)) - 1 : ALL;
        const u32 t = popc(votes & until & ~Warp::below());
        if (t) atomic_add(&x.triangles[slot + k], t);
      }
    });
    for (u32 k = T::rank(); k < n; k += T::size()) {
      const u32 t = load_relaxed(&x.triangles[slot + k]);
      if (t) x.triangles[x.off[above[k]] + x.mirror[slot + k]] = t;
    }
    c.forget(all, 0);
  });
}

#endif
