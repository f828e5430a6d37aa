// A plan's phases as data: one text of kernels serves all plans. Go's types in package join are the same.
#ifndef JOIN_PLAN
#define JOIN_PLAN
#include "base/control.cuh"
#include "join/lists.cuh"

struct JoinRange {
  u32 first, end;
};

// Levels with one set of candidates. Sets of levels are masks: bit j is level j, which an earlier phase has matched.
struct JoinGroup {
  const u64* bits;         // a bit for each vertex that is allowed; null: all are
  const u32* all;          // without positive backs: the candidates
  const JoinRange* ranges; // that a candidate is in one of; none: all ids
  u32 all_n, ranges_n;
  u32 first, end;          // first <= candidate < end
  u32 below, above;        // candidates are below, or above, the vertices of these levels
  u32 distinct;            // and differ from those of these
  u32 min_degree, degree_adj;
  u32 naive;               // 1: lists are intersected without regard to their sizes
  u32 backs;               // at most 32
  u32 unused;
  u32 back[32];            // adjacency << 8 | level << 1 | whether the candidate must not be in the list
};

// One level of a phase of several vertices, with what depends on levels of the same phase.
struct JoinLevel {
  u32 level, group;
  u32 below, above, distinct;
};

// A phase. An extension has groups, whose levels ascend; an elimination has edges: adjacency << 11 | its level << 6 | that of the
// other end << 1 | whether it must be missing. With `late` the second group is of the last level alone, and has lists at
// levels of the phase, so that its candidates are known when these are matched.
struct JoinStep {
  JoinGroup group[2];
  JoinLevel at[32];
  u32 levels, edges;
  u32 late, unused;
  u32 edge[32];
};

// Rows of a table that wait to be joined: `rows` of them from row on. The first one goes on at position at[k] of the k-th
// level of the phase. Its positions of a phase of one vertex are below `to`, in each `step`-th chunk of 32. Those of the
// outermost loop of several vertices are below `to`, and with a step of 0 none of them has begun.
struct JoinPiece {
  u32 row, rows, to, step;
  u32 at[32];
};

// What the launches of one phase tell each other, later phases and the host. The counters only grow; a launch is told
// where they were.
struct JoinState {
  u64 taken; // pieces, and runs of rows, that warps have taken
  u64 made;  // places in tables that warps have asked for
  u64 left;  // pieces that warps have left
  u32 over;  // 1 once all roots are taken, or else 0; of the first phase
  // Where the window of a launch ended: in the row `last`, at position `from` of its candidates, or behind it.
  u32 last, from, whole;
};

struct JoinTail;
struct JoinMerging;

struct JoinArgs {
  const JoinStep* step;
  const JoinTail* sum;   // of a last phase that is counted by arithmetic
  const JoinRange* roots; // the ids that level 0 may have; for the first phase
  const u32* listed;      // these ids one by one; null: all of roots
  const JoinLists* lists;
  const u32* rows;   // the table that is joined: `count` rows of `width` ids
  u32* out;          // the table that is made, with room for `room` rows of `after` ids
  JoinPiece* pieces; // a ring of mask + 1 places
  JoinState* state;  // of the phase
  const JoinState* before; // of the phase that makes `rows`, which says how many there are; null: `count` does
  u64* turned;       // the last launch that ran
  // The weights of rows, 128 bits each, low half first: the number of partial matches that a row stands for.
  u64* weights;      // of the table that is joined; null: they are 1
  u64* out_weights;  // of the table that is made; null: it has none
  // Of a merge: see join/merge.cuh.
  const JoinMerging* merging;
  u32* joined;       // rows, to be written to
  u32* slots;        // 1 + the number of a row, or 0; slot_mask + 1 of them, at most half of which have a row
  u32* place;        // the slot of each row of the table that is joined
  // Of each row: an upper bound or the number of its new rows, and the sums of those before it. Of each row of a window:
  // the number of its survivors in the buffer, and the sums of those before it.
  u32* sizes;
  const u64* starts;
  u32* found;
  const u64* places;
  u32* order;        // rows by the layer that joins them; null: rows in their order
  u32* histogram;    // of sizes: the number of rows in each interval of 32, the last one open
  u32* buffer;       // Prealloc-Combine's one buffer for the survivors of all rows of a window
  u64 taken, made, left, turn; // the counters before the launch, so that made - state->made is a row of out
  u64 head, tail;    // the pieces that wait: from head to before tail
  u64 window, end;   // of the numbers of new rows by starts, those that the launch makes
  u32 width, after, count;
  u32 base;          // rows before it are done, or are pieces
  u32 from;          // where the first row goes on, in a window
  u32 chunk;         // rows of a run; 0: as many as keep all warps busy
  u32 room, mask;
  u32 ranges;        // of roots
  u32 cache;         // whether survivors wait until they fill 128 bytes
  u32 first;         // whether the list of the first edge is walked, however long it is
  u32 often;         // whether counts are needed while the search runs
  u32 levels;        // whether partial matches are counted by level
  u32 layer[4];      // sizes of a layer's rows are below: a warp's, several warps', a block's, the grid's
  u32 intervals;     // of the histogram
  u32 depth;         // bytes of shared memory of a warp for the loops of a phase of several vertices
  u32 budget;        // chunks of candidates of a row that a warp goes through before others take parts of it, in such a phase
  u32 parts;         // for how many warps a row is, in a phase of several vertices; 0: as many as keep all warps busy
  u32 skip;          // of the parts of row `base`, those that are done or are pieces
  u32 near;          // where shared memory has a copy of `near_lists` lists, and `words` words for their indexes; 0: nowhere
  u32 near_lists, words;
  u32 slot_mask;
  u32 rows_room;     // rows that the table that is joined has room for
};

struct JoinParams {
  Run run;
  JoinArgs x;
};

// Whether all launches before this one ran; notes that this one does. The first statement of a kernel.
DEV bool join_turn(const JoinArgs& x) {
  u64 last = load_relaxed(x.turned);
  if (last + 1 != x.turn && last != x.turn) return false; // another block may have noted it
  if (block() == 0 && thread() == 0) store_relaxed(x.turned, x.turn);
  return true;
}

// The rows of the table that a launch joins.
DEV u32 join_count_of(const JoinArgs& x) { return x.before ? (u32)min(load_relaxed(&x.before->made), (u64)x.rows_room) : x.count; }

// The rows of a run where `rows` are left. Host twin: runOf.
DEV u32 join_run_of(const JoinArgs& x, u32 rows) { return x.chunk ? x.chunk : min(max(rows / (4 * blocks() * warps()), 1u), 16u); }

// For how many warps a row is where `rows` are left. There are some parts for each warp if lists are found for each vertex of the phase:
// rows are not equally long, and a vertex takes long. Host twin: warpsOf.
DEV u32 join_parts_of(const JoinArgs& x, bool late, u32 rows) {
  return x.parts ? x.parts : min(max((late ? 4 : 1) * blocks() * warps() / max(rows, 1u), 1u), 32u);
}

// Whether v is in one of n ranges, or n is 0. One lane.
DEV bool join_within(const JoinRange* ranges, u32 n, u32 v) {
  bool in = n == 0;
  for (u32 i = 0; i < n; i++) in |= v >= ranges[i].first && v < ranges[i].end;
  return in;
}

// What a candidate must satisfy by itself, besides its bounds. One lane.
DEV bool join_allows(const JoinGroup& g, const JoinLists* lists, u32 v) {
  return join_within(g.ranges, g.ranges_n, v) && (!g.bits || bit(g.bits, v)) &&
         (!g.min_degree || join_degree(lists[g.degree_adj], v) >= g.min_degree);
}

// Whether join_allows tests anything.
DEV bool join_tests(const JoinGroup& g) { return g.ranges_n || g.bits || g.min_degree; }

#endif
