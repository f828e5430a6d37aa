// Graphs in which no neighbourhood is large: one kernel goes over all vertices, a
// warp a task, without making lists of roots first. A search of so little takes as
// long as its launches, of which this is the only one. A task is a root, or one of
// the parts of a root below which much is walked: each part's warp makes a sieve of
// its own. Tasks are dealt in turns, since neighbours in the order of ids are alike.
#ifndef WEFT_LOCAL_WHOLE
#define WEFT_LOCAL_WHOLE
#include "neighbourhood/kernels.cuh"

// The kernel. Roots.parts is here how many parts any root has at most, limit[0] how
// much is walked in one, and most[0] the largest universe.
template <class C> DEV void search_whole(const LocalParams& p) {
  using T = Team<32>;
  const Roots& x = p.x.roots;
  TeamHead* head = (TeamHead*)(shared() + T::in_block() * C::bytes);
  team_begin<T>(head);
  team_fill<T>((u32*)((u8*)head + C::table), C::slots, 0);
  T::sync();
  Tally n;
  n.watch.looked = clock64_(); // the launch is the last look
  u32 teams = blocks() * warps(), tasks = x.places * x.parts, done = 0;
  for (u32 at = T::number(); at < tasks && !n.watch.stop; at += 32 * teams) {
    u32 t = at + lane() * teams, part = t / x.places, v = 0, parts = 0;
    if (t < tasks) {
      const u32 i = t - part * x.places;
      v = root_at(x.vertices, i);
      parts = (x.work[i] + x.limit[0] - 1) / x.limit[0];
      if (part < parts && class_of(p.run, p.graph, x, v) == ~0u) parts = 0;
    }
    for (u32 left = ballot(ALL, part < parts); left && !n.watch.stop; left &= left - 1) {
      u32 from = ctz(left);
      Share share = {shfl(ALL, v, from), (u32*)0, 0, shfl(ALL, part, from), shfl(ALL, parts, from)};
      search_root<C>(p, (u8*)head, (u32*)0, share, universe(p.graph, share.root), n);
      count_root(p, share.root, n);
    }
    done += popc(ballot(ALL, t < tasks && part == 0));
  }
  // One addition a block: all go to the same words of memory.
  u128 sum = sum128(Warp(), n.all);
  if (lane() == 0) {
    head->first[0] = (u64)sum;
    head->first[1] = (u64)(sum >> 64);
    head->count[0] = n.watch.stop ? 0 : done;
  }
  sync_block();
  if (warp() != 0) return;
  sum = done = 0;
  if (lane() < warps()) {
    head = (TeamHead*)(shared() + lane() * C::bytes);
    sum = (u128)head->first[1] << 64 | head->first[0];
    done = head->count[0];
  }
  sum = sum128(Warp(), sum);
  done = Warp::sum(done);
  if (lane() != 0) return;
  if (sum) add128(p.run.counters, sum);
  if (done) atomic_add(&p.run.counters->cursor, (u64)done); // for the progress
}

#endif
