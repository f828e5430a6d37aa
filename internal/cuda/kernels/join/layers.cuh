// Ways to spread rows over warps, besides a warp a row, for phases of one vertex.
//
// Duplicate removal: warps of a block whose rows have the same list read it once. One of them brings a tile of it to
// shared memory, and all of them look at that.
//
// Four layers (SGSI, section 7): rows are sorted by the lengths of their lists. The longest are joined by the whole
// grid, a launch each, those below by a block, shorter ones by the warps of a block that share several rows, and the
// shortest by a warp. The host finds the limits between the layers by the cost model over a histogram of the lengths.
#ifndef JOIN_LAYERS
#define JOIN_LAYERS
#include "join/search.cuh"

// Elements of a tile: four lines.
#define JOIN_TILE 128u

template <JoinGoal GOAL> struct Layers {
  Joiner<GOAL>& j;
  const JoinArgs& x;

  DEV Layers(Joiner<GOAL>& j) : j(j), x(j.x) {}

  // Another warp's shared memory.
  DEV JoinWarp& other(u32 i) { return (&j.w)[(i32)i - (i32)warp()]; }

  // Takes n units for the block; ~0: the table is full, or the run is to stop.
  DEV u64 units(u32 n) {
    sync_block();
    if (thread() == 0) {
      const bool full = GOAL == JOIN_ROWS && load_relaxed(&x.state->made) - x.made >= x.room;
      other(0).unit = full || stopped(j.run) ? ~0ull : atomic_add(&x.state->taken, (u64)n) - x.taken;
    }
    sync_block();
    return other(0).unit;
  }

  // Joins a part of a row. Returns false if the table is full; the rest of the part then waits as a piece.
  DEV bool part(u32 row, u32 from, u32 to, u32 step) {
    u32 at = j.join(row, from, to, step);
    if (j.halted || at == JOIN_DONE) return true;
    j.leave(row, 1, to, at, step);
    return false;
  }

  // The whole grid joins the row at x.base.
  DEV void grid() {
    if (!(j.halted = stopped(Warp(), j.run))) part(x.order[x.base], 32 * (block() * warps() + warp()), ~0u, blocks() * warps());
    j.tell();
  }

  // A block joins a row.
  DEV void blockwise() {
    for (;;) {
      const u64 k = units(1), at = x.base + k;
      if (k == ~0ull || at >= x.count) break;
      part(x.order[at], 32 * warp(), ~0u, warps());
      if (x.often) j.tell();
    }
    j.tell();
  }

  // The warps of a block share the chunks of 32 rows evenly.
  DEV void pool() {
    for (;;) {
      const u64 k = units(32), first = x.base + k;
      if (k == ~0ull || first >= x.count) break;
      const bool on = first + lane() < x.count;
      const u32 row = on ? x.order[first + lane()] : 0, chunks = on ? (x.sizes[row] + 31) / 32 : 0;
      const u32 end = Warp::inclusive(chunks), total = shfl(ALL, end, 31);
      const u32 mine = (u32)((u64)total * warp() / warps()), stop = (u32)((u64)total * (warp() + 1) / warps());
      bool room = true;
      for (u32 votes = ballot(ALL, end > mine && end - chunks < stop && chunks > 0); votes && !j.halted; votes &= votes - 1) {
        const u32 i = ctz(votes), its = shfl(ALL, row, i), last = shfl(ALL, end, i), begin = last - shfl(ALL, chunks, i);
        const u32 from = 32 * (max(mine, begin) - begin), to = 32 * (min(stop, last) - begin);
        if (room)
          room = part(its, from, to, 1);
        else
          j.leave(its, 1, to, from);
      }
      if (x.often) j.tell();
    }
    j.tell();
  }

  // A warp a row, where warps with the same list share what they read. tile is the warp's memory for one.
  DEV void shared_lists(u32* tiles) {
    const JoinGroup& g = j.s.group[0];
    const u64 pieces = x.tail - x.head;
    for (;;) {
      const u64 k = units(warps()), mine = k + warp();
      if (k == ~0ull || (k >= pieces && x.base + (k - pieces) >= j.count)) break;
      JoinPiece* piece = mine < pieces ? &x.pieces[(x.head + mine) & x.mask] : 0;
      const u64 at = piece ? 0 : x.base + (mine - pieces);
      u32 row = piece ? piece->row : (u32)at, rows = piece ? piece->rows : at < j.count;
      bool room = true;
      JoinFound f = {{0, 0}, {0, 0}, 0, 0, 0};
      if (piece) { // rows that began elsewhere
        u32 from = piece->at[0], to = piece->to, step = piece->step;
        for (; rows && room && !j.halted; row++, rows--, from = 0, to = ~0u, step = 1) {
          u32 stop = j.join(row, from, to, step);
          room = stop == JOIN_DONE;
          if (!room) j.leave(row, rows, to, stop, step);
        }
      } else if (rows) {
        j.read(row);
        f = join_find(g, j.lists, j.w.row, x.width, false);
        j.waiting = 0;
        if ((GOAL == JOIN_COUNT) && f.base.n && !f.others && !join_tests(g)) {
          j.add(join_size(g.distinct, j.w.row, f, 0, f.base.n));
          f.base.n = 0;
        }
      }
      if (lane() == 0) {
        j.w.list = f.base.p;
        j.w.n = f.base.n;
      }
      sync_block();
      const u32 n = f.base.n, same = ballot(ALL, lane() < warps() && n && other(lane() % warps()).list == f.base.p && other(lane() % warps()).n);
      const u32 from = n ? ctz(same) : warp();
      u32 most = 0; // the longest list of the warps that read f's
      for (u32 m = n ? same : 0; m; m &= m - 1) most = max(most, other(ctz(m)).n);
      u32 longest = 0;
      for (u32 i = 0; i < warps(); i++) longest = max(longest, other(i).n);
      u32* tile = tiles + ((i32)from - (i32)warp()) * (i32)JOIN_TILE;
      for (u32 t = 0; t < longest; t += JOIN_TILE) {
        if (from == warp())
          for (u32 i = lane(); i < JOIN_TILE && t + i < most; i += 32) tile[i] = f.base.p[t + i];
        sync_block();
        for (u32 i = t; i < min(n, t + JOIN_TILE) && room && !j.halted; i += 32) {
          if (j.look()) break;
          const bool in = i + lane() < n;
          const u32 v = in ? tile[i - t + lane()] : ~0u;
          const u32 stop = j.chunk(v, i + lane(), join_test(g, j.lists, j.w.row, f, v, in, min(n - i, 32u) - 1));
          room = stop == JOIN_DONE;
          if (!room) j.leave(row, 1, ~0u, stop);
        }
        sync_block();
      }
      if (n && room && !j.halted) {
        if (!Joiner<GOAL>::WRITES) j.add(j.waiting);
        const u32 stop = j.flush();
        if (stop != JOIN_DONE) j.leave(row, 1, ~0u, stop);
      }
      // Counters.user has how many lists were not read again.
      if (lane() == 0 && n && from != warp()) atomic_add(&j.run.counters->user[1], (u64)1);
      if (x.often) j.tell();
    }
    j.tell();
  }
};

// x.histogram: rows by the lengths of their lists.
template <JoinGoal GOAL> DEV void join_histogram_of(Joiner<GOAL>& j) {
  const JoinArgs& x = j.x;
  for (u64 i = (u64)block() * threads() + thread(); i < x.count; i += (u64)blocks() * threads())
    atomic_add(&x.histogram[min(x.sizes[i] / 32, x.intervals - 1)], 1u);
}

// x.order: rows by layer. x.histogram has where the rows of each layer begin.
template <JoinGoal GOAL> DEV void join_deal_of(Joiner<GOAL>& j) {
  const JoinArgs& x = j.x;
  for (u64 at = ((u64)block() * warps() + warp()) * 32; at < x.count; at += (u64)blocks() * warps() * 32) {
    const u64 i = at + lane();
    const bool on = i < x.count;
    const u32 size = on ? x.sizes[i] : 0;
    u32 layer = 0;
    while (layer < 3 && size >= x.layer[layer]) layer++;
    for (u32 k = 0; k < 4; k++) {
      const u32 votes = ballot(ALL, on && layer == k && size > 0);
      if (!votes) continue;
      u32 to = 0;
      if (lane() == 0) to = atomic_add(&x.histogram[k], popc(votes));
      to = shfl(ALL, to, 0);
      if (votes >> lane() & 1) x.order[to + popc(votes & Warp::below())] = (u32)i;
    }
  }
}

#endif
