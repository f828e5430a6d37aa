// The list of roots: those that can have matches, by class, the largest first,
// inside a class by id. It is the same on every device. Four kernels: measure what
// is walked below each root, from which the host decides what classes take; count
// the roots of each class in each stretch of ids, add up, and write.
#ifndef WEFT_LOCAL_ROOTS
#define WEFT_LOCAL_ROOTS
#include "local_hood.cuh"

#define CLASSES 16
#define NO_ROOT 0xffffffffu
#define FAULT_UNIVERSE 1 // a root has more neighbours than any class takes

struct Roots {
  u32* list;
  u64* starts;  // where each class begins; starts[classes]: all roots
  u32* counts;  // by class, by stretch; then where each begins
  u32* work;    // by id: how much is walked below the root; NO_ROOT: none is there
  u64* total;   // of all roots
  u32* next;    // by class, a line each: how many were taken; null: several devices share them
  u32 classes, stretches;
  u32 most[CLASSES];   // the largest universe of each class
  u32 wedges[CLASSES]; // the most that is walked; ~0: any number
};

DEV bool in_root_ranges(const Graph& q, u32 v) {
  for (u32 i = 0; i < W_ROOT_RANGES; i++)
    if (v >= root_first(q, i) && v < root_end(q, i)) return true;
  return false;
}

// How much of u's list is walked below a root.
DEV u32 walked(const Graph& q, u32 u) {
  if (W_OUTSIDE) return degree(q.adj[0], u);
  return W_ROWS == 3 ? counted(q, u).n : below(q.adj[0], u).n;
}

// What is walked below root v; NO_ROOT: no match has v as its root. All lanes of a
// warp call it together, dead ones with live false.
template <class Row> DEV u32 work_of(const Graph& q, u32 v, bool live) {
  Set s = {(const u32*)0, 0};
  if (live && in_root_ranges(q, v) && root_ok(q, v)) s = universe(q, v);
  bool ok = s.n >= W_INSIDE;
  if (ok) {
#if W_OUTSIDE
    ok = outside_from(q, v) < outside_end(q, v);
#else
    Hood<Row> h = {(const u32*)0, (const u32*)0, s.n, W_UNIVERSE == 1 ? s.n : W_UNIVERSE == 2 ? 0 : below(q.adj[0], v).n};
    u32 from = level1_from(q, h), end = min(level1_end(q, h), h.d);
    ok = from < end;
    // Without rows only the lists of level 1's vertices are walked.
    if (W_ROWS == 3 && ok) s = Set{s.p + from, end - from};
#endif
  }
  // Long lists are added up by the warp.
  u64 work = 0;
  u32 small = ok && s.n <= 32 ? s.n : 0;
  for (u32 k = 0; k < small; k++) work += walked(q, s.p[k]);
  for (u32 big = ballot(ALL, ok && s.n > 32); big; big &= big - 1) {
    u32 from = ctz(big), n = shfl(ALL, s.n, from);
    const u32* p = (const u32*)shfl(ALL, (u64)s.p, from);
    u64 sum = 0;
    for (u32 k = lane(); k < n; k += 32) sum += walked(q, p[k]);
    sum = reduce_add(ALL, sum);
    if (lane() == from) work = sum;
  }
  return ok ? (u32)min(work, (u64)NO_ROOT - 1) : NO_ROOT;
}

// Measures all roots, by any grid of whole warps.
template <class Row> DEV void measure_roots(const Run& run, const Graph& q, const Roots& x) {
  u64 mine = 0;
  for (u64 v0 = (u64)block() * threads() + warp() * 32; v0 < run.vertices; v0 += (u64)blocks() * threads()) {
    u64 v = v0 + lane();
    u32 work = work_of<Row>(q, (u32)v, v < run.vertices);
    if (v >= run.vertices) continue;
    x.work[v] = work;
    if (work != NO_ROOT) mine += work;
  }
  sync_warp(ALL);
  mine = Warp::sum(mine);
  if (lane() == 0 && mine) atomic_add(x.total, mine);
}

// The class of vertex v: the last, smallest one that it fits in; ~0: it is no root.
DEV u32 class_of(const Run& run, const Graph& q, const Roots& x, u32 v) {
  u32 work = x.work[v];
  if (work == NO_ROOT) return ~0u;
  u32 n = universe(q, v).n;
  if (n > x.most[0]) fail(run, FAULT_UNIVERSE, v);
  u32 c = x.classes - 1;
  while (c > 0 && (n > x.most[c] || work > x.wedges[c] && x.wedges[c] != ~0u)) c--;
  return c;
}

// Calls f(v, class) for this block's stretch, all lanes of a warp together.
template <class F> DEV void each_root(const Run& run, const Graph& q, const Roots& x, F f) {
  u32 n = run.vertices, per = (n + x.stretches - 1) / x.stretches;
  u32 from = min((u64)block() * per, (u64)n), end = min((u64)from + per, (u64)n);
  for (u32 v0 = from; v0 < end; v0 += threads()) {
    u32 v = v0 + thread();
    f(v, v < end ? class_of(run, q, x, v) : ~0u);
  }
}

// One block a stretch; shared memory: a word a class.
DEV void count_roots(const Run& run, const Graph& q, const Roots& x) {
  u32* mine = (u32*)shared();
  if (thread() < x.classes) mine[thread()] = 0;
  sync_block();
  each_root(run, q, x, [&](u32, u32 c) {
    u32 same = match_any(ALL, c);
    if (c != ~0u && lane() == ctz(same)) atomic_add(&mine[c], popc(same));
  });
  sync_block();
  if (thread() < x.classes) x.counts[thread() * x.stretches + block()] = mine[thread()];
}

// One block of one warp.
DEV void place_classes(const Roots& x) {
  u32 n = x.classes * x.stretches;
  u64 sum = 0;
  for (u32 i0 = 0; i0 < n; i0 += 32) {
    u32 i = i0 + lane(), c = i < n ? x.counts[i] : 0;
    u64 at = sum + Warp::exclusive((u64)c);
    if (i < n) {
      x.counts[i] = (u32)at;
      if (i % x.stretches == 0) x.starts[i / x.stretches] = at;
    }
    sum += Warp::sum((u64)c);
  }
  if (lane() == 0) x.starts[x.classes] = sum;
}

// One block a stretch; shared memory: CLASSES words a warp.
DEV void write_roots(const Run& run, const Graph& q, const Roots& x) {
  u32* had = (u32*)shared(); // by class: written so far; by warp: of this round
  u32* round = had + CLASSES;
  if (thread() < CLASSES) had[thread()] = 0;
  each_root(run, q, x, [&](u32 v, u32 c) {
    u32 same = match_any(ALL, c);
    if (lane() < CLASSES) round[warp() * CLASSES + lane()] = 0;
    sync_warp(ALL);
    if (c != ~0u && lane() == ctz(same)) round[warp() * CLASSES + c] = popc(same);
    sync_block();
    if (c != ~0u) {
      u32 at = x.counts[c * x.stretches + block()] + had[c] + popc(same & Warp::below());
      for (u32 w = 0; w < warp(); w++) at += round[w * CLASSES + c];
      x.list[at] = v;
    }
    sync_block();
    if (thread() < CLASSES)
      for (u32 w = 0; w < warps(); w++) had[thread()] += round[w * CLASSES + thread()];
    sync_block();
  });
}

#endif
