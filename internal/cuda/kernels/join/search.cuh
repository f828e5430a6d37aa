// Phases of one vertex: each row of a table is joined with its candidates, by a warp (GSI's vertex-oriented join). There
// are three ways to find places for new rows:
//
//   - one atomic addition for each batch of 32 (GENEVA). Tables are bounded. A warp that finds no room leaves what it has
//     not done as a piece, and ends; a later launch goes on there. No row is lost: each place below the room is written
//     by the warp that got it.
//   - two passes: the first counts the new rows of each row, prefix sums of these are the places.
//   - Prealloc-Combine (GSI, algorithm 2): prefix sums of upper bounds, the lengths of the lists of the first edge, give
//     each row a part of one buffer for its survivors; prefix sums of their numbers are the places, and join_link
//     writes the rows there.
//
// The last two go over windows of the numbers that the prefix sums give, so that each launch makes as many rows as
// there is room for, at most.
//
// The host twin is package join's search on the processor.
#ifndef JOIN_SEARCH
#define JOIN_SEARCH
#include "base/ring.cuh"
#include "base/tasks.cuh"
#include "join/find.cuh"

enum JoinGoal {
  JOIN_ROWS,  // rows of the next table, by atomic additions
  JOIN_COUNT, // the number of matches
  JOIN_LIST,  // rows for the host
  JOIN_SIZES, // x.sizes: the number of new rows of each row
  JOIN_PLACED, // rows of the next table, by x.starts
  JOIN_WEIGH, // rows of the next table, one for each that has candidates: their number is a factor of its weight
  JOIN_FILL,  // survivors in x.buffer, and their number for each row
};

// A warp's shared memory: its row, and survivors that wait with their positions in the list that is walked.
struct JoinWarp {
  u32 row[32];
  u32 wait[64], place[64];
  // What the warps of a block tell each other: see join/layers.cuh.
  const u32* list;
  u64 unit;
  u32 n, unused[3];
  u64 weight[2]; // of the row
  u64 sum[2];    // of matches, where rows have weights, that the run's counters do not have yet
};

// a × b; over becomes true if that passes 128 bits.
DEV u128 times(u128 a, u64 b, bool& over) {
  u128 low = (u128)(u64)a * b, high = (u128)(u64)(a >> 64) * b + (low >> 64);
  over |= (u64)(high >> 64) != 0;
  return high << 64 | (u64)low;
}
DEV u128 times128(u128 a, u128 b, bool& over) {
  const u64 high = (u64)(b >> 64);
  // One of them has less than 64 bits, or the product is too large.
  over |= high && a >> 64;
  return high ? times(b, (u64)a, over) : times(a, (u64)b, over);
}

// Where no vertex is any more. Host twin: nobody.
#define JOIN_NOBODY ~0u

// A row is done: no position.
#define JOIN_DONE ~0u

template <JoinGoal GOAL> struct Joiner {
  const Run& run;
  const JoinArgs& x;
  const JoinLists* lists; // x.lists, or a copy of them in shared memory
  const JoinStep& s;
  JoinWarp& w;
  const u32 count; // rows of the table that is joined
  const u32 chunk_rows; // of a run
  const u32 parts;      // of a row
  u32 part = 0;         // the last one that next took
  u64 total = 0; // of matches or rows, equal on all lanes
  u64 told = 0;  // of total, what the run's counters have
  u64 place = 0; // of the next row, with JOIN_PLACED and JOIN_FILL
  u32 waiting = 0, looks = 0;
  bool halted = false; // the run is to stop: what was made has no meaning

  static constexpr bool WRITES = GOAL == JOIN_ROWS || GOAL == JOIN_PLACED || GOAL == JOIN_FILL;

  DEV Joiner(const Run& run, const JoinArgs& x, const JoinLists* lists, const JoinStep& s, JoinWarp& w) 
      : run(run), x(x), lists(lists), s(s), w(w), count(join_count_of(x)), chunk_rows(join_run_of(x, count - x.base)), parts(join_parts_of(x, s.late, count - x.base)) {
    if (lane() < 2) w.sum[lane()] = 0;
    sync_warp(ALL);
  }

  // Counts n rows of this root, which is the same on all lanes.
  DEV void add(u64 n) {
    if (GOAL == JOIN_COUNT && x.weights) {
      if (n && lane() == 0) weigh(n);
      return;
    }
    total += n;
    if (GOAL == JOIN_COUNT && n && lane() == 0) add_root(run, w.row[0], n);
  }

  // Counts n matches of each partial match that the row stands for. Lane 0.
  DEV void weigh(u128 n) {
    bool over = false;
    if (x.weights) n = times128((u128)w.weight[1] << 64 | w.weight[0], n, over);
    add_root(run, w.row[0], n);
    const u128 sum = ((u128)w.sum[1] << 64 | w.sum[0]) + n;
    over |= sum < n;
    w.sum[0] = (u64)sum;
    w.sum[1] = (u64)(sum >> 64);
    if (over) store_relaxed(&run.counters->overflow, 1u);
  }

  // Tells the run's counters of the matches by weights.
  DEV void tell_weighed() {
    if (lane() != 0) return;
    const u128 sum = (u128)w.sum[1] << 64 | w.sum[0];
    if (sum) add128(run.counters, sum);
    w.sum[0] = w.sum[1] = 0;
  }

  // Tells the run's counters.
  DEV void tell() {
    if (GOAL == JOIN_COUNT && x.weights) return tell_weighed();
    u64 n = total - told;
    told = total;
    if (!n || lane() != 0) return;
    if (GOAL == JOIN_COUNT) add128(run.counters, n);
    if (x.levels && GOAL != JOIN_SIZES) atomic_add(&run.counters->visits[x.after - 1], n);
  }

  DEV bool look() {
    if ((++looks & 15) == 0) halted = stopped(Warp(), run);
    return halted;
  }

  // Writes words of whole lines: word c of new row r is id(r, c).
  template <class F> DEV void lines(u64 at, u32 rows, F id) {
    const u32 after = x.after, words = rows * after;
    u32* to = x.out + at * after;
    u32 r = lane() / after, c = lane() % after;
    for (u32 k = lane(); k < words; k += 32) {
      to[k] = id(r, c);
      r += 32 / after;
      c += 32 % after;
      if (c >= after) {
        c -= after;
        r++;
      }
    }
    if (x.out_weights)
      for (u32 k = lane(); k < 2 * rows; k += 32) x.out_weights[2 * at + k] = x.weights || GOAL == JOIN_WEIGH ? w.weight[k & 1] : !(k & 1);
  }

  // Places for n rows. Returns how many of them there is room for.
  DEV u32 reserve(u32 n, u64& at) {
    if (GOAL == JOIN_ROWS || GOAL == JOIN_WEIGH) {
      at = 0;
      if (lane() == 0) at = atomic_add(&x.state->made, (u64)n) - x.made;
      at = shfl(ALL, at, 0);
      return at < x.room ? (u32)min((u64)n, x.room - at) : 0;
    }
    u32 fits = (u32)min((u64)n, x.end - place);
    at = place - x.window;
    place += fits;
    return fits;
  }

  // Writes the row with each of the first n waiting vertices, as far as there is room. Returns how many got it.
  DEV u32 put(u32 n) {
    u64 at;
    u32 fits = reserve(n, at);
    if (GOAL == JOIN_FILL) {
      if (lane() < fits) x.buffer[at + lane()] = w.wait[lane()];
    } else {
      if (GOAL == JOIN_PLACED) at += x.room - (x.end - x.window);
      lines(at, fits, [&](u32 r, u32 c) { return c + 1 < x.after ? w.row[c] : w.wait[r]; });
    }
    total += fits;
    return fits;
  }

  // Writes the row with n as a factor of its weight. Returns JOIN_DONE, or 0 where there was no room.
  DEV u32 put_weighed(u32 n) {
    u64 at;
    if (!reserve(1, at)) return 0;
    if (lane() == 0) {
      bool over = false;
      const u128 had = x.weights ? (u128)w.weight[1] << 64 | w.weight[0] : (u128)1, m = times(had, (u64)n, over);
      w.weight[0] = (u64)m;
      w.weight[1] = (u64)(m >> 64);
      if (over) store_relaxed(&run.counters->overflow, 1u);
    }
    sync_warp(ALL);
    lines(at, 1, [&](u32, u32 c) { return c + 1 < x.after ? w.row[c] : JOIN_NOBODY; });
    total++;
    return JOIN_DONE;
  }

  // Takes a chunk: this lane's vertex v at position at, if it is in. Returns JOIN_DONE, or the position at which there
  // was no more room.
  DEV u32 chunk(u32 v, u32 at, bool in) {
    if (GOAL == JOIN_LIST) {
      u32 got = emit_rows(Warp(), run, in, [&](u32 c) { return c + 1 < x.after ? w.row[c] : v; });
      if (got == ~0u)
        halted = true;
      else
        total += got;
      return JOIN_DONE;
    }
    u32 votes = ballot(ALL, in);
    if (!WRITES) {
      waiting += popc(votes);
      return JOIN_DONE;
    }
    if (in) {
      u32 k = waiting + popc(votes & Warp::below());
      w.wait[k] = v;
      w.place[k] = at;
    }
    waiting += popc(votes);
    sync_warp(ALL);
    return waiting >= (x.cache ? 32 : 1) ? flush() : JOIN_DONE;
  }

  // Writes up to 32 rows that wait. At the end of a row: all.
  DEV u32 flush() {
    if (!WRITES) return JOIN_DONE;
    u32 full = min(waiting, 32u), fits = full ? put(full) : 0;
    if (fits < full) return w.place[fits];
    sync_warp(ALL);
    u32 rest = waiting - full, next = lane() < rest ? w.wait[32 + lane()] : 0, at = lane() < rest ? w.place[32 + lane()] : 0;
    if (lane() < rest) { // other places than those that are read
      w.wait[lane()] = next;
      w.place[lane()] = at;
    }
    waiting = rest;
    sync_warp(ALL);
    return JOIN_DONE;
  }

  // Reads a row of the table.
  DEV void read(u32 row) {
    sync_warp(ALL);
    if (lane() < x.width) w.row[lane()] = x.rows[(u64)row * x.width + lane()];
    if (x.weights && lane() < 2) w.weight[lane()] = x.weights[2 * (u64)row + lane()];
    sync_warp(ALL);
  }

  // Joins a row with its candidates from position from to before to, each step-th chunk of 32. Returns JOIN_DONE, or the
  // position at which there was no more room.
  DEV u32 join(u32 row, u32 from, u32 to, u32 step = 1) {
    read(row);
    const JoinGroup& g = s.group[0];
    JoinFound f = join_find(g, lists, w.row, x.width, x.first);
    const u32 end = min(f.base.n, to);
    waiting = 0;
    if (from < end && step == 1 && (GOAL == JOIN_COUNT || GOAL == JOIN_SIZES || GOAL == JOIN_WEIGH) && !f.others && !join_tests(g)) {
      waiting = join_size(g.distinct, w.row, f, from, end);
    } else {
      // A place to go on at may be inside a chunk, of which the rest is done first.
      u32 part = step == 1 ? 0 : from & 31;
      for (u64 i = from; i < end; i += 32 * (u64)step - part, part = 0) {
        if (look()) return JOIN_DONE;
        u32 v;
        bool in = join_test(g, lists, w.row, f, (u32)i, min(end, (u32)i + 32 - part), v);
        u32 at = chunk(v, (u32)i + lane(), in);
        if (at != JOIN_DONE) return at;
        if (halted) return JOIN_DONE;
      }
    }
    if (GOAL == JOIN_WEIGH) return waiting ? put_weighed(waiting) : JOIN_DONE;
    if (!WRITES) add(waiting);
    return flush();
  }

  // Whether the table is full. Collective for the warp.
  DEV bool full() {
    if (GOAL != JOIN_ROWS && GOAL != JOIN_WEIGH) return false;
    u32 no = 0;
    if (lane() == 0) no = load_relaxed(&x.state->made) - x.made >= x.room;
    return shfl(ALL, no, 0);
  }

  // The next piece; no rows: there is none, or no room.
  DEV bool next(JoinPiece*& piece, u32& row, u32& rows) {
    piece = 0;
    row = rows = 0;
    if (full()) return false;
    u64 k = 0;
    if (lane() == 0) k = atomic_add(&x.state->taken, (u64)1) - x.taken;
    k = shfl(ALL, k, 0);
    const u64 pieces = x.tail - x.head;
    if (k < pieces) {
      piece = &x.pieces[(x.head + k) & x.mask];
      row = piece->row;
      rows = piece->rows;
      return true;
    }
    if (parts > 1) {
      const u64 of = k - pieces + x.skip;
      row = (u32)min(x.base + of / parts, (u64)count);
      rows = row < count;
      part = (u32)(of % parts);
      return rows;
    }
    const u64 at = x.base + (k - pieces) * chunk_rows;
    row = (u32)at;
    rows = at < count ? min(chunk_rows, count - row) : 0;
    if (x.order && rows) row = x.order[row]; // runs are of one row
    return rows > 0;
  }

  // Leaves rows for a later launch, the first one from position at on. There are places behind tail for all that a launch can leave.
  DEV JoinPiece& leave(u32 row, u32 rows, u32 to, u32 at, u32 step = 1) {
    u64 k = 0;
    if (lane() == 0) k = atomic_add(&x.state->left, (u64)1) - x.left;
    JoinPiece& p = x.pieces[(x.tail + shfl(ALL, k, 0)) & x.mask];
    if (lane() == 0) {
      p.row = row;
      p.rows = rows;
      p.to = to;
      p.step = step;
      p.at[0] = at;
    }
    return p;
  }

  DEV void rows() {
    while (!(halted = stopped(Warp(), run))) {
      JoinPiece* piece;
      u32 row, rows;
      if (!next(piece, row, rows)) break;
      u32 from = piece ? piece->at[0] : 0, to = piece ? piece->to : ~0u, step = piece ? piece->step : 1;
      for (; rows; row++, rows--, from = 0, to = ~0u, step = 1) {
        u32 at = join(row, from, to, step);
        if (halted) break;
        if (at != JOIN_DONE) {
          leave(row, rows, to, at, step);
          tell();
          return;
        }
      }
      if (halted) break;
      if (x.often) tell();
    }
    tell();
  }

  // The rows of the table that are not done yet, with their numbers by themselves: JOIN_SIZES, or upper bounds.
  template <class F> DEV void each(F size) {
    while (!(halted = stopped(Warp(), run))) {
      u64 k = 0;
      if (lane() == 0) k = atomic_add(&x.state->taken, (u64)1) - x.taken;
      k = shfl(ALL, k, 0) * x.chunk;
      if (k >= x.count) break;
      for (u32 row = (u32)k; row < min(x.count, (u32)k + x.chunk) && !halted; row++) {
        u32 n = size(row);
        if (lane() == 0) x.sizes[row] = n;
      }
    }
  }
  DEV void sizes() {
    each([&](u32 row) {
      join(row, 0, ~0u);
      return waiting;
    });
  }
  DEV void bounds() {
    each([&](u32 row) {
      read(row);
      return join_find(s.group[0], lists, w.row, x.width, x.first).base.n;
    });
  }

  // The rows whose numbers by starts are in the window.
  DEV void placed() {
    while (!(halted = stopped(Warp(), run))) {
      u64 k = 0;
      if (lane() == 0) k = atomic_add(&x.state->taken, (u64)1) - x.taken;
      k = shfl(ALL, k, 0) * x.chunk + x.base;
      if (k >= x.count || x.starts[k] >= x.end) break;
      for (u32 row = (u32)k; row < min(x.count, (u32)k + x.chunk) && !halted; row++) {
        const u64 begin = x.starts[row], stop = x.starts[row + 1];
        if (begin >= x.end) break;
        const bool begun = begin < x.window; // in the window before
        place = begun ? x.window : begin;
        u32 at = JOIN_DONE;
        if (GOAL == JOIN_FILL) {
          const u64 was = total;
          if (place < stop) join(row, (u32)(place - begin), (u32)(min(stop, x.end) - begin));
          if (lane() == 0) x.found[row - x.base] = (u32)(total - was);
        } else if (place < stop) {
          at = join(row, begun ? x.from : 0, ~0u);
        }
        if (stop >= x.end && lane() == 0) {
          x.state->last = row;
          x.state->from = at;
          x.state->whole = stop == x.end;
        }
      }
    }
    if (GOAL == JOIN_PLACED) tell();
  }

  // Prealloc-Combine's second half: the rows of a window with each of their survivors.
  DEV void link() {
    while (!(halted = stopped(Warp(), run))) {
      u64 k = 0;
      if (lane() == 0) k = atomic_add(&x.state->taken, (u64)1) - x.taken;
      k = shfl(ALL, k, 0) * x.chunk;
      if (k >= x.count) break;
      for (u32 i = (u32)k; i < min(x.count, (u32)k + x.chunk) && !halted; i++) {
        const u32 n = x.found[i];
        if (!n) continue;
        read(x.base + i);
        const u32* from = x.buffer + (max(x.starts[x.base + i], x.window) - x.window);
        lines(x.places[i] + x.room, n, [&](u32 r, u32 c) { return c + 1 < x.after ? w.row[c] : from[r]; });
        total += n;
      }
    }
    tell();
  }

  // Task t's id.
  DEV u32 root(u32 t) {
    if (x.listed) return x.listed[t];
    u32 i = 0;
    for (; i + 1 < x.ranges && t >= x.roots[i].end - x.roots[i].first; i++) t -= x.roots[i].end - x.roots[i].first;
    return x.roots[i].first + t;
  }

  // The first phase: the roots that its tasks are, as far as they are candidates. Its table is a list of these, which a
  // launch fills however few they are. A piece is tasks.
  DEV void roots() {
    bool pieces = x.head < x.tail;
    while (!(halted = stopped(Warp(), run)) && !full()) {
      JoinPiece* piece;
      u32 first, n;
      if (pieces) pieces = next(piece, first, n);
      if (!pieces) {
        Chunk t = take(Warp(), run);
        if (t.over && lane() == 0) store_relaxed(&x.state->over, 1u);
        if (!t.count) break;
        first = (u32)t.first;
        n = t.count;
      }
      const u32 end = first + n;
      for (u32 i = first; i < end; i += 32) {
        bool in = i + lane() < end;
        u32 v = in ? root(i + lane()) : 0;
        in = in && join_allows(s.group[0], lists, v);
        const u32 votes = ballot(ALL, in), mine = popc(votes & Warp::below());
        u32 got = popc(votes);
        if (GOAL == JOIN_LIST) {
          if (emit_rows(Warp(), run, in, [&](u32) { return v; }) == ~0u) halted = true;
          if (halted) return;
        } else if (GOAL == JOIN_COUNT) {
          if (in) add_root(run, v, 1);
        } else if (got) {
          u64 at = 0;
          const u32 fits = reserve(got, at);
          if (in && mine < fits) x.out[at + mine] = v;
          if (fits < got) {
            const u32 rest = i + ctz(ballot(ALL, in && mine == fits));
            total += fits;
            leave(rest, end - rest, ~0u, 0);
            tell();
            return;
          }
        }
        total += got;
      }
      if (x.often) tell();
    }
    tell();
  }
};

// The step's place in shared memory, which all warps read, and behind it a JoinWarp for each. Behind those each warp has
// x.depth bytes.
DEV JoinWarp& join_begin(const JoinArgs& x) {
  u32* to = (u32*)shared();
  for (u32 k = thread(); k < sizeof(JoinStep) / 4; k += threads()) to[k] = ((const u32*)x.step)[k];
  sync_block();
  return ((JoinWarp*)(shared() + sizeof(JoinStep)))[warp()];
}

// The plan's lists. With x.near they are in shared memory, with as many indexes of interval-PCSR as fit there.
DEV const JoinLists* join_near(const JoinArgs& x) {
  if (!x.near) return x.lists;
  JoinLists* near = (JoinLists*)(shared() + x.near);
  u32* at = (u32*)(near + x.near_lists);
  u32 room = x.words;
  for (u32 i = 0; i < x.near_lists; i++) {
    JoinLists l = x.lists[i];
    u32 took = join_keep_index(l, at, room);
    at += took;
    room -= took;
    if (thread() == 0) near[i] = l;
  }
  sync_block();
  return near;
}

// Runs f with a warp's joiner.
template <JoinGoal GOAL, class F> DEV void join_with(const JoinParams& p, F f) {
  if (!join_turn(p.x)) return;
  JoinWarp& w = join_begin(p.x);
  Joiner<GOAL> j(p.run, p.x, join_near(p.x), *(const JoinStep*)shared(), w);
  f(j);
}

#endif
