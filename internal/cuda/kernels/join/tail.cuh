// Last phases that are counted by arithmetic over the numbers of candidates. A row has either a product of choices, of
// a number of vertices from each group, or the plan's tail: a sum of products of sizes of intersections
// (inclusion–exclusion, as in GraphPi).
//
// The host twins are package join's choices and package tail's Sum.
#ifndef JOIN_TAIL
#define JOIN_TAIL
#include "base/arithmetic.cuh"
#include "join/search.cuh"

// A term of the sum: coefficient × the sizes of n blocks.
struct JoinTerm {
  i64 coefficient;
  u32 n, block[5];
};

enum JoinHow { JOIN_ANY, JOIN_DISTINCT, JOIN_ORDERED }; // vertices of a choice may be equal; or differ; or ascend

struct JoinChoice {
  u32 levels, how;
};

struct JoinTail {
  const JoinGroup* block; // whose candidates are counted: a group, or several groups at once; at most 64
  const JoinTerm* term;   // with none, choices from each block
  u32 blocks, terms, divisor, unused;
  JoinChoice choice[2];
};

// a × b / d, which has no remainder; over becomes true if that passes 128 bits. The product may.
DEV u128 times_by(u128 a, u64 b, u32 d, bool& over) {
  u128 low = (u128)(u64)a * b, high = (u128)(u64)(a >> 64) * b + (low >> 64);
  u128 q = divide(high, (u128)d), rest = high - q * d;
  over |= (u64)(q >> 64) != 0;
  return (q << 64) + divide(rest << 64 | (u64)low, (u128)d);
}

// The number of ways to choose from n candidates.
DEV u128 choices(const JoinChoice& c, u32 n, bool& over) {
  u128 t = 1;
  for (u32 i = 0; i < c.levels; i++) {
    const u64 left = c.how == JOIN_ANY ? n : n - min(i, n);
    t = c.how == JOIN_ORDERED ? times_by(t, left, i + 1, over) : times(t, left, over);
  }
  return t;
}

struct Tail {
  Joiner<JOIN_COUNT>& j;
  const JoinTail& tail;

  DEV Tail(Joiner<JOIN_COUNT>& j) : j(j), tail(*j.x.sum) {}

  // The number of candidates of a block for the row.
  DEV u32 size(const JoinGroup& g) {
    JoinFound f = join_find(g, j.x.lists, j.w.row, j.x.width, false);
    if (!f.base.n) return 0;
    if (!f.others && !join_tests(g)) return join_size(g.distinct, j.w.row, f, 0, f.base.n);
    u32 n = 0;
    for (u32 i = 0; i < f.base.n && !j.look(); i += 32) {
      u32 v;
      n += join_test(g, j.x.lists, j.w.row, f, i, f.base.n, v);
    }
    return reduce_add(ALL, n);
  }

  // The matches of a row, on lane 0.
  DEV u128 count(bool& over) {
    for (u32 b = 0; b < tail.blocks && !j.halted; b++) {
      const u32 n = size(tail.block[b]);
      if (!tail.terms && !n) return 0;
      sync_warp(ALL);
      if (lane() == 0) j.w.wait[b] = n;
      sync_warp(ALL);
    }
    u128 t = 0;
    if (!tail.terms) {
      t = choices(tail.choice[0], j.w.wait[0], over);
      if (tail.blocks > 1) {
        const u128 u = choices(tail.choice[1], j.w.wait[1], over);
        t = times128(t, u, over);
      }
      return t;
    }
    // Terms are below 2^120 each: the host has seen to that. Sums may be negative on the way.
    for (u32 i = lane(); i < tail.terms; i += 32) {
      const JoinTerm& x = tail.term[i];
      u128 p = (u128)(__int128)x.coefficient;
      for (u32 k = 0; k < x.n; k++) p *= j.w.wait[x.block[k]];
      t += p;
    }
    t = sum128(Warp(), t);
    return tail.divisor > 1 ? divide(t, (u128)tail.divisor) : t;
  }

  DEV void rows() {
    while (!(j.halted = stopped(Warp(), j.run))) {
      JoinPiece* piece;
      u32 row, rows;
      if (!j.next(piece, row, rows)) break;
      for (; rows && !j.halted; row++, rows--) {
        j.read(row);
        bool over = false;
        const u128 n = count(over);
        if (j.halted) break;
        if (lane() == 0) {
          j.weigh(n);
          if (over) store_relaxed(&j.run.counters->overflow, 1u);
        }
      }
      if (j.x.often) j.tell_weighed();
    }
    j.tell_weighed();
  }
};

#endif
