// PBE's search of matches that lie in several parts of a graph (Guo et al., SIGMOD 2020, section 5). A row begins with the
// two ends of its prime edge, which crosses between parts. A level extends rows by candidates of the next vertex, from
// lists that the host has gathered. A candidate that makes a cross edge before the prime one is left out: the match is
// found from that edge.
//
// A warp has a row. New rows get places by atomic additions. A warp that finds no room leaves the rest of its row as a
// piece, and ends; a later launch goes on there.
//
// The host twin is package partition's crossing, which makes the first two levels.
#ifndef PARTITION_SEARCH
#define PARTITION_SEARCH
#include "base/ring.cuh"
#include "base/setops.cuh"
#include "partition/plan.cuh"

enum PartitionGoal {
  PARTITION_ROWS,  // rows of the next table
  PARTITION_COUNT, // the number of matches
  PARTITION_LIST,  // matches for the host
};

#define PARTITION_DONE ~0u

// The candidates of a row for one level: those elements of base that pass the tests.
struct PartitionWalk {
  Set base;
  u32 lo, hi; // all are lo … hi-1
  u32 lists;  // lanes whose lists say something
  u32 first;  // the lane of base
  u32 pairs;  // lanes whose vertices the candidates may have cross edges to
};

template <PartitionGoal GOAL> struct Extender {
  const Run& run;
  const PartitionArgs& x;
  const PartitionLevel& level;
  u32* row; // in shared memory
  u128 total = 0; // on lane 0
  u64 prime = 0;
  u32 looks = 0;
  bool halted = false;
  // This lane's backward neighbour.
  Set mine = {0, 0};
  u32 low = 0, back = 0, vertex = 0, part = 0;

  DEV Extender(const PartitionParams& p, u32* row, u32 further = 0) : run(p.run), x(p.x), level(p.x.level[further]), row(row) {}

  DEV bool look() {
    if ((++looks & 15) == 0) halted = stopped(Warp(), run);
    return halted;
  }

  // This lane's list.
  DEV bool find() {
    mine = Set{0, 0};
    low = 0;
    if (lane() >= level.backs) return true;
    back = level.back[lane()];
    vertex = row[back >> 3 & 31];
    part = x.part[vertex];
    const u32 source = back >> 8, end = x.source[source + 1];
    const u32 i = bisect(x.key, x.source[source], end, vertex);
    if (i >= end || x.key[i] != vertex) {
      fail(run, PARTITION_NO_LIST, vertex);
      return false;
    }
    mine = Set{x.list + x.at[i], x.at[i + 1] - x.at[i]};
    return true;
  }

  // Whether this lane's v, an element of base where `in` is true, is a candidate.
  DEV bool test(u32 v, bool in, u32 last, u32 others, u32 pairs) {
    in = in && (!level.bits || bit(level.bits, v));
    for (u32 d = level.distinct; d; d &= d - 1) in &= v != row[ctz(d)];
    const u32 own = in ? x.part[v] : 0;
    for (u32 o = pairs; o; o &= o - 1) {
      const u32 k = ctz(o), u = shfl(ALL, vertex, k), of = shfl(ALL, part, k), how = shfl(ALL, back, k);
      const u64 key = partition_key(u, v);
      if (in && own != of) in = key < prime || (key == prime && (how & LATER));
    }
    const u32 most = shfl(ALL, v, last);
    for (u32 o = others; o && any(ALL, in); o &= o - 1) {
      const u32 k = ctz(o), from = shfl(ALL, low, k), how = shfl(ALL, back, k);
      const Set list = {shfl(ALL, mine.p, k), shfl(ALL, mine.n, k)};
      const u32 high = window(Warp(), list, from, most);
      const u32 at = bisect(list.p, from, high, v);
      const bool there = at < list.n && list.p[at] == v;
      in = in && there != (bool)(how & NEGATIVE);
      const u32 next = shfl(ALL, at, last);
      if (lane() == k) low = next;
    }
    return in;
  }

  // Takes a chunk. Returns PARTITION_DONE, or the number of new rows that there was room for.
  DEV u32 chunk(u32 v, bool in) {
    const u32 votes = ballot(ALL, in), n = popc(votes);
    if (!n) return PARTITION_DONE;
    if (GOAL == PARTITION_COUNT) {
      total += n;
      return PARTITION_DONE;
    }
    if (GOAL == PARTITION_LIST) {
      for (u32 k = 0; k < x.copies; k++) {
        const u8* map = x.maps + k * x.levels;
        if (emit_rows(Warp(), run, in, [&](u32 c) { return map[c] < x.width ? row[map[c]] : v; }) == ~0u) {
          halted = true;
          return PARTITION_DONE;
        }
      }
      return PARTITION_DONE;
    }
    u64 at = 0;
    if (lane() == 0) at = atomic_add(&x.state->made, (u64)n) - x.made;
    at = shfl(ALL, at, 0);
    const u32 fits = at < x.room ? (u32)min((u64)n, x.room - at) : 0, k = popc(votes & Warp::below());
    if (in && k < fits) {
      u32* to = x.out + (at + k) * (x.width + 1);
      for (u32 c = 0; c < x.width; c++) to[c] = row[c];
      to[x.width] = v;
    }
    return fits < n ? fits : PARTITION_DONE;
  }

  // Reads a row.
  DEV void read(u32 r) {
    sync_warp(ALL);
    if (lane() < x.width) row[lane()] = x.rows[(u64)r * x.width + lane()];
    sync_warp(ALL);
    prime = partition_key(row[0], row[1]);
  }

  // Finds the lists of the level. False: one was not gathered.
  DEV bool begin(PartitionWalk& w) {
    w = PartitionWalk{{0, 0}, 0, 0, 0, 0, 0};
    if (any(ALL, !find())) {
      halted = true;
      return false;
    }
    const u32 at = lane() < x.width ? 1u << lane() : 0, m = at ? row[lane()] : 0;
    w.lo = reduce_max(ALL, level.above & at ? m + 1 : 0);
    w.hi = reduce_min(ALL, level.below & at ? m : ~0u);
    const bool on = lane() < level.backs, positive = on && !(back & NEGATIVE);
    const u32 least = reduce_min(ALL, positive ? mine.n : ~0u);
    if (w.lo >= w.hi || least == 0) return true;
    w.first = ctz(ballot(ALL, positive && mine.n == least));
    w.lists = ballot(ALL, on && (positive || mine.n > 0));
    w.pairs = ballot(ALL, on && (back & PAIR));
    w.base = slice(Warp(), Set{shfl(ALL, mine.p, w.first), shfl(ALL, mine.n, w.first)}, w.lo, w.hi);
    return true;
  }

  // The candidate at position i + lane() of base, if it is one.
  DEV bool candidate(const PartitionWalk& w, u32 i, u32& v) {
    const u32 k = i + lane();
    v = k < w.base.n ? w.base.p[k] : ~0u;
    return test(v, k < w.base.n, min(w.base.n - i, 32u) - 1, w.lists & ~(1u << w.first), w.pairs);
  }

  // Extends a row by its candidates from a position on. Returns PARTITION_DONE, or the position at which there was no
  // more room.
  DEV u32 extend(u32 r, u32 from) {
    read(r);
    PartitionWalk w;
    if (!begin(w)) return PARTITION_DONE;
    for (u32 i = from; i < w.base.n; i += 32) {
      if (look()) return PARTITION_DONE;
      u32 v;
      const bool in = candidate(w, i, v);
      const u32 fits = chunk(v, in);
      if (halted) return PARTITION_DONE;
      if (fits != PARTITION_DONE) {
        const u32 mine_at = popc(ballot(ALL, in) & Warp::below());
        return i + ctz(ballot(ALL, in && mine_at == fits));
      }
    }
    return PARTITION_DONE;
  }

  // Counts the candidates of a row for this level and those of `next` together: |A| × |B|, less the choices of the same
  // vertex twice.
  DEV void both(Extender& next, u32 r) {
    read(r);
    next.prime = prime;
    PartitionWalk w, o;
    if (!begin(w)) return;
    const bool same = x.pairs >= PAIRS_SAME;
    if (!same && !next.begin(o)) {
      halted = true;
      return;
    }
    if (!w.base.n || (!same && !o.base.n)) return;
    u64 n = 0, twice = 0;
    for (u32 i = 0; i < w.base.n; i += 32) {
      if (look()) return;
      u32 v;
      const bool in = candidate(w, i, v);
      n += popc(ballot(ALL, in));
      if (x.pairs != PAIRS_DIFFER) continue;
      const bool also = next.test(v, in && v >= o.lo && v < o.hi, min(w.base.n - i, 32u) - 1, o.lists, o.pairs);
      twice += popc(ballot(ALL, also));
    }
    u64 m = n;
    if (same) {
      m = n - 1;
    } else {
      m = 0;
      next.low = 0;
      for (u32 i = 0; n && i < o.base.n; i += 32) {
        if (look()) return;
        u32 v;
        m += popc(ballot(ALL, next.candidate(o, i, v)));
      }
    }
    if (n) total += x.pairs == PAIRS_ORDERED ? (u128)n * m / 2 : (u128)n * m - twice;
  }

  // Whether the next table is full. Collective for the warp.
  DEV bool full() {
    u32 no = 0;
    if (GOAL == PARTITION_ROWS && lane() == 0) no = load_relaxed(&x.state->made) - x.made >= x.room;
    return GOAL == PARTITION_ROWS && shfl(ALL, no, 0);
  }

  // Calls one with rows and pieces, and with where in its row each goes on.
  template <class F> DEV void each(F one) {
    const u64 pieces = x.tail - x.head;
    while (!(halted = stopped(Warp(), run)) && !full()) {
      u64 k = 0;
      if (lane() == 0) k = atomic_add(&x.state->taken, (u64)1) - x.taken;
      k = shfl(ALL, k, 0);
      u32 r, from = 0;
      if (k < pieces) {
        const PartitionPiece& piece = x.pieces[(x.head + k) & x.mask];
        r = piece.row;
        from = piece.from;
      } else if (x.base + (k - pieces) < x.count) {
        r = (u32)(x.base + (k - pieces));
      } else {
        break;
      }
      const u32 at = one(r, from);
      if (halted) break;
      if (at != PARTITION_DONE) {
        if (lane() == 0) {
          const u64 to = x.tail + (atomic_add(&x.state->left, (u64)1) - x.left);
          x.pieces[to & x.mask] = PartitionPiece{r, at};
        }
        break;
      }
    }
    if (GOAL == PARTITION_COUNT && total && lane() == 0) add128(run.counters, total);
  }

  DEV void rows() {
    each([&](u32 r, u32 from) { return extend(r, from); });
  }

  // Rows that are matches already, of patterns with two vertices.
  DEV void whole() {
    for (u32 i = x.base + (block() * warps() + warp()) * 32; i < x.count; i += blocks() * threads()) {
      if (look()) return;
      const u32 r = i + lane();
      const bool in = r < x.count;
      total += popc(ballot(ALL, in));
      for (u32 k = 0; GOAL == PARTITION_LIST && k < x.copies; k++) {
        const u8* map = x.maps + k * x.levels;
        if (emit_rows(Warp(), run, in, [&](u32 c) { return x.rows[(u64)r * x.width + map[c]]; }) == ~0u) return;
      }
    }
    if (GOAL == PARTITION_COUNT && total && lane() == 0) add128(run.counters, total);
  }
};

// Counts rows with their candidates for two levels.
DEV void count_pairs(const PartitionParams& p) {
  u32* row = (u32*)(shared() + warp() * 128);
  Extender<PARTITION_COUNT> first(p, row), second(p, row, 1);
  first.each([&](u32 r, u32) {
    first.both(second, r);
    return PARTITION_DONE;
  });
}

// Marks the vertices whose lists rows base … count-1 need.
DEV void mark_rows(const PartitionParams& p) {
  const PartitionArgs& x = p.x;
  if (!partition_turn(x.need, x.turn)) return;
  for (u64 r = (u64)x.base + (u64)block() * threads() + thread(); r < x.count; r += (u64)blocks() * threads()) {
    for (u32 b = 0; b < x.level->backs + (x.together > 1 ? x.level[1].backs : 0); b++) {
      const u32 back = b < x.level->backs ? x.level->back[b] : x.level[1].back[b - x.level->backs], v = x.rows[r * x.width + (back >> 3 & 31)];
      u64* word = x.need + 1 + (back >> 8) * x.words + (v >> 6);
      const u64 one = 1ull << (v & 63);
      if (!(load_relaxed(word) & one)) atomic_or(word, one);
    }
  }
}

#endif
