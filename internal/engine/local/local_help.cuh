// Help with large neighbourhoods: what lies below one root may be more than all
// other roots together. Each team writes on its desk which root it is at; a team
// that has no root left shares the one that needs longest, with a matrix of its
// own. What of a root is given out is counted in a place that only this root has.
#ifndef WEFT_LOCAL_HELP
#define WEFT_LOCAL_HELP
#include "local_hood.cuh"

struct Desk {
  u32 task;  // 1 + the root's place in the list of its class, 0: none yet
  u32 end;   // how much there is to share
  u64 since; // when the matrix was there, in nanoseconds; 0: it is being made
  u64 built; // how long that took
  u64 spare;
};

// A root that a team is at.
struct Share {
  u32 root;
  u32* given; // how much of it was given out; null: the team has all of it
  Desk* desk; // the team's own, where it was the first; else null
  u64 began;  // when
};

// The team is the first at a root, task of its class. One lane.
DEV void open_desk(Share& s, u32 task) {
  s.began = nanotime();
  store_relaxed(&s.desk->since, (u64)0);
  store_release(&s.desk->task, task + 1);
}

// The matrix is made; there is so much to share. Collective for the team.
template <class T> DEV void lay_out(const Share& s, u32 end) {
  if (!s.desk || T::rank() != 0) return;
  u64 now = nanotime();
  store_relaxed(&s.desk->end, end);
  store_relaxed(&s.desk->built, now - s.began + 1);
  store_release(&s.desk->since, now + 1);
}

// How long what is left on a desk takes those who are at it, in nanoseconds; 0:
// not worth the making of another matrix, which is what takes at least gain times
// as long. wait: that is not known yet. One lane.
DEV u64 worth(const Desk* d, const u32* given, u64 time, u32 gain, u32& task, bool& wait) {
  task = load_acquire(&d->task);
  if (task == 0) return 0;
  u64 since = load_acquire(&d->since);
  wait = wait || since == 0;
  if (since == 0) return 0;
  u32 end = load_relaxed(&d->end), done = load_relaxed(&given[task - 1]);
  if (done >= end) return 0;
  u64 built = load_relaxed(&d->built), taken = time > since ? time - since : 0;
  u64 left = 1 + (u64)((f64)taken * (end - done) / max(1u, done));
  wait = wait || taken < built;
  return left >= gain * built ? left : 0;
}

// The root, by its place in the list, of the desk of n that needs help most; ~0:
// none. Collective for the warp.
DEV u32 root_to_help(const Desk* desks, const u32* given, u32 n, u32 gain, bool& wait) {
  u64 most = 0, time = nanotime();
  u32 which = ~0u;
  for (u32 i = lane(); i < n; i += 32) {
    u32 task;
    u64 x = worth(desks + i, given, time, gain, task, wait);
    if (x > most) most = x, which = task - 1;
  }
  wait = any(ALL, wait);
  for (u32 d = 16; d > 0; d >>= 1) {
    u64 x = shfl_xor(ALL, most, d);
    u32 of = shfl_xor(ALL, which, d);
    if (x > most || x == most && of < which) most = x, which = of;
  }
  return which;
}

#endif
