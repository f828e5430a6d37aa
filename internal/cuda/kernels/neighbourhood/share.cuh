// Roots that several teams share: the work below one hub may be more than the work below all
// other roots. A counter in global memory gives out the tasks of a root to any team that asks.
// A team that comes later makes its own matrix and asks like the first. No team waits for
// another, or knows of it. The later teams are the blocks of a second grid, which has no roots
// and gets the room that the others leave.
#ifndef WEFT_LOCAL_SHARE
#define WEFT_LOCAL_SHARE
#include "base/draw.cuh"
#include "neighbourhood/roots.cuh"

// A root, and where its tasks are given out.
struct Share {
  u32 root;
  u32* taken;
  u32 tasks; // there are
  u32 part = 0, parts = 1; // which part of level 1's vertices is searched, of how many (neighbourhood/whole.cuh)
};

// The parts of level 2's candidates in a neighbourhood of d.
template <class C> DEV u32 parts_of(u32 d) { return W_PARTS ? (d + C::Row::part - 1) / C::Row::part : 1; }

// The number of tasks of v's neighbourhood s: vertices of level 1 by parts, or ranges of
// outside vertices that fill the table one after another. One lane.
template <class C> DEV u32 tasks_of(const Graph& q, const Roots& x, u32 v, Set s) {
#if W_OUTSIDE
  if (!C::shares) return 1;
  u32 from = outside_from(q, v), end = outside_end(q, v);
  return 1 + min(x.work[place_of_root(q, v)] / max(1u, C::wedges / 4 * 3), (end > from ? end - from : 0) / (2 * C::wedges));
#else
  return level1_of(q, v, s).n * parts_of<C>(s.n);
#endif
}

// Whether tasks of a root are left: a helping team may have taken them all.
// Collective for the team, which synchronises.
template <class C> DEV bool any_left(TeamHead* head, const Share& share) {
  if (!C::shares) return true;
  using T = Team<C::team>;
  if (T::rank() == 0) head->found = load_relaxed(share.taken) < share.tasks;
  T::sync();
  bool any = head->found;
  T::sync();
  return any;
}

// The root that a team without one helps with, while the grid that has it is searching. It is
// drawn by lot, weighted by the remaining tasks of each root, so that teams which ask at the
// same time get different roots.
template <class C> struct Help {
  const LocalParams& p;
  TeamHead* head;
  const u32* list;
  u32 end;

  // How much is left of the root at place i, 0: too little for another team.
  DEV u64 left(u32 i) const {
    u32 v = list[i];
    Set s = universe(p.graph, v);
    u32 taken = load_relaxed(p.x.taken + i), tasks = tasks_of<C>(p.graph, p.x.roots, v, s);
    if (taken >= tasks) return 0;
    u32 enough = W_OUTSIDE ? 1 : C::team / C::Row::lanes / 4; // a number that the others hardly notice
    return tasks - taken < enough ? 0 : (u64)(tasks - taken) * s.n;
  }

  DEV Chunk operator()(Watch& watch) const {
    if constexpr (!C::shares) return Chunk{0, 0, true};
    using T = Team<C::team>;
    if (!p.x.helping) return Chunk{0, 0, true};
    if (T::rank() == 0) {
      head->sum = 0;
      head->flag = watch.leave(p.run);
    }
    T::sync();
    u64 best = 0;
    u32 seed = mix(T::number() * 0x9e3779b9u + (u32)clock64_());
    for (u32 i = T::rank(); i < end && !head->flag; i += T::size()) {
      u64 n = left(i);
      if (n) best = max(best, (u64)lot(n, mix(seed ^ i)) << 32 | i);
    }
    for (u32 d = 16; d > 0; d >>= 1) best = max(best, shfl_xor(ALL, best, d));
    if (lane() == 0 && best) atomic_max(&head->sum, best);
    T::sync();
    best = head->sum;
    T::sync();
    if (best == 0) return Chunk{0, 0, true};
    if (T::rank() == 0) atomic_add(&p.run.counters->steals_grid, (u64)1);
    return Chunk{(u32)best, 1, false};
  }
};

#endif
