// Sums over vertices and edges of products of degrees, and of the triangles that each edge is in.
#ifndef WEFT_CENSUS_DEGREES
#define WEFT_CENSUS_DEGREES
#include "census/census.cuh"

// One pass over the vertices, each by a warp.
template <u32 SIZE> DEV void census_degrees(const CensusParams& p) {
  const Census& x = p.x;
  u128 wedge = 0, star3 = 0, star4 = 0, path4 = 0, tailed = 0, diamond = 0, triangle = 0;
  u128 fork = 0, path5 = 0, bull = 0, lollipop = 0, cricket = 0, bowtie = 0, dart = 0, book = 0;
  const u64 roots = ((u64)x.n - x.first + x.step - 1) / x.step;
  Watch watch = {0, false};
  u64 done = 0;
  const u64 at0 = (u64)block() * threads() + thread(), all = (u64)blocks() * threads();
  for (u64 at = at0 / 32; at < roots && !watch.leave(Warp(), p.run); at += all / 32, done += lane() == 0) {
    const u32 v = (u32)(x.first + at * x.step);
    const u64 slot = x.off[v], d = x.off[v + 1] - slot;
    u64 t = 0, far = 0, squares = 0, beyond = 0, pairs = 0;
    for (u64 i = lane(); i < d; i += 32) {
      const u64 tu = x.triangles[slot + i], du = degree(x, x.adj[slot + i]) - 1;
      t += tu, far += du, beyond += tu * du, pairs += choose2(tu);
      if (SIZE == 5) squares += du * du, book += choose3(tu);
    }
    t = Warp::sum(t), far = Warp::sum(far), pairs = Warp::sum(pairs);
    if (SIZE == 5) beyond = Warp::sum(beyond), squares = Warp::sum(squares);
    if (lane() != 0 || d == 0) continue;
    const u64 two = choose2(d);
    wedge += two, triangle += t, diamond += pairs;
    path4 += (u128)(d - 1) * far;
    if (t > 0) tailed += (u128)t * (d - 2);
    if (SIZE == 4) {
      if (d > 2) star3 += (u128)two * (d - 2);
      continue;
    }
    const u64 at_v = t / 2; // triangles
    star4 += choose4(d);
    fork += (u128)choose2(d - 1) * far;
    path5 += (u128)far * far - squares;
    bowtie += (u128)at_v * (at_v ? at_v - 1 : 0) >> 1;
    lollipop += (u128)at_v * far - beyond;
    if (t == 0) continue;
    cricket += (u128)at_v * choose2(d - 2);
    bull += (u128)(d - 2) * (beyond - t);
    if (pairs > 0) dart += (u128)pairs * (d - 3);
  }
  add_sum(p, WEDGE, wedge), add_sum(p, TRIANGLE, triangle), add_sum(p, PATH4, path4), add_sum(p, TAILED, tailed), add_sum(p, DIAMOND, diamond);
  if constexpr (SIZE == 4) add_sum(p, STAR3, star3);
  if constexpr (SIZE == 5) {
    add_sum(p, STAR4, star4), add_sum(p, FORK, fork), add_sum(p, PATH5, path5), add_sum(p, BULL, bull);
    add_sum(p, LOLLIPOP, lollipop), add_sum(p, CRICKET, cricket), add_sum(p, BOWTIE, bowtie), add_sum(p, DART, dart);
    add_sum(p, BOOK, book);
  }
  done = Warp::sum(done);
  if (lane() == 0 && done) atomic_add(&p.run.counters->cursor, done);
}

#endif
