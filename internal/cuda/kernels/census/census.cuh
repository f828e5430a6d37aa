// The census: sums over vertices, edges and pairs of vertices, of which the numbers of all motifs of four or of
// five vertices follow (package engine/escape).
//
// There are several passes over the vertices as roots. Each pass counts a thing once, at the one of its
// vertices where that takes the least work. Ids ascend as degrees fall, so a vertex has few neighbours with smaller ids,
// however many it has. No result depends on that order.
//
//   degrees.cuh    sums over vertices and edges of products of degrees and triangles
//   triangles.cuh  the triangles of each edge
//   cycles.cuh     4-cycles and closed walks of length five, at their least vertex
//   pairs.cuh      the neighbours that two vertices share, at the larger of the two
//   cliques.cuh    cliques and near-cliques, at the largest vertex of a triangle
//
// A pass has two kernels: small teams take the roots around which there is little, and leave the others to large teams.
//
// The host twin is engine/host/census.
#ifndef WEFT_CENSUS
#define WEFT_CENSUS
#include "neighbourhood/team.cuh"

// The sums: the fields of escape.Sums in their order, and two more. Some count a thing fewer times: see complete in
// package gpu/census.
enum CensusSum : u32 {
  WEDGE, STAR3, STAR4, TRIANGLE, PATH4, TAILED, CYCLE4, DIAMOND, CLIQUE4,
  FORK, PATH5, CYCLE5, BANNER, BULL, LOLLIPOP, CRICKET, K23, HOUSE, BOWTIE,
  DART, KITE, BOOK, GEM, SPOKE, TAIL4, WHEEL, K5WEDGE, K5EDGE, CLIQUE5,
  LEAST_TRIANGLES, LEAST_TAILED, // triangles, and those with a tail, that hang at their least vertex
  CENSUS_SUMS,
};

// The arguments: struct args of run.go. A slot is a place among all lists.
struct Census {
  const u64* off;
  const u32* adj;
  u32* triangles; // by slot, of v and u: the neighbours that the two share
  u32* mirror;    // by slot, of v and u: the place of v in u's list
  u32* less;      // by vertex: its neighbours with smaller ids
  u32* large;     // roots that small teams leave to large ones
  u32* times;     // of all large teams, n each
  u32* place;     // of all large teams, n each
  u32* met;       // of all large teams, n each
  u32* found;     // of all large teams, n each
  u32* rows;      // of all large teams, room each
  u64* sums;      // two words each
  u64* turns;     // of this pass: see Turns
  u64 room;
  u32 n;
  u32 first, step; // this device's roots are first, first+step …
  u32 limit;       // the most vertices that a small team's table takes
  u32 near;        // words of a team's rows in shared memory
};

struct CensusParams {
  Run run;
  Census x;
};

// How far a pass is: Census::turns.
enum CensusTurns : u32 { TAKEN, LARGE, LARGE_TAKEN }; // roots that small teams took, those that they left, and of these those that large teams took

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

// A team's state in shared memory.
struct CensusHead {
  TeamHead head;
  u32 met, found, flag, unused;
};

// A small team is a warp. What it knows of vertices is in a hash table in shared memory, so it takes roots that meet few
// others. A large team is a block, with a word for each vertex of the graph in device memory.
//
// CENSUS_SLOTS is a table's number of slots, a power of two, and CENSUS_LIMIT that of vertices which it takes, so that enough slots
// stay free. Both are defined by package gpu/census.
#define CENSUS_TAKE 8u // roots that a small team takes at a time
static_assert(sizeof(CensusHead) == CENSUS_HEAD, "package gpu/census knows the size of a head");
static_assert(CENSUS_LIMIT < CENSUS_SLOTS && (CENSUS_SLOTS & (CENSUS_SLOTS - 1)) == 0, "a table has free slots, by a mask");

// Words of shared memory of a small team, without rows. COUNTS: see Crew.
template <bool COUNTS> DEV constexpr u32 small_words() { return 2 * (CENSUS_SLOTS + 1) + CENSUS_LIMIT + (COUNTS ? CENSUS_SLOTS + 1 + CENSUS_LIMIT : 0); }

// A team, and what it knows of vertices: a place (0: none) and, with COUNTS, how many times it was met. Both are 0 between roots.
// Vertices have slots: a small team's are those of its table, where one that the team does not know has the last.
template <class T, bool COUNTS> struct Crew {
  typedef T Lanes;
  const CensusParams& p;
  CensusHead* m;
  Watch watch;
  u32* keys;  // of a table
  u32* times; // by slot
  u32* place; // by slot
  u32* met;   // slots with something to forget
  u32* found;
  u32* rows;
  u32* near; // rows in shared memory, of p.x.near words
  u64 room;  // words of rows

  DEV Crew(const CensusParams& p) : p(p) {
    const u32 teams = threads() / T::size();
    m = (CensusHead*)shared() + T::in_block();
    u32* own = (u32*)((CensusHead*)shared() + teams) + T::in_block() * ((T::is_warp ? small_words<COUNTS>() : 0) + p.x.near);
    near = own;
    if constexpr (T::is_warp) {
      own += p.x.near;
      keys = own, place = keys + CENSUS_SLOTS + 1, met = place + CENSUS_SLOTS + 1;
      times = met + CENSUS_LIMIT, found = times + CENSUS_SLOTS + 1;
      rows = near, room = p.x.near;
      for (u32 i = lane(); i <= CENSUS_SLOTS; i += 32) {
        keys[i] = ~0u, place[i] = 0;
        if (COUNTS) times[i] = 0;
      }
    } else {
      const u64 at = (u64)T::number() * p.x.n;
      place = p.x.place + at, times = p.x.times + at, met = p.x.met + at, found = p.x.found + at;
      rows = p.x.rows + T::number() * p.x.room, room = p.x.room;
    }
    watch = Watch{0, false};
    if (T::rank() == 0) m->met = 0;
    team_begin<T>(&m->head);
  }

  // The slot of a vertex. MEETING: other lanes may meet vertices meanwhile.
  template <bool MEETING> DEV u32 find(u32 w) const {
    if constexpr (!T::is_warp) return w;
    for (u32 h = scatter(w);; h = (h + 1) & (CENSUS_SLOTS - 1)) {
      const u32 key = MEETING ? load_relaxed(&keys[h]) : keys[h];
      if (key == w) return h;
      if (key == ~0u) return CENSUS_SLOTS;
    }
  }
  static DEV u32 scatter(u32 w) { return w * 2654435761u >> 16 & (CENSUS_SLOTS - 1); }
  DEV u32 enter(u32 w, bool& fresh) {
    for (u32 h = scatter(w);; h = (h + 1) & (CENSUS_SLOTS - 1)) {
      const u32 key = atomic_cas(&keys[h], ~0u, w);
      fresh = key == ~0u;
      if (fresh || key == w) return h;
    }
  }
  DEV u32 vertex(u32 slot) const { return T::is_warp ? keys[slot] : slot; }
  DEV u32 times_of(u32 w) const { return times[find<false>(w)]; }
  DEV u32 place_of(u32 w) const { return place[find<true>(w)]; }

  // Meets a vertex, and returns how often it was met before. All lanes of a warp.
  DEV u32 meet(u32 w, bool live) {
    u32 slot = w, old = 1;
    bool fresh = false;
    if (live) {
      if constexpr (T::is_warp) slot = enter(w, fresh);
      old = atomic_add(&times[slot], 1u);
      if constexpr (!T::is_warp) fresh = old == 0;
    }
    note(slot, fresh);
    return old;
  }

  // Gives vertices of a list places: their places in the list + 1, from `from` on. Collective for the team.
  DEV void mark(Set list, u32 from) {
    for (u32 k = from; k < list.n; k += T::size()) {
      const u32 i = k + T::rank();
      if constexpr (T::is_warp) {
        bool fresh = false;
        u32 slot = 0;
        if (i < list.n) place[slot = enter(list.p[i], fresh)] = i + 1;
        note(slot, fresh);
      } else if (i < list.n) {
        place[list.p[i]] = i + 1;
      }
    }
  }

  // Forgets the vertices met, and those of a list marked from `from` on. Collective for the team, which has synchronised; it does
  // so again at the end.
  DEV void forget(Set marked, u32 from) {
    const u32 n = m->met;
    T::sync();
    for (u32 i = T::rank(); i < n; i += T::size()) {
      const u32 slot = met[i];
      if constexpr (T::is_warp) keys[slot] = ~0u, place[slot] = 0;
      if constexpr (COUNTS) times[slot] = 0;
    }
    if constexpr (!T::is_warp)
      for (u32 i = from + T::rank(); i < marked.n; i += T::size()) place[marked.p[i]] = 0;
    if (T::rank() == 0) m->met = 0;
    T::sync();
  }

  // Notes slots to be forgotten. All lanes of a warp.
  DEV void note(u32 slot, bool fresh) {
    const u32 votes = ballot(ALL, fresh);
    if (!votes) return;
    u32 at = 0;
    if (lane() == 0) at = atomic_add(&m->met, popc(votes));
    at = shfl(ALL, at, 0);
    if (fresh) met[at + popc(votes & Warp::below())] = slot;
  }

  // Whether a warp is to leave. All its lanes.
  DEV bool leave() { return watch.leave(Warp(), p.run); }

  // Whether any lane has seen it. Collective for the team, which synchronises before and after.
  DEV bool any(bool seen) {
    if constexpr (T::is_warp) return ::any(ALL, seen);
    else return sync_block_or(seen);
  }

  // The stretches' elements: f(tag, at, x, live) is called by all lanes of a warp together, and x, which is live, is at *at.
  // stretch(k) is stretch k < n. Long ones at the front are cut for several warps. Collective for the team, which has
  // synchronised; it does so again at the end.
  template <class L, class F> DEV void each_of(u32 n, L stretch, F f) {
    u32 k0 = 0, dealt = 0;
    for (; !T::is_warp && k0 < n; k0 += 32) {
      const u32 k = k0 + lane();
      const Stretch a = k < n ? stretch(k) : Stretch{(const u32*)0, 0, 0};
      if (!::any(ALL, a.n >= LONG_LIST)) break;
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
    if (T::is_warp) T::sync(); // a block has, after it was dealt all
  }
};

// Calls f(root) for the roots that this team gets. A small team leaves those to large teams for which size(root), which is
// collective, is more than its table takes. Collective for the team.
template <class C, class S, class F> DEV void each_root(C& c, S size, F f) {
  typedef typename C::Lanes T;
  const Census& x = c.p.x;
  const u64 roots = T::is_warp ? ((u64)x.n - x.first + x.step - 1) / x.step : x.turns[LARGE];
  const u32 take = T::is_warp ? CENSUS_TAKE : 1;
  u64* next = &x.turns[T::is_warp ? TAKEN : LARGE_TAKEN];
  TeamHead* head = &c.m->head;
  u64 asked = 0; // the answer is on its way while the team works
  if (T::rank() == 0) asked = stopped(c.p.run) ? roots : atomic_add(next, (u64)take);
  u32 done = 0;
  for (u32 turn = 0;; turn ^= 1) {
    u64 at = 0;
    if (T::rank() == 0) {
      at = c.watch.leave(c.p.run) ? roots : asked;
      if (!T::is_warp) head->first[turn] = at;
    }
    T::sync();
    at = T::is_warp ? shfl(ALL, at, 0) : head->first[turn];
    if (at >= roots) break;
    if (T::rank() == 0) asked = atomic_add(next, (u64)take);
    const u32 n = (u32)min((u64)take, roots - at);
    for (u32 i = 0; i < n; i++) {
      if constexpr (T::is_warp) {
        const u32 v = (u32)(x.first + (at + i) * x.step);
        if (size(v) > x.limit) {
          if (lane() == 0) x.large[atomic_add(&x.turns[LARGE], (u64)1)] = v;
          continue;
        }
        f(v);
      } else {
        f(x.large[at]);
      }
      done++;
    }
    if (done >= 64) { // for the progress
      if (T::rank() == 0) atomic_add(&c.p.run.counters->cursor, (u64)done);
      done = 0;
    }
  }
  if (T::rank() == 0 && done) atomic_add(&c.p.run.counters->cursor, (u64)done);
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
