// The lists of roots: for each class the vertices that can be the root of matches and fit no
// smaller class, about by id. The search begins by making them. The work below a vertex depends
// on the graph and not on conditions; it was measured when the graph came onto the device.
#ifndef WEFT_LOCAL_ROOTS
#define WEFT_LOCAL_ROOTS
#include "neighbourhood/columns.cuh"

#define CLASSES 16
#define FAULT_UNIVERSE 1 // a root has more neighbours than any class takes
#define LINE 32          // words of a line of memory

struct Roots {
  u32* lists;      // of class c from starts[c] on; null: the classes are counted only
  u32* counts;     // by class, a line each: roots in the list, and how many of them were taken; behind them, when counting, the other vertices
  const u32* work; // by place among all vertices that may be roots: how much is walked below it
  const u32* vertices; // of sparse lists, which alone may be roots; null: all vertices may
  u64 starts[CLASSES];
  u32 classes;
  u32 parts, first, ours; // this round's roots are of parts first … first+ours-1; part i has every parts-th place from i on
  u32 most[CLASSES];   // the largest universe of each class, the largest class first
  u32 limit[CLASSES];  // the most that is walked; ~0: any number
  u32 places, unused;  // vertices that may be roots
  u32* candidates; // a bit for each vertex, in searches by sweeps over columns: whether it is a root of all lists; null: no such search
};

// The vertex at a place among those that may be roots, and the place of one of them.
#ifdef LOCAL_SPARSE
DEV u32 root_at(const u32* vertices, u32 i) { return vertices[i]; }
DEV u32 place_of_root(const Graph& q, u32 v) {
  u32 row = 0;
  row_of(lists(q), v, row);
  return row;
}
#else
DEV u32 root_at(const u32*, u32 i) { return i; }
DEV u32 place_of_root(const Graph&, u32 v) { return v; }
#endif

// The arguments of a search besides the graph: struct localArgs of list.go.
struct Local {
  Roots roots;
  u32* scratch;      // of the teams whose rows are in global memory
  u64 scratch_words; // a team's part of it
  u32* taken;        // by place in the class's list, where teams share roots: the tasks of a root that are given out
  u32 helping; // not 0: this grid has no roots, and helps with those of another
  u32 often;         // not 0: matches are added up all the time, for a limit
  u32 of_class;      // which this grid searches
};

struct LocalParams {
  Run run;
  Graph graph;
  Local x;
};

// The results of measuring: struct stats of list.go.
struct Stats {
  u64 total;
  u32 most_work, most_universe;
  u32 vertices, unused; // that were measured
};

struct MeasureX {
  u32* work;
  Stats* stats;
  const u32* vertices; // as in Roots
  u32 places, unused;
};

struct MeasureParams {
  Run run;
  Graph graph;
  MeasureX x;
};

// The part of root v's universe that level 1's inside vertices are in.
DEV Set level1_of(const Graph& q, u32 v, Set s) {
#if W_OUTSIDE
  return s;
#else
  Hood<Bits<1, 1>> h = {(const u32*)0, (const u32*)0, s.n, W_UNIVERSE == 1 ? s.n : W_UNIVERSE == 2 ? 0 : below(lists(q), v).n};
  u32 from = level1_from(q, h), end = min(level1_end(q, h), h.d);
  return from < end ? Set{s.p + from, end - from} : Set{s.p, 0};
#endif
}

// How much of u's list is walked below a root.
DEV u32 walked(const Graph& q, u32 u) {
  if (W_OUTSIDE) return degree(lists(q), u);
  return W_ROWS == 3 ? counted(q, u).n : below(lists(q), u).n;
}

// Measures all vertices that may be roots, by any grid of whole warps.
DEV void measure(const MeasureParams& p) {
  const Graph& q = p.graph;
  u64 total = 0;
  u32 most_work = 0, most_universe = 0, vertices = 0;
  for (u64 v0 = (u64)block() * threads() + warp() * 32; v0 < p.x.places; v0 += (u64)blocks() * threads()) {
    u32 i = (u32)v0 + lane(), v = 0;
    Set s = {(const u32*)0, 0};
    if (v0 + lane() < p.x.places) {
      v = root_at(p.x.vertices, i);
      s = universe(q, v);
    }
    most_universe = max(most_universe, s.n);
    if (W_ROWS == 3 && s.n > 0) s = level1_of(q, v, s);
    u64 work = 0;
    u32 small = s.n <= 32 ? s.n : 0;
    for (u32 k = 0; k < small; k++) work += walked(q, s.p[k]);
    // Long lists are added up by the warp.
    for (u32 big = ballot(ALL, s.n > 32); big; big &= big - 1) {
      u32 from = ctz(big), n = shfl(ALL, s.n, from);
      const u32* list = (const u32*)shfl(ALL, (u64)s.p, from);
      u64 sum = 0;
      for (u32 k = lane(); k < n; k += 32) sum += walked(q, list[k]);
      sum = reduce_add(ALL, sum);
      if (lane() == from) work = sum;
    }
    u32 short_work = (u32)min(work, (u64)~0u - 1);
    if (v0 + lane() < p.x.places) p.x.work[i] = short_work;
    total += work;
    most_work = max(most_work, short_work);
    vertices += v0 + lane() < p.x.places;
  }
  total = Warp::sum(total);
  most_work = reduce_max(ALL, most_work);
  most_universe = reduce_max(ALL, most_universe);
  vertices = reduce_add(ALL, vertices);
  if (lane() == 0) {
    atomic_add(&p.x.stats->total, total);
    atomic_max(&p.x.stats->most_work, most_work);
    atomic_max(&p.x.stats->most_universe, most_universe);
    atomic_add(&p.x.stats->vertices, vertices);
  }
}

DEV bool in_root_ranges(const Graph& q, u32 v) {
  for (u32 i = 0; i < W_ROOT_RANGES; i++)
    if (v >= root_first(q, i) && v < root_end(q, i)) return true;
  return false;
}

// The smallest class for a universe and an amount of work: the last that takes them.
DEV u32 class_for(const Roots& x, u32 universe, u32 work) {
  u32 c = x.classes - 1;
  while (c > 0 && (universe > x.most[c] || work > x.limit[c])) c--;
  return c;
}

// The class of vertex v: the last, smallest one that it fits in; ~0: v is not a root.
DEV u32 class_of(const Run& run, const Graph& q, const Roots& x, u32 v) {
  u32 work = x.work[place_of_root(q, v)];
#if W_OUTSIDE
  const Columns c = columns(q);
  if (c.on()) { // without a look at its list, which is in host memory
    if (!(x.candidates[v >> 5] >> (v & 31) & 1) || c.from(outside_from(q, v)) >= c.to(outside_end(q, v))) return ~0u;
    return class_for(x, 0, work_in(q, c, v, work));
  }
#endif
  if (W_ROWS == 3 && work == 0 || !in_root_ranges(q, v) || !root_ok(q, v)) return ~0u;
  Set s = universe(q, v);
  if (s.n < W_INSIDE) return ~0u;
#if W_OUTSIDE
  if (outside_from(q, v) >= outside_end(q, v)) return ~0u;
#else
  if (level1_of(q, v, s).n == 0) return ~0u;
#endif
  if (s.n > x.most[0]) { // no class has room for it: it is in no list
    fail(run, FAULT_UNIVERSE, v);
    return ~0u;
  }
  return class_for(x, s.n, work);
}

// Makes the lists, or counts how long they are. Shared memory: two words a class.
DEV void list_roots(const Run& run, const Graph& q, const Roots& x) {
  u32* mine = (u32*)shared(); // by class: roots of this round
  u32* base = mine + CLASSES;
  u32 rest = x.places % x.parts;
  u64 share = (u64)(x.places / x.parts) * x.ours + (rest > x.first ? min(rest - x.first, x.ours) : 0);
  for (u64 i0 = (u64)block() * threads(); i0 < share; i0 += (u64)blocks() * threads()) {
    if (thread() < CLASSES) mine[thread()] = 0;
    sync_block();
    bool live = i0 + thread() < share;
    u32 i = (u32)i0 + thread(), v = live ? root_at(x.vertices, i / x.ours * x.parts + x.first + i % x.ours) : 0;
    u32 c = live ? class_of(run, q, x, v) : ~0u;
    if (x.candidates && !columns(q).on()) { // one part, of all vertices: v is i
      const u32 bits = ballot(ALL, c != ~0u);
      if (lane() == 0 && live) x.candidates[i >> 5] = bits;
    }
    u32 same = match_any(ALL, c), leader = ctz(same), at = 0;
    if (c != ~0u && lane() == leader) at = atomic_add(&mine[c], popc(same));
    at = shfl(ALL, at, leader) + popc(same & Warp::below());
    u32 none = sync_block_count(live && c == ~0u);
    if (thread() < x.classes && mine[thread()]) base[thread()] = atomic_add(&x.counts[thread() * LINE], mine[thread()]);
    if (thread() == 0 && none) {
      if (x.lists) atomic_add(&run.counters->cursor, (u64)none); // done with
      else atomic_add(&x.counts[x.classes * LINE], none);
    }
    sync_block();
    if (c != ~0u && x.lists) x.lists[x.starts[c] + base[c] + at] = v;
    sync_block();
  }
}

#endif
