// Merges: rows that no later phase can tell apart become one row, with the sum of their weights. The weight of a row is the number of
// partial matches that it stands for, in 128 bits.
//
// Three launches take all rows of a table, a lane a row:
//
//   - join_forget writes JOIN_NOBODY for vertices that bar no later one;
//   - join_same finds a row that is equal in the keys, in a hash table of numbers of rows. The rows themselves stay as they are
//     meanwhile, so that a lane that looks at one needs no lock. The first row of its kind has a place in the table, and others add
//     their weight to its;
//   - join_move copies the rows that have a place to the table of merged rows. They stay there, and in the hash table, for the rows of
//     later launches, until the next phase has joined them all.
//
// The host twin is package join's merge.go.
#ifndef JOIN_MERGE
#define JOIN_MERGE
#include "join/search.cuh"

// In a slot: the row is one of the table that is merged, and not of the merged ones.
#define JOIN_FRESH 0x80000000u

// A level whose vertex matters as long as one of the groups from `first` to before `end` admits it, each of a later level.
struct JoinBar {
  u32 level, first, end;
};

struct JoinMerging {
  const JoinGroup* of; // with those backs and bounds alone that are known
  const JoinBar* bar;
  const u32* sorted; // runs of bars whose vertices are sorted: first, end
  u32 keys;          // the levels that rows are compared by
  u32 bars, runs, unused;
};

// Whether v may be the vertex of a later level, by what is known of it. One lane. Host twin: admits.
DEV bool join_admits(const JoinGroup& g, const JoinLists* lists, const u32* row, u32 v) {
  if (v < g.first || v >= g.end || !join_allows(g, lists, v)) return false;
  for (u32 m = g.below; m; m &= m - 1)
    if (v >= row[ctz(m)]) return false;
  for (u32 m = g.above; m; m &= m - 1)
    if (v <= row[ctz(m)]) return false;
  for (u32 i = 0; i < g.backs; i++) {
    const u32 b = g.back[i];
    if (contains(join_list(lists[b >> 8], row[b >> 1 & 127]), v) == (b & 1)) return false;
  }
  return true;
}

// Calls f with the number of each row, on a lane of its own.
template <class F> DEV void join_each_row(const JoinParams& p, F f) {
  if (!join_turn(p.x)) return;
  const u32 count = join_count_of(p.x);
  for (u32 r = block() * threads() + thread(); r < count; r += blocks() * threads()) f(r);
}

DEV void join_forget_of(const JoinParams& p) {
  const JoinMerging& m = *p.x.merging;
  join_each_row(p, [&](u32 r) {
    u32* row = p.x.joined + (u64)r * p.x.width;
    for (u32 i = 0; i < m.bars; i++) {
      const JoinBar b = m.bar[i];
      const u32 v = row[b.level];
      bool bars = v == JOIN_NOBODY;
      for (u32 k = b.first; k < b.end && !bars; k++) bars = join_admits(m.of[k], p.x.lists, row, v);
      if (!bars) row[b.level] = JOIN_NOBODY;
    }
    for (u32 k = 0; k < m.runs; k++) {
      const u32 first = m.sorted[2 * k], end = m.sorted[2 * k + 1];
      for (u32 i = first + 1; i < end; i++) {
        for (u32 j = i; j > first; j--) {
          u32& a = row[m.bar[j - 1].level];
          u32& b = row[m.bar[j].level];
          if (a <= b) break;
          const u32 v = a;
          a = b;
          b = v;
        }
      }
    }
  });
}

// A step of a hash of ids. Host twin: mix.
DEV u64 join_mix(u64 h, u32 v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h ^ h >> 32;
}

DEV void join_same_of(const JoinParams& p) {
  const JoinArgs& x = p.x;
  const u32 keys = x.merging->keys;
  join_each_row(p, [&](u32 r) {
    const u32* row = x.joined + (u64)r * x.width;
    u64 h = 0;
    for (u32 m = keys; m; m &= m - 1) h = join_mix(h, row[ctz(m)]);
    u32 at = (u32)(h >> 32) & x.slot_mask;
    for (;; at = (at + 1) & x.slot_mask) {
      u32 s = load_relaxed(&x.slots[at]);
      if (!s && !(s = atomic_cas(&x.slots[at], 0u, (r + 1) | JOIN_FRESH))) break;
      const u32 k = (s & ~JOIN_FRESH) - 1;
      const u32* other = (s & JOIN_FRESH ? x.joined : x.out) + (u64)k * x.width;
      bool same = true;
      for (u32 m = keys; m && same; m &= m - 1) same = row[ctz(m)] == other[ctz(m)];
      if (!same) continue;
      const u128 w = (u128)x.weights[2 * (u64)r + 1] << 64 | x.weights[2 * (u64)r];
      if (!add128((s & JOIN_FRESH ? x.weights : x.out_weights) + 2 * (u64)k, w)) store_relaxed(&p.run.counters->overflow, 1u);
      at = ~0u;
      break;
    }
    x.place[r] = at; // a slot, or ~0 where another row has the weight
  });
}

DEV void join_move_of(const JoinParams& p) {
  const JoinArgs& x = p.x;
  if (!join_turn(x)) return;
  JoinWarp& w = join_begin(x);
  const u32 count = join_count_of(x);
  for (u32 i = 32 * (block() * warps() + warp()); i < count; i += 32 * blocks() * warps()) {
    const u32 r = i + lane(), slot = r < count ? x.place[r] : ~0u;
    const u32 votes = ballot(ALL, slot != ~0u), n = popc(votes), mine = popc(votes & Warp::below());
    if (!n) continue;
    u64 to = 0;
    if (lane() == 0) to = atomic_add(&x.state->made, (u64)n) - x.made;
    to = shfl(ALL, to, 0);
    sync_warp(ALL); // the last rows have been copied
    if (slot != ~0u) {
      w.wait[mine] = r;
      x.slots[slot] = (u32)to + mine + 1;
      for (u32 k = 0; k < 2; k++) x.out_weights[2 * (to + mine) + k] = x.weights[2 * (u64)r + k];
    }
    sync_warp(ALL);
    for (u32 k = lane(); k < n * x.width; k += 32) x.out[to * x.width + k] = x.joined[(u64)w.wait[k / x.width] * x.width + k % x.width];
  }
}

#endif
