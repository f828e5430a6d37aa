// A plan's whole loop nest as one function. Templates unroll level after level, so that the
// partial match and the sets live in registers, and the generated text of each level is
// straight-line code in its loop.
//
// A warp takes tasks: vertices of level 0, or runs of ARCS places in the neighbour lists of
// level 1's candidates, so that many warps share a vertex with many neighbours. The warp works
// together on set operations. It tests candidates one for each lane, and then descends into
// them one after the other.
//
// Requires the text of a plan in the sets view before it, and slots for W_SLOTS sets of cap
// elements for each warp. With NEST_TABLES the text looks neighbours up in tables, whose
// addresses every block has at the start of its shared memory. The package's tests compare it
// with the oracle.
#ifdef NEST_TABLES
#include "membership/fill.cuh"
#endif
#include "base/ring.cuh"
#include "base/tasks.cuh"

#ifndef ARCS
#define ARCS 0 // places of one task; 0: a task is a vertex
#endif

struct Extra {
  u32* slots; // W_SLOTS × cap elements a warp of the grid
  u64 arcs;   // length of the neighbour lists of adj[arc_adj] together
  const u32* vertices; // with ARCS_SPARSE, those that have these lists
  u32 cap;
  u32 arc_adj; // the adjacency that level 1's list is in
  u32 often;   // not 0: matches are added up after each task, for a limit
  u32 lists;   // their number
  u32* tables[4]; // of an adjacency, with NEST_TABLES; null: its lists are searched
};
struct Params {
  Run run;
  Graph graph;
  Extra x;
};

struct Search {
  const Params& p;
  u32* slots;
  u128 count; // matches that are not in the run's total yet
  u32 steps;  // candidates since the stop flag was looked at
  u64 since;  // when that was
  bool stop;
};

#define LOOK_CANDIDATES 4096    // between two looks at the stop flag
#define LOOK_CYCLES (1ull << 20) // where each of them is much work

DEV void look(Warp g, Search& w) {
  w.steps = 0;
  w.since = clock64_();
  w.stop = w.stop || stopped(g, w.p.run);
}

template <int L> DEV void descend(Warp g, Search& w, State& s);

// Goes into the candidates c of level L, of which all levels before are bound.
template <int L> DEV void enumerate(Warp g, Search& w, State& s, Set c) {
  const Graph& q = w.p.graph;
  for (u32 i = 0; i < c.n && !w.stop; i += 32) {
    u32 k = i + g.rank();
    u32 mine = k < c.n ? c.p[k] : 0;
    u32 good = g.ballot(k < c.n && Level<L>::accept(q, s, mine));
    if constexpr (L == W_LEVELS - 1) {
      if (!w.p.run.ring) {
        w.count += popc(good);
      } else {
        bool lists = good >> g.rank() & 1;
        u32 n = emit_rows(g, w.p.run, lists, [&](u32 l) { return l == L ? mine : s.m[l]; });
        w.stop = n == ~0u;
      }
    } else {
      for (; good != 0 && !w.stop; good &= good - 1) {
        s.m[L] = g.shfl(mine, ctz(good));
        descend<L>(g, w, s);
        // The clock is slow to read: at every fourth candidate, and at the last.
        if ((popc(good) & 3) == 1 && g.ballot(clock64_() - w.since > LOOK_CYCLES)) look(g, w);
      }
    }
    if ((w.steps += 32) > LOOK_CANDIDATES) look(g, w);
  }
}

// Goes on below level L, whose vertex is bound.
template <int L> DEV void descend(Warp g, Search& w, State& s) {
  const Graph& q = w.p.graph;
  if constexpr (L == W_LEVELS - 1) {
    if (!w.p.run.ring) {
      w.count += 1;
    } else {
      w.stop = emit_rows(g, w.p.run, g.leader(), [&](u32 l) { return s.m[l]; }) == ~0u;
    }
  } else {
    g.sync(); // other lanes may still read the memory that is written next
    if (!Level<L>::sets(g, q, s, w.slots, w.p.x.cap) || w.stop) return;
#if W_ENUM < W_LEVELS
    if constexpr (L + 1 == W_ENUM) {
      w.count += tail(g, q, s, w.slots, w.p.x.cap);
      return;
    }
#endif
    if constexpr (L + 1 < W_ENUM) enumerate<L + 1>(g, w, s, Level<L + 1>::candidates(g, q, s));
  }
}

DEV bool is_root(const Graph& q, u32 v) {
  bool in = false;
  for (u32 i = 0; i < W_ROOT_RANGES; i++) in = in || (root_first(q, i) <= v && v < root_end(q, i));
  return in && root_ok(q, v);
}

#if ARCS > 0
#ifdef ARCS_SPARSE
DEV SparseAdj arc_lists(const Params& p) { return SparseAdj{p.graph.adj[p.x.arc_adj]}; }
DEV SparseOrder arc_order(const Params& p) { return SparseOrder{p.graph.adj[p.x.arc_adj].rows, p.x.vertices, p.x.lists}; }
#else
DEV const Adj& arc_lists(const Params& p) { return p.graph.adj[p.x.arc_adj]; }
DEV ListOrder arc_order(const Params& p) { return ListOrder{p.graph.adj[p.x.arc_adj].off, p.x.lists}; }
#endif

// The part of root's candidates of level 1 that lies in arcs [from, to).
DEV void part(Warp g, Search& w, State& s, u32 root, u64 from, u64 to) {
  const Graph& q = w.p.graph;
  s.m[0] = root;
  g.sync();
  if (!Level<0>::sets(g, q, s, w.slots, w.p.x.cap)) return;
  Set c = Level<1>::candidates(g, q, s);
  u64 at = place_in(arc_lists(w.p), root, c.p);
  u64 begin = max(at, from), end = min(at + c.n, to);
  if (begin < end) enumerate<1>(g, w, s, Set{c.p + (begin - at), (u32)(end - begin)});
}

DEV void task(Warp g, Search& w, u64 number) {
  const Graph& q = w.p.graph;
  const auto lists = arc_order(w.p);
  u64 from = number * ARCS, to = min(from + ARCS, w.p.x.arcs);
  for (u32 i = list_at_place(g, lists, 0, lists.n, from); i < lists.n && lists.begin(i) < to && !w.stop; i++) {
    const u32 v = lists.vertex(i);
    if (lists.begin(i + 1) <= from || !is_root(q, v)) continue;
    State s;
    u128 before = w.count;
    part(g, w, s, v, from, to);
    if (g.leader()) add_root(w.p.run, v, w.count - before);
  }
}
#else
DEV void task(Warp g, Search& w, u64 number) {
  u32 v = (u32)number;
  if (!is_root(w.p.graph, v)) return;
  State s;
  s.m[0] = v;
  u128 before = w.count;
  descend<0>(g, w, s);
  if (g.leader()) add_root(w.p.run, v, w.count - before);
}
#endif

DEV void flush(Warp g, Search& w) {
  if (g.leader() && w.count > 0) add128(w.p.run.counters, w.count);
  w.count = 0;
}

// A search waits for memory most of the time. So registers are bounded to 40, which lets a
// multiprocessor hold six blocks, or to 36 and seven blocks if it waits for look-ups.
#ifdef NEST_TABLES
#define NEST_BLOCKS 7
#else
#define NEST_BLOCKS 6
#endif
WEFT_KERNEL(nest, Params, LAUNCH_BOUNDS(256, NEST_BLOCKS)) {
#ifdef NEST_TABLES
  if (thread() < MEMBER_TABLES) ((u32**)shared())[thread()] = p.x.tables[thread()];
  sync_block();
#endif
  Warp g;
  u64 id = (u64)block() * warps() + warp();
  Search w{p, p.x.slots + id * W_SLOTS * p.x.cap, 0, 0, clock64_(), false};
  while (!w.stop) {
    Chunk t = take(g, p.run);
    if (t.count == 0 && t.over) break;
    if (stopped(g, p.run)) break;
    if (t.count == 0) spin();
    for (u32 i = 0; i < t.count && !w.stop; i++) task(g, w, t.first + i);
    if (p.x.often) flush(g, w);
  }
  flush(g, w);
}
