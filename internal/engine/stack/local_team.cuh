// A team: the lanes that search one root of the local method together, a warp or
// a block. Teams have parts of shared memory of their own.
#ifndef WEFT_LOCAL_TEAM
#define WEFT_LOCAL_TEAM
#include "graph.cuh"
#include "stream.cuh"
#include "tasks.cuh"

template <u32 N> struct Team {
  static constexpr bool is_warp = N == 32;
  static DEV constexpr u32 size() { return N; }
  static DEV constexpr u32 warps() { return N / 32; }
  static DEV u32 rank() { return is_warp ? lane() : thread(); }
  // This lane's warp in the team.
  static DEV u32 warp_of() { return is_warp ? 0 : warp(); }
  // The team's number in its block, and in the grid.
  static DEV u32 in_block() { return is_warp ? warp() : 0; }
  static DEV u32 number() { return is_warp ? block() * ::warps() + warp() : block(); }
  static DEV void sync() {
    if (is_warp) sync_warp(ALL);
    else sync_block();
  }
};

// What a team's lanes tell each other: the first bytes of its shared memory.
struct TeamHead {
  u64 first; // of a chunk of tasks
  u64 sum;
  u32 count;
  u32 over;
  u32 flag;
  u32 found;
};

// Takes the next chunk of up to `most` tasks below end. No tasks and not over:
// the host has not answered yet. One lane. take() of tasks.cuh adds first and
// looks then; here a task from end on must stay for the kernel that comes next.
DEV Chunk take_below(const Run& r, u64 end, u32 most) {
  Counters* c = r.counters;
  for (;;) {
    u64 at = load_acquire(&c->cursor);
    Chunk t = chunk_at(r, at);
    if (t.count) {
      if (t.first >= end) return Chunk{0, 0, true};
      t.count = (u32)min((u64)min(t.count, most), end - t.first);
      if (atomic_cas(&c->cursor, at, at + t.count) == at) return t;
      continue;
    }
    if (load_acquire(&c->finished)) return Chunk{0, 0, true};
    install(r, at >> CURSOR_BITS);
    if (load_relaxed(&c->cursor) >> CURSOR_BITS == at >> CURSOR_BITS)
      return Chunk{0, 0, load_acquire(&c->finished) != 0};
  }
}

// Calls f(task) for the tasks below end that this team gets, until there are no
// more or the run is stopped. Collective for the team.
template <class T, class F> DEV void each_task(const Run& r, TeamHead* head, u64 end, u32 most, F f) {
  for (;;) {
    if (T::rank() == 0) {
      Chunk t = {0, 0, true};
      while (!stopped(r)) {
        t = take_below(r, end, most);
        if (t.count || t.over) break;
        t.over = true; // if stopped meanwhile
        spin();
      }
      head->first = t.first;
      head->count = t.count;
    }
    T::sync();
    u64 first = head->first;
    u32 count = head->count;
    T::sync();
    if (count == 0) return;
    for (u32 i = 0; i < count; i++) f(first + i);
  }
}

// The sum of x over the team, on all lanes.
template <class T> DEV u64 team_sum(TeamHead* head, u64 x) {
  x = Warp::sum(x);
  if (T::is_warp) return x;
  if (T::rank() == 0) head->sum = 0;
  T::sync();
  if (lane() == 0 && x) atomic_add(&head->sum, x);
  T::sync();
  x = head->sum;
  T::sync();
  return x;
}

template <class T> DEV void team_fill(u32* p, u32 n, u32 x) {
  for (u32 i = T::rank(); i < n; i += T::size()) p[i] = x;
}

// The elements of several lists, one after the other: list(k) is list k, for k <
// n; f(k, x) is called for each element x of list k. Collective for the team.
template <class T, class L, class F> DEV void each_of(u32 n, L list, F f) {
  for (u32 k0 = T::warp_of() * 32; k0 < n; k0 += T::warps() * 32) {
    u32 k = k0 + lane();
    Set a = k < n ? list(k) : Set{(const u32*)0, 0};
    Stream s = stream(a);
    each(s, [&](Window w) {
      u32 of = k0 + shfl(ALL, s.from, w.of & 31);
      if (w.live) f(of, w.x);
    });
  }
}

#endif
