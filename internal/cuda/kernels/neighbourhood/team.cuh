// A team: the lanes that search one root of the local method together, a warp or
// a block. Teams have parts of shared memory of their own.
#ifndef WEFT_LOCAL_TEAM
#define WEFT_LOCAL_TEAM
#include "base/graph.cuh"
#include "base/stream.cuh"
#include "base/tasks.cuh"

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

// Values that a team's lanes share: the first bytes of its shared memory.
struct TeamHead {
  u64 first[2]; // of two chunks of tasks, in turns
  u64 sum; // also: the best of the choices
  u32 count[2];
  u32 dealt[2]; // lists of two rounds that were given to warps, in turns
  u32 round;
  u32 flag;
  u32 found;
  u32 left; // not 0: a lane has seen that the run is stopped
  u32 part_end;
};

// Before a team's first task. Collective.
template <class T> DEV void team_begin(TeamHead* head) {
  if (T::rank() == 0) *head = TeamHead{{0, 0}, 0, {0, 0}, {0, 0}, 0, 0, 0, 0, 0};
  T::sync();
}

// The tasks of one class of roots: places 0 … end-1 of its list; none, and nothing
// taken from others, where end is 0.
struct ClassTasks {
  u32 end;
  u32* next; // how many were taken
  u32 most;  // taken at a time

  // Asks for a chunk: the answer is on its way. One lane.
  DEV u32 ask() const { return end ? atomic_add(next, most) : 0; }

  // The chunk that was asked for; no tasks: none will come. One lane.
  DEV Chunk answer(const Run& r, u32 asked) const {
    if (asked >= end) return Chunk{0, 0, true};
    u32 n = min(most, end - asked);
    atomic_add(&r.counters->cursor, (u64)n); // for the progress
    return Chunk{asked, n, false};
  }
};

#define LOOK_CYCLES (1ull << 17) // between two looks of a lane at the stop flag

// A lane's watch on the run: whether to leave. It is asked at every piece of work,
// and looks at memory, which all lanes share, once in a while by its own clock.
struct Watch {
  u64 looked;
  bool stop;

  DEV bool leave(const Run& r) {
    u64 now = clock64_();
    if (stop || now - looked < LOOK_CYCLES) return stop;
    looked = now;
    return stop = stopped(r);
  }
  // leave, by one lane for the group.
  template <class G> DEV bool leave(G g, const Run& r) {
    u32 yes = 0;
    if (g.leader()) yes = leave(r);
    return stop = g.shfl(yes, 0) != 0;
  }
};

// Calls f(task) for the tasks that this team gets, until no task is left or the run is stopped,
// perhaps before the first. The next chunk is fetched while the team works on one. Without a
// task of its own the team does the work that help(watch) returns, as long as it returns some.
// Collective for the team.
template <class T, class H, class F>
DEV void each_task(const Run& r, TeamHead* head, const ClassTasks& tasks, Watch& watch, H help, F f) {
  u32 asked = 0;
  if (T::rank() == 0 && !(watch.stop = stopped(r))) asked = tasks.ask();
  for (u32 turn = 0;; turn++) {
    Chunk t = {0, 0, true};
    if (T::rank() == 0 && !watch.leave(r)) t = tasks.answer(r, asked);
    if constexpr (T::is_warp) {
      t.first = shfl(ALL, t.first, 0);
      t.count = shfl(ALL, t.count, 0);
    } else {
      // Lanes that still read the last chunk's place have not passed this barrier.
      if (T::rank() == 0) {
        head->first[turn & 1] = t.first;
        head->count[turn & 1] = t.count;
      }
      T::sync();
      t.first = head->first[turn & 1];
      t.count = head->count[turn & 1];
    }
    if (t.count == 0) t = help(watch);
    if (t.count == 0) return;
    if (T::rank() == 0) asked = tasks.ask();
    for (u32 i = 0; i < t.count; i++) {
      f(t.first + i);
      if (T::is_warp && watch.leave(Warp(), r)) return;
    }
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

// Copies a list to a team's shared memory, and returns the copy. A list of more ids than there is room for is returned itself. Why: a
// list in host memory is read over the bus, and a team reads its root's list many times.
template <class T> DEV Set copy_of(Set s, u32* to, u32 room) {
  if (s.n > room) return s;
  T::sync();
  for (u32 i = T::rank(); i < s.n; i += T::size()) to[i] = s.p[i];
  T::sync();
  return Set{to, s.n};
}

// Deals numbers first … end-1 to the warps of a block, `most` at a time, to each
// as it asks: f(k0, k1) for k0 … k1-1. A warp alone gets them all, 32 at a time.
// Collective for the team, which has synchronised since the numbers were known;
// f is called by warps at different times.
template <class T, class F> DEV void deal(TeamHead* head, u32 first, u32 end, u32 most, F f) {
  if (T::is_warp) {
    for (u32 k = first; k < end; k += 32) f(k, min(k + 32, end));
    return;
  }
  // The round after next uses the same counter: it is cleared by this one, when
  // all have left the last and none can be in the next.
  u32 turn = head->round & 1;
  T::sync();
  if (T::rank() == 0) {
    head->round++;
    head->dealt[turn ^ 1] = 0;
  }
  for (;;) {
    u32 k = 0;
    if (lane() == 0) k = atomic_add(&head->dealt[turn], most);
    k = first + shfl(ALL, k, 0);
    if (k >= end) break;
    f(k, min(k + most, end));
  }
  T::sync();
}

#define LONG_LIST 256 // lists from which a block shares single lists
#define SEGMENT 128   // elements of such a list that a warp takes at a time

// The number of the n lists that a warp of a block takes at a time. It is so small that each
// warp asks a few times, and the number of its lanes if there are plenty.
template <class T> DEV u32 share(u32 n) { return max(4u, min(32u, n / (4 * T::warps()))); }

// The elements of several lists, one after the other: list(k) is list k, for k <
// n; f(k, x) is called for each element x of list k. In a block, lists stand
// about by falling length, and the long ones are cut into segments that the warps
// take in turns: one hub's list is a block's work. Collective for the team.
template <class T, class L, class F> DEV void each_of(TeamHead* head, u32 n, L list, F f) {
  u32 k0 = 0, dealt = 0; // segments of all lists before k0
  for (; !T::is_warp && k0 < n; k0 += 32) {
    u32 k = k0 + lane();
    Set a = k < n ? list(k) : Set{(const u32*)0, 0};
    if (!any(ALL, a.n >= LONG_LIST)) break;
    u32 segments = (a.n + SEGMENT - 1) / SEGMENT, end = Warp::inclusive(segments), total = shfl(ALL, end, 31);
    u32 mine = (T::warp_of() + T::warps() - dealt % T::warps()) % T::warps();
    for (u32 i = mine; i < total; i += T::warps()) {
      u32 of = ctz(ballot(ALL, end > i));
      const u32* p = (const u32*)shfl(ALL, (u64)a.p, of);
      u32 at = (i - shfl(ALL, end - segments, of)) * SEGMENT, stop = min(at + SEGMENT, shfl(ALL, a.n, of));
      u32 x[SEGMENT / 32];
      UNROLL
      for (u32 j = 0; j < SEGMENT / 32; j++) x[j] = at + 32 * j + lane() < stop ? p[at + 32 * j + lane()] : ~0u;
      UNROLL
      for (u32 j = 0; j < SEGMENT / 32; j++)
        if (at + 32 * j + lane() < stop) f(k0 + of, x[j]);
    }
    dealt += total;
  }
  deal<T>(head, k0, n, share<T>(n - k0), [&](u32 from, u32 to) {
    u32 k = from + lane();
    Stream s = stream(k < to ? list(k) : Set{(const u32*)0, 0});
    each(s, [&](Window w) {
      u32 of = from + shfl(ALL, s.from, w.of & 31);
      if (w.live) f(of, w.x);
    });
  });
}

#endif
