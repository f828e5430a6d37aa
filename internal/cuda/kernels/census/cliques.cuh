// Cliques and near-cliques, at the largest vertex of a triangle. The root makes a matrix of its smaller neighbours, of
// which it has few: a row has the root's neighbours that one of them is adjacent to.
#ifndef WEFT_CENSUS_CLIQUES
#define WEFT_CENSUS_CLIQUES
#include "census/rows.cuh"

#define SHORT_ROWS 4 // words of rows that a lane reads alone

// The bits that rows i and k share, by a lane, or by the lanes of a warp, each a part.
DEV u32 shared_bits(const Rows& m, u32 i, u32 k, u32 from, u32 step) {
  u32 n = 0;
  for (u32 j = from; j < m.words; j += step) n += popc(m.row(i)[j] & m.row(k)[j]);
  return n;
}

// The bits that rows i and k share below bit k, which is below bit i.
DEV u32 shared_below(const Rows& m, u32 i, u32 k, u32 from, u32 step) {
  u32 n = 0;
  const u32 last = k >> 5;
  for (u32 j = from; j <= last; j += step) n += popc(m.row(i)[j] & m.row(k)[j] & (j < last ? ALL : low_bits(k & 31)));
  return n;
}

// The edges among the bits that rows i and k share below bit k.
DEV u32 edges_below(const Rows& m, u32 i, u32 k, u32 from, u32 step) {
  u32 n = 0;
  const u32 last = k >> 5;
  for (u32 j = 0; j <= last; j++) {
    for (u32 y = m.row(i)[j] & m.row(k)[j] & (j < last ? ALL : low_bits(k & 31)); y; y &= y - 1) {
      const u32 b = ctz(y);
      const u32* row = m.row(32 * j + b);
      for (u32 h = from; h <= j; h += step) n += popc(m.row(i)[h] & m.row(k)[h] & row[h] & (h < j ? ALL : low_bits(b)));
    }
  }
  return n;
}

template <class T, u32 SIZE> DEV void census_cliques(const CensusParams& p) {
  const Census& x = p.x;
  Crew<T, false> c(p);
  u128 clique4 = 0, tail4 = 0, k5wedge = 0, k5edge = 0, clique5 = 0;
  auto size = [&](u32 v) {
    const u32 n = x.less[v], columns = SIZE == 4 ? n : degree(x, v);
    return n < 2 ? 0 : n > x.limit || n * ((columns + 31) / 32) > x.near ? ~0u : n;
  };
  each_root(c, size, [&](u32 v) {
    const u32 n = x.less[v];
    if (n < (SIZE == 4 ? 3 : 2)) return;
    const Set all = neighbours(x, v);
    const u64 slot = x.off[v];
    const u32* list = all.p;
    bool closed = false;
    for (u32 i = T::rank(); i < n; i += T::size()) closed |= x.triangles[slot + i] > 1;
    if (!c.any(closed)) return; // an edge of a 4-clique is in two triangles
    // Of larger neighbours there are only columns.
    const u32 columns = SIZE == 4 ? n : all.n;
    c.mark(Set{list, n}, 0);
    const u32 words = (columns + 31) / 32;
    const u64 cells = (u64)n * words;
    const Rows m = {cells <= x.near ? c.near : c.rows, words};
    clear_words<T>(m.p, cells);
    T::sync();
    // The smaller neighbours of list[k] below v.
    auto smaller = [&](u32 k) {
      const u32 u = list[k];
      return Stretch{x.adj + x.off[u], x.triangles[slot + k] > 1 ? k < n ? x.less[u] : x.mirror[slot + k] : 0, k};
    };
    c.each_of(columns, smaller, [&](u32 k, const u32*, u32 y, bool live) {
      const u32 at = live ? c.place_of(y) : 0;
      if (at == 0) return;
      m.set(at - 1, k);
      if (k < n) m.set(k, at - 1);
    });
    c.each_of(n, smaller, [&](u32 k, const u32* from, u32 y, bool live) {
      const u32 at = live ? c.place_of(y) : 0, i = at - 1;
      if constexpr (SIZE == 4) {
        if (words <= SHORT_ROWS) {
          if (at) clique4 += shared_below(m, k, i, 0, 1);
          return;
        }
        for (u32 left = ballot(ALL, at != 0); left; left &= left - 1) {
          const u32 of = ctz(left);
          clique4 += shared_below(m, shfl(ALL, k, of), shfl(ALL, i, of), lane(), 32);
        }
      } else {
        u32 others = 0; // that form a 4-clique with the triangle
        if (words <= SHORT_ROWS) {
          if (at) others = shared_bits(m, k, i, 0, 1);
          if (others > 1) clique5 += edges_below(m, k, i, 0, 1);
        } else {
          for (u32 left = ballot(ALL, at != 0); left; left &= left - 1) {
            const u32 of = ctz(left), a = shfl(ALL, k, of), b = shfl(ALL, i, of);
            const u32 got = Warp::sum(shared_bits(m, a, b, lane(), 32));
            if (lane() == of) others = got;
            if (got > 1) clique5 += edges_below(m, a, b, lane(), 32);
          }
        }
        if (others == 0) return;
        const u64 cliques = others, degrees = (u64)all.n + degree(x, list[k]) + degree(x, list[i]);
        const u64 triangles = (u64)x.triangles[slot + k] + x.triangles[slot + i] + x.triangles[from - x.adj];
        clique4 += cliques;
        tail4 += (u128)cliques * (degrees - 9);
        k5wedge += (u128)cliques * (triangles - 6);
        k5edge += choose2(cliques);
      }
    });
    c.forget(Set{list, n}, 0);
  });
  add_sum(p, CLIQUE4, clique4);
  if constexpr (SIZE == 5) {
    add_sum(p, TAIL4, tail4), add_sum(p, K5WEDGE, k5wedge), add_sum(p, K5EDGE, k5edge), add_sum(p, CLIQUE5, clique5);
  }
}

#endif
