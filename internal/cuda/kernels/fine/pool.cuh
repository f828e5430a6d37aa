// A frame's pool: the candidate lists of up to 32 partial matches, as if they
// were one list. All functions are collective.
#ifndef FINE_POOL
#define FINE_POOL
#include "fine/stack.cuh"

// A list this long makes a pool of its own, so that the tasks of 32 of them can
// be numbered in 32 bits.
#define FINE_LONG (1u << 26)

// Makes a pool of lists s: each lane gives the list of the entry with its number, or an empty
// one. Takes as many lists as can be numbered, and returns which it took.
DEV u32 make_pool(Frame& f, Set s, u32 which) {
  u32 wide = ballot(ALL, s.n >= FINE_LONG);
  if (unlikely(wide != 0) && lane() != ctz(wide)) s.n = 0;
  u32 votes = ballot(ALL, s.n != 0);
  u32 before = Warp::exclusive(s.n);
  u32 slot = popc(votes & lanes_before());
  if (s.n != 0) {
    f.list[slot] = (u64)s.p - 4ull * before;
    f.start[slot] = before;
    f.entry[slot] = (u8)lane();
    f.which[slot] = (u8)which;
  }
  if (lane() >= popc(votes)) f.start[lane()] = ~0u;
  if (lane() == 31) {
    f.at = 0;
    f.end = before + s.n;
  }
  sync_warp(ALL);
  return wide ? 1u << ctz(wide) : ALL;
}

// A lane's task. If lists are stored in parts (FINE_PARTS), its vertex is a place until the
// checks have read the entry there.
struct Task {
  bool on;
  u32 slot, entry, which, vertex;
};

// The task of each lane when the pool is at `at`. start: the lane's f.start.
// Slots begin at different tasks, so the slot of task at+i is that of task
// `at` and one more for each start up to it.
DEV Task task_of(const Frame& f, u32 start, u32 at, u32 end) {
  u32 first = popc(ballot(ALL, start <= at)) - 1, ahead = start - at;
  u32 marks = reduce_or(ALL, start > at && ahead < 32 ? 1u << ahead : 0u);
  Task t;
  t.on = lane() < end - at;
  t.slot = first + popc(marks & lanes_upto());
  t.entry = f.entry[t.slot];
  t.which = f.which[t.slot];
  t.vertex = 0;
#ifdef FINE_PARTS
  if (t.on) t.vertex = (u32)(f.list[t.slot] / 4 + (at + lane()));
#else
  if (t.on) t.vertex = ldg((const u32*)(f.list[t.slot] + 4ull * (at + lane())));
#endif
  return t;
}

// A lane's slot's part of the tasks that lanes voted for.
DEV u32 share_of(u32 start, u32 next, u32 at, u32 votes) {
  u32 lo = start > at ? start - at : 0, hi = next > at ? next - at : 0;
  if (lo >= 32 || lo >= hi) return 0;
  u32 mine = hi >= 32 ? ALL : (1u << hi) - 1;
  return popc(votes & mine & ~((1u << lo) - 1));
}

// Where the slot of this lane ends.
DEV u32 next_start(u32 start, u32 end) {
  u32 next = shfl_down(ALL, start, 1);
  return lane() == 31 || next == ~0u ? end : next;
}

#endif
