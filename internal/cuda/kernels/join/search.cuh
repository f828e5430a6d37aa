// A phase of one vertex: each row of a table is joined with its candidates, by a warp (GSI's vertex-oriented join). New rows
// go to places that one atomic addition for each batch gives (GENEVA).
//
// Tables are bounded. A warp that finds no room leaves what it has not done as a piece, and ends; a later launch goes on
// there. No row is lost: each place below the room is written by the warp that got it.
//
// The host twin is package join's search on the processor.
#ifndef JOIN_SEARCH
#define JOIN_SEARCH
#include "base/ring.cuh"
#include "base/tasks.cuh"
#include "join/find.cuh"

enum JoinGoal { JOIN_ROWS, JOIN_COUNT, JOIN_LIST };

// A warp's shared memory: its row, and survivors that wait with their positions in the list that is walked.
struct JoinWarp {
  u32 row[32];
  u32 wait[64], place[64];
};

// A row is done: no position.
#define JOIN_DONE ~0u

template <JoinGoal GOAL> struct Joiner {
  const Run& run;
  const JoinArgs& x;
  const JoinGroup& g;
  JoinWarp& w;
  u64 total = 0; // of matches or rows, equal on all lanes
  u64 told = 0;  // of total, what the run's counters have
  u32 looks = 0;
  bool halted = false; // the run is to stop: what was made has no meaning

  DEV Joiner(const Run& run, const JoinArgs& x, const JoinStep& s, JoinWarp& w) : run(run), x(x), g(s.group), w(w) {}

  // Counts the rows of one root.
  DEV void add(u32 n) {
    total += n;
    if (GOAL == JOIN_COUNT && n && lane() == 0) add_root(run, w.row[0], n);
  }

  // Tells the run's counters.
  DEV void tell() {
    u64 n = total - told;
    told = total;
    if (!n || lane() != 0) return;
    if (GOAL == JOIN_COUNT) add128(run.counters, n);
    if (x.levels) atomic_add(&run.counters->visits[g.level], n);
  }

  DEV bool look() {
    if ((++looks & 15) == 0) halted = stopped(Warp(), run);
    return halted;
  }

  // Appends the row with each of the first n waiting vertices, as far as there is room. Returns how many got it.
  DEV u32 put(u32 n) {
    u64 at = 0;
    if (lane() == 0) at = atomic_add(&x.state->made, (u64)n) - x.made;
    at = shfl(ALL, at, 0);
    u32 fits = at < x.room ? (u32)min((u64)n, x.room - at) : 0;
    const u32 after = x.width + 1, words = fits * after;
    u32* to = x.out + at * after;
    u32 r = lane() / after, c = lane() % after;
    for (u32 k = lane(); k < words; k += 32) { // whole lines
      to[k] = c < x.width ? w.row[c] : w.wait[r];
      r += 32 / after;
      c += 32 % after;
      if (c >= after) {
        c -= after;
        r++;
      }
    }
    total += fits;
    return fits;
  }

  // Joins a row with its candidates from position from to before to. Returns JOIN_DONE, or the position at which there
  // was no more room.
  DEV u32 join(u32 row, u32 from, u32 to) {
    sync_warp(ALL);
    if (lane() < x.width) w.row[lane()] = x.rows[(u64)row * x.width + lane()];
    sync_warp(ALL);
    JoinFound f = join_find(g, x.lists, w.row, x.width);
    const u32 end = min(f.base.n, to);
    if (from >= end) return JOIN_DONE;
    if (GOAL == JOIN_COUNT && !f.others && !join_tests(g)) {
      add(join_size(g, w.row, f, from, end));
      return JOIN_DONE;
    }
    u32 n = 0, waiting = 0;
    for (u32 i = from; i < end; i += 32) {
      if (look()) return JOIN_DONE;
      u32 v;
      bool in = join_test(g, x.lists, w.row, f, i, end, v);
      if (GOAL == JOIN_LIST) {
        u32 got = emit_rows(Warp(), run, in, [&](u32 c) { return c < x.width ? w.row[c] : v; });
        halted = got == ~0u;
        if (halted) return JOIN_DONE;
        total += got;
        continue;
      }
      u32 votes = ballot(ALL, in);
      if (GOAL == JOIN_COUNT) {
        n += popc(votes);
        continue;
      }
      if (in) {
        u32 at = waiting + popc(votes & Warp::below());
        w.wait[at] = v;
        w.place[at] = i + lane();
      }
      waiting += popc(votes);
      sync_warp(ALL);
      if (waiting < (x.cache ? 32 : 1)) continue;
      u32 full = min(waiting, 32u), fits = put(full);
      if (fits < full) return w.place[fits];
      sync_warp(ALL);
      u32 rest = waiting - full, next = lane() < rest ? w.wait[32 + lane()] : 0, place = lane() < rest ? w.place[32 + lane()] : 0;
      if (lane() < rest) { // other places than those that are read
        w.wait[lane()] = next;
        w.place[lane()] = place;
      }
      waiting = rest;
      sync_warp(ALL);
    }
    if (GOAL == JOIN_COUNT) add(n);
    if (waiting) {
      u32 fits = put(waiting);
      if (fits < waiting) return w.place[fits];
    }
    return JOIN_DONE;
  }

  // The next piece; no rows: there is none, or no room.
  DEV JoinPiece next() {
    u64 k = ~0ull;
    if (lane() == 0 && (GOAL != JOIN_ROWS || load_relaxed(&x.state->made) - x.made < x.room))
      k = atomic_add(&x.state->taken, (u64)1) - x.taken;
    k = shfl(ALL, k, 0);
    const u64 pieces = x.tail - x.head;
    if (k < pieces) return x.pieces[(x.head + k) & x.mask];
    u64 row = k == ~0ull ? x.count : x.base + (k - pieces) * x.chunk;
    if (row >= x.count) return JoinPiece{0, 0, 0, 0};
    return JoinPiece{(u32)row, min(x.chunk, x.count - (u32)row), 0, ~0u};
  }

  // Leaves a piece for a later launch. There are as many places behind tail as warps.
  DEV void leave(JoinPiece p) {
    if (lane() == 0) x.pieces[(x.tail + (atomic_add(&x.state->left, (u64)1) - x.left)) & x.mask] = p;
  }

  DEV void rows() {
    while (!(halted = stopped(Warp(), run))) {
      JoinPiece p = next();
      if (!p.rows) break;
      for (; p.rows; p = JoinPiece{p.row + 1, p.rows - 1, 0, ~0u}) {
        u32 at = join(p.row, p.from, p.to);
        if (halted) break;
        if (at != JOIN_DONE) {
          p.from = at;
          leave(p);
          tell();
          return;
        }
      }
      if (halted) break;
      if (x.often) tell();
    }
    tell();
  }

  // Task t's id.
  DEV u32 root(u64 t) {
    u32 i = 0;
    for (; i + 1 < x.ranges && t >= x.roots[i].end - x.roots[i].first; i++) t -= x.roots[i].end - x.roots[i].first;
    return x.roots[i].first + (u32)t;
  }

  // The first phase: the roots that its tasks are.
  DEV void roots() {
    while (!(halted = stopped(Warp(), run))) {
      if (GOAL == JOIN_ROWS) {
        u32 room = 1;
        if (lane() == 0) room = atomic_add(&x.state->asked, (u64)run.chunk) - x.asked + run.chunk <= x.room;
        if (!shfl(ALL, room, 0)) break;
      }
      Chunk t = take(Warp(), run);
      if (t.over && lane() == 0) store_relaxed(&x.state->over, 1u);
      if (!t.count) break;
      for (u32 i = 0; i < t.count; i += 32) {
        bool in = i + lane() < t.count;
        u32 v = in ? root(t.first + i + lane()) : 0;
        in = in && join_allows(g, x.lists, v);
        u32 votes = ballot(ALL, in), n = popc(votes);
        if (GOAL == JOIN_LIST) {
          if (emit_rows(Warp(), run, in, [&](u32) { return v; }) == ~0u) halted = true;
          if (halted) return;
        } else if (GOAL == JOIN_COUNT) {
          if (in) add_root(run, v, 1);
        } else if (n) {
          u64 at = 0;
          if (lane() == 0) at = atomic_add(&x.state->made, (u64)n) - x.made;
          at = shfl(ALL, at, 0);
          if (in) x.out[at + popc(votes & Warp::below())] = v;
        }
        total += n;
      }
      if (x.often) tell();
    }
    tell();
  }
};

// The step's place in shared memory, which all warps read, and behind it a JoinWarp for each.
DEV JoinWarp& join_begin(const JoinArgs& x) {
  u32* to = (u32*)shared();
  for (u32 k = thread(); k < sizeof(JoinStep) / 4; k += threads()) to[k] = ((const u32*)x.step)[k];
  sync_block();
  return ((JoinWarp*)(shared() + sizeof(JoinStep)))[warp()];
}

template <JoinGoal GOAL> DEV void join_phase(const JoinParams& p) {
  if (!join_turn(p.x)) return;
  JoinWarp& w = join_begin(p.x);
  Joiner<GOAL>(p.run, p.x, *(const JoinStep*)shared(), w).rows();
}

template <JoinGoal GOAL> DEV void join_first(const JoinParams& p) {
  if (!join_turn(p.x)) return;
  JoinWarp& w = join_begin(p.x);
  Joiner<GOAL>(p.run, p.x, *(const JoinStep*)shared(), w).roots();
}

#endif
