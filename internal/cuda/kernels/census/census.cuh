// The census: sums over vertices, edges and pairs of vertices, of which the numbers of all motifs of three, four or
// five vertices follow (package engine/escape).
//
// There are several passes over the vertices as roots, a kernel each. Each pass counts a thing once, at the one of its
// vertices where that takes the least work. Ids ascend as degrees fall, so a vertex has few neighbours with smaller ids,
// however many it has. No result depends on that order.
//
//   degrees.cuh    sums over vertices and edges of products of degrees and triangles
//   triangles.cuh  the triangles of each edge
//   cycles.cuh     4-cycles and closed walks of length five, at their least vertex
//   pairs.cuh      the neighbours that two vertices share, at the larger of the two
//   cliques.cuh    cliques and near-cliques, at the largest vertex of a triangle
//
// A team of lanes takes roots one after the other. It has a workspace of its own in device memory: a cell for each
// vertex, which is 0 between roots.
//
// The host twin is engine/host/census.
#ifndef WEFT_CENSUS
#define WEFT_CENSUS
#include "neighbourhood/team.cuh"

// The sums: the fields of escape.Sums in their order, and three more. Some count a thing fewer times: see total of
// package gpu/census.
enum CensusSum : u32 {
  WEDGE, STAR3, STAR4, TRIANGLE, PATH4, TAILED, CYCLE4, DIAMOND, CLIQUE4,
  FORK, PATH5, CYCLE5, BANNER, BULL, LOLLIPOP, CRICKET, K23, HOUSE, BOWTIE,
  DART, KITE, BOOK, GEM, SPOKE, TAIL4, WHEEL, K5WEDGE, K5EDGE, CLIQUE5,
  LEAST_TRIANGLES, LEAST_TAILED, // triangles, and those with a tail, that hang at their least vertex
  CENSUS_SUMS,
};

// The arguments: struct args of census.go. A slot is a place among all lists.
struct Census {
  const u64* off;
  const u32* adj;
  u32* triangles; // by slot, of v and u: the neighbours that the two share
  u32* mirror;    // by slot, of v and u: the place of v in u's list
  u32* less;      // by vertex: its neighbours with smaller ids
  u64* cells;     // of all teams, n each
  u32* met;       // of all teams, n each
  u32* found;     // of all teams, n each
  u32* rows;      // of all teams, room each
  u64* sums;      // two words each
  u64* next;      // how many roots were taken in this pass
  u64 room;
  u32 n;
  u32 first, step; // this device's roots are first, first+step …
  u32 take;        // roots that a team takes at a time
  u32 shared;      // words of shared memory for a team's rows
};

struct CensusParams {
  Run run;
  Census x;
};

// A team's state in shared memory.
struct CensusHead {
  TeamHead head;
  u32 met, found, flag, unused;
};

DEV Set neighbours(const Census& x, u32 v) {
  u64 b = x.off[v];
  return Set{x.adj + b, (u32)(x.off[v + 1] - b)};
}
DEV u32 degree(const Census& x, u32 v) { return (u32)(x.off[v + 1] - x.off[v]); }

// A list, or a slice of one, and a number that goes with it.
struct Stretch {
  const u32* p;
  u32 n, tag;
};

// The team of a kernel, and a lane's place in it.
template <class T> struct Crew {
  const CensusParams& p;
  CensusHead* m;
  Watch watch;
  u64* cells;
  u32* met;
  u32* found;
  u32* rows; // of p.x.room words
  u32* own;  // of p.x.shared words, in shared memory

  DEV Crew(const CensusParams& p) : p(p) {
    const u64 team = T::number();
    m = (CensusHead*)shared() + T::in_block();
    cells = p.x.cells + team * p.x.n;
    met = p.x.met + team * p.x.n;
    found = p.x.found + team * p.x.n;
    rows = p.x.rows + team * p.x.room;
    own = (u32*)(shared() + sizeof(CensusHead) * (threads() / T::size())) + T::in_block() * p.x.shared;
    watch = Watch{0, false};
    team_begin<T>(&m->head);
  }

  // Whether a warp is to leave. All its lanes.
  DEV bool leave() { return watch.leave(Warp(), p.run); }

  // The stretches' elements: f(tag, at, x, live) is called by all lanes of a warp together, and x, which is live, is at *at.
  // stretch(k) is stretch k < n. Long ones at the front are cut for several warps. Collective for the team, which has
  // synchronised; it does so again at the end.
  template <class L, class F> DEV void each_of(u32 n, L stretch, F f) {
    u32 k0 = 0, dealt = 0;
    for (; !T::is_warp && k0 < n; k0 += 32) {
      const u32 k = k0 + lane();
      const Stretch a = k < n ? stretch(k) : Stretch{(const u32*)0, 0, 0};
      if (!any(ALL, a.n >= LONG_LIST)) break;
      const u32 segments = (a.n + SEGMENT - 1) / SEGMENT, end = Warp::inclusive(segments), total = shfl(ALL, end, 31);
      for (u32 i = (T::warp_of() + T::warps() - dealt % T::warps()) % T::warps(); i < total && !leave(); i += T::warps()) {
        const u32 of = ctz(ballot(ALL, end > i)), tag = shfl(ALL, a.tag, of);
        const u32* from = (const u32*)shfl(ALL, (u64)a.p, of);
        const u32 at = (i - shfl(ALL, end - segments, of)) * SEGMENT + lane(), stop = shfl(ALL, a.n, of);
        u32 x[SEGMENT / 32];
        UNROLL
        for (u32 j = 0; j < SEGMENT / 32; j++) x[j] = at + 32 * j < stop ? from[at + 32 * j] : ~0u;
        UNROLL
        for (u32 j = 0; j < SEGMENT / 32; j++) f(tag, from + at + 32 * j, x[j], at + 32 * j < stop);
      }
      dealt += total;
    }
    deal<T>(&m->head, k0, n, share<T>(n - k0), [&](u32 from, u32 to) {
      if (leave()) return;
      const Stretch a = from + lane() < to ? stretch(from + lane()) : Stretch{(const u32*)0, 0, 0};
      const Stream s = stream(Set{a.p, a.n});
      const u32 tags = shfl(ALL, a.tag, s.from);
      each(s, [&](Window w) { f(shfl(ALL, tags, w.of & 31), w.p, w.x, w.live); });
    });
    T::sync();
  }

  // Notes vertices that are met for the first time. All lanes of a warp.
  DEV void note(u32 w, bool first) {
    const u32 votes = ballot(ALL, first);
    if (!votes) return;
    u32 at = 0;
    if (lane() == 0) at = atomic_add(&m->met, popc(votes));
    at = shfl(ALL, at, 0);
    if (first) met[at + popc(votes & Warp::below())] = w;
  }
};

// Calls f(root) for the roots that this team gets. Collective for the team.
template <class T, class F> DEV void each_root(Crew<T>& c, F f) {
  const Census& x = c.p.x;
  TeamHead* head = &c.m->head;
  const u64 roots = ((u64)x.n - x.first + x.step - 1) / x.step;
  u64 asked = 0; // the answer is on its way while the team works
  if (T::rank() == 0) asked = stopped(c.p.run) ? roots : atomic_add(x.next, (u64)x.take);
  for (u32 turn = 0;; turn ^= 1) {
    if (T::rank() == 0) {
      const u64 at = c.watch.leave(c.p.run) ? roots : asked;
      head->first[turn] = at;
      head->count[turn] = at < roots ? (u32)min((u64)x.take, roots - at) : 0;
      if (at < roots) atomic_add(&c.p.run.counters->cursor, (u64)head->count[turn]); // for the progress
    }
    T::sync();
    const u64 at = head->first[turn];
    const u32 n = head->count[turn];
    if (n == 0) return;
    if (T::rank() == 0) asked = atomic_add(x.next, (u64)x.take);
    for (u32 i = 0; i < n; i++) f((u32)(x.first + (at + i) * x.step));
  }
}

// Adds lanes' parts of a sum. All lanes of a warp.
DEV void add_sum(const CensusParams& p, CensusSum which, u128 x) {
  x = sum128(Warp(), x);
  if (lane() == 0 && x && !add128(p.x.sums + 2 * which, x)) store_relaxed(&p.run.counters->overflow, 1u);
}

DEV u64 choose2(u64 n) { return n < 2 ? 0 : n * (n - 1) / 2; }
// n < 2^32.
DEV u128 choose3(u64 n) {
  if (n < 3) return 0;
  const u64 pairs = n * (n - 1) / 2;
  return pairs % 3 ? (u128)pairs * ((n - 2) / 3) : (u128)(pairs / 3) * (n - 2);
}
DEV u128 choose4(u64 n) { return n < 4 ? 0 : choose3(n) * (n - 3) >> 2; }

#endif
