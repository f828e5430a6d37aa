// The neighbours that two vertices share, at the larger of the two as the root: how many there are, and the edges among
// them. The root walks to its neighbours' neighbours that are smaller than itself, and counts how often it meets each.
#ifndef WEFT_CENSUS_PAIRS
#define WEFT_CENSUS_PAIRS
#include "census/rows.cuh"

// Where edges among shared neighbours are looked for, a vertex has, in place of the times that it was met, its number among those
// found + FOUND, or 0.
#define FOUND 0x80000000u
#define LEAST_SHARED 3

// The sums over the pairs of one root, by a lane.
struct Spokes {
  u128 spoke, wheel;

  // Adds the edges among s shared neighbours: the number of their ends, and of pairs of edges with a common end.
  DEV void add(u64 s, u64 ends, u64 pairs) {
    spoke += (u128)(ends / 2) * (s - 2);
    wheel += pairs;
  }
};

// The ends of edges, and pairs of edges, at neighbour k of those in a row.
DEV u32 edges_at(const Rows& m, const u32* tail, u32 k) {
  u32 n = 0;
  for (u32 j = 0; j < m.words; j++)
    if (tail[j]) n += popc(tail[j] & m.row(k)[j]);
  return n;
}

// Edges among the shared neighbours, by a matrix of the root's neighbours. tails has the shared neighbours of the vertices
// found, a row each. A lane takes a vertex where rows are short, and a warp elsewhere. Collective for the team.
template <class C> DEV void count_by_rows(C& c, const Rows& m, const u32* tails, u32 n, const u32* shared, Spokes& sums) {
  typedef typename C::Lanes T;
  if (m.words <= 2) {
    for (u32 i = T::rank(); i < n; i += T::size()) {
      const u32* tail = tails + (u64)i * m.words;
      u64 ends = 0, pairs = 0;
      for (u32 j = 0; j < m.words; j++)
        for (u32 y = tail[j]; y; y &= y - 1) {
          const u32 e = edges_at(m, tail, 32 * j + ctz(y));
          ends += e, pairs += choose2(e);
        }
      sums.add(shared[i], ends, pairs);
    }
    return;
  }
  for (u32 i = T::warp_of(); i < n && !c.leave(); i += T::warps()) {
    const u32* tail = tails + (u64)i * m.words;
    u64 ends = 0, pairs = 0;
    for (u32 j = 0; j < m.words; j++) {
      if (!(tail[j] >> lane() & 1)) continue;
      const u32 e = edges_at(m, tail, 32 * j + lane());
      ends += e, pairs += choose2(e);
    }
    ends = Warp::sum(ends);
    pairs = Warp::sum(pairs);
    if (lane() == 0) sums.add(shared[i], ends, pairs);
  }
}

// The same without a matrix, for a root whose neighbours are too many for one: the team looks for the edges of one found
// vertex after the other. counts has a word for each neighbour of the root.
template <class C>
DEV void count_by_lists(C& c, Set list, u32 words, u32* counts, const u32* tails, u32 n, const u32* shared, Spokes& sums) {
  typedef typename C::Lanes T;
  const Census& x = c.p.x;
  for (u32 i = 0; i < n; i++) {
    const u32* tail = tails + (u64)i * words;
    auto in = [&](u32 k) { return tail[k >> 5] >> (k & 31) & 1; };
    for (u32 k = T::rank(); k < list.n; k += T::size()) counts[k] = 0;
    T::sync();
    c.each_of(list.n, [&](u32 k) {
      const u32 u = list.p[k];
      return Stretch{x.adj + x.off[u], in(k) ? x.less[u] : 0, k};
    }, [&](u32 k, const u32*, u32 y, bool live) {
      const u32 at = live ? c.place_of(y) : 0;
      if (at == 0 || !in(at - 1)) return;
      atomic_add(&counts[k], 1u);
      atomic_add(&counts[at - 1], 1u);
    });
    u64 ends = 0, pairs = 0;
    for (u32 k = T::rank(); k < list.n; k += T::size()) {
      const u64 e = counts[k];
      ends += e, pairs += choose2(e);
    }
    ends = Warp::sum(ends);
    pairs = Warp::sum(pairs);
    u64 all = team_sum<T>(&c.m->head, lane() == 0 ? ends : 0);
    if (T::rank() == 0) sums.add(shared[i], all, 0);
    if (lane() == 0) sums.wheel += pairs;
    T::sync();
  }
}

template <class T> DEV void census_pairs(const CensusParams& p) {
  const Census& x = p.x;
  Crew<T, true> c(p);
  u128 k23 = 0;
  Spokes sums = {0, 0};
  auto size = [&](u32 v) {
    const u64 slot = x.off[v];
    const u32 d = degree(x, v), words = (d + 31) / 32;
    if (d < LEAST_SHARED) return 0u;
    if (d > x.limit || (d + 1) * words > x.near) return ~0u;
    u32 n = 0;
    for (u32 i = lane(); i < d; i += 32) n += min(x.mirror[slot + i] + 1, x.limit + 1);
    return Warp::sum(n);
  };
  each_root(c, size, [&](u32 v) {
    const Set all = neighbours(x, v);
    if (all.n < LEAST_SHARED) return; // no other vertex shares as many
    const u64 slot = x.off[v];
    const u32* list = all.p;
    if (T::rank() == 0) c.m->found = 0;
    T::sync();
    // The neighbours below v of list[k].
    auto below = [&](u32 k) { return Stretch{x.adj + x.off[list[k]], x.mirror[slot + k], k}; };
    c.each_of(all.n, below, [&](u32, const u32*, u32 w, bool live) { c.meet(w, live); });
    bool closed = false;
    for (u32 i = T::rank(); i < all.n; i += T::size()) closed |= x.triangles[slot + i] != 0;
    const bool edges = c.any(closed);
    const u32 met = c.m->met;
    for (u32 i = T::rank(); i < met; i += T::size()) {
      u32* times = &c.times[c.met[i]];
      const u32 s = *times;
      if (s >= LEAST_SHARED) k23 += choose3(s);
      if (!edges) continue;
      *times = 0;
      if (s < LEAST_SHARED) continue;
      const u32 k = atomic_add(&c.m->found, 1u);
      c.found[k] = s;
      *times = FOUND + k;
    }
    T::sync();
    const u32 found = c.m->found;
    T::sync();
    if (found == 0) return c.forget(all, all.n);
    c.mark(all, 0);
    const u32 words = (all.n + 31) / 32;
    const u64 cells = (u64)all.n * words;
    const bool near = !T::is_warp && cells <= x.near, matrix = near || cells + words <= c.room;
    const Rows m = {near ? c.near : c.rows, words};
    u32* tails = near ? c.rows : c.rows + (matrix ? cells : all.n);
    const u64 room = c.room - (u64)(tails - c.rows);
    if (matrix) clear_words<T>(m.p, cells);
    T::sync();
    if (matrix)
      c.each_of(all.n, [&](u32 k) { return Stretch{x.adj + x.off[list[k]], x.triangles[slot + k] ? x.less[list[k]] : 0, k}; },
                [&](u32 k, const u32*, u32 y, bool live) {
                  const u32 at = live ? c.place_of(y) : 0;
                  if (at == 0) return;
                  m.set(k, at - 1);
                  m.set(at - 1, k);
                });
    const u32 batch = (u32)min(room / words, (u64)found);
    for (u32 from = 0; from < found; from += batch) {
      const u32 n = min(batch, found - from);
      clear_words<T>(tails, (u64)n * words);
      T::sync();
      // Only neighbours that share one with the root have an edge to one.
      c.each_of(all.n, [&](u32 k) {
        Stretch a = below(k);
        if (!x.triangles[slot + k]) a.n = 0;
        return a;
      }, [&](u32 k, const u32*, u32 w, bool live) {
        const u32 i = (live ? c.times_of(w) : 0) - FOUND - from;
        if (i < n) atomic_or(&tails[(u64)i * words + (k >> 5)], 1u << (k & 31));
      });
      if (matrix) count_by_rows(c, m, tails, n, c.found + from, sums);
      else count_by_lists(c, all, words, c.rows, tails, n, c.found + from, sums);
      T::sync();
    }
    c.forget(all, 0);
  });
  add_sum(p, K23, k23);
  add_sum(p, SPOKE, sums.spoke);
  add_sum(p, WHEEL, sums.wheel);
}

#endif
