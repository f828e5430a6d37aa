// Joins of graphs that are larger than the device (SGSI, section 6). A segment is a run of the edges of one relation with
// their index, in one of the layouts of join/lists.cuh. The host keeps tables by columns. It says which rows have a
// list in the segment (the paper's row flags), and sends one or two columns of those rows at a time. Candidates and survivors are
// written to page-locked memory of the host.
//
// A lane has a candidate: rows with long lists and rows with short ones keep all lanes busy.
#ifndef JOIN_SEGMENTS
#define JOIN_SEGMENTS
#include "base/tasks.cuh"
#include "join/plan.cuh"

// What a launch tells the host: written when all its blocks are done.
struct SegmentHead {
  u64 made; // candidates or survivors
  u64 turn; // of the launch, so that one that did not run is noticed
};

struct SegmentArgs {
  JoinLists lists;
  const u64* bits; // a bit for each vertex that is allowed; null: all are
  const u32* at;   // a column: the vertex of each row whose list is read
  const u32* with; // to make candidates: where those of each row begin, and their end; to check: the candidate of each row
  u32* row;        // page-locked: of each candidate its row among `rows`
  u32* out;        // page-locked: the candidates, or a bit for each row whose candidate is kept
  u64* made;       // 0 before and after a launch
  u64* done;       // blocks; 0 before and after a launch
  SegmentHead* head; // page-locked
  u64 turn;
  u32 rows;
  u32 from;          // where in its list the first row's candidates begin
  u32 first, end;    // first <= candidate < end
  u32 apart, below, above; // whether it must differ from the row's vertex, be below or above it
  u32 all;           // whether lists.adj, of lists.n ids, has the candidates of each row
  u32 neg;           // whether the candidate must not be in the list
  u32 unused;
};

struct SegmentParams {
  Run run;
  SegmentArgs x;
};

// Adds what the block's warps have made, and has the last block tell the host. All threads of the block call it with
// the number of their warp, at the end.
DEV void segment_end(const SegmentArgs& x, u64 warp_made) {
  if (warp_made && lane() == 0) atomic_add(x.made, warp_made);
  fence();
  sync_block();
  if (thread() != 0) return;
  fence();
  if (atomic_add(x.done, (u64)1) != blocks() - 1) return;
  fence();
  x.head->made = atomic_exch(x.made, (u64)0);
  atomic_exch(x.done, (u64)0);
  x.head->turn = x.turn;
  fence_system();
}

// What candidates must satisfy by themselves. One lane.
DEV bool segment_allows(const SegmentArgs& x, u32 v) { return v >= x.first && v < x.end && (!x.bits || bit(x.bits, v)); }

// The candidates of rows: the elements of their lists in the segment that pass. A warp has 32 of them, of one row or of several.
template <bool COUNT> DEV void segment_make(const SegmentParams& p) {
  const SegmentArgs& x = p.x;
  u32* wait = (u32*)shared() + warp() * 128; // 64 rows, and 64 candidates
  const u32 total = x.with[x.rows], step = blocks() * warps();
  u32 waiting = 0;
  u64 counted = 0;
  auto flush = [&](u32 n) {
    u64 to = 0;
    if (lane() == 0) to = atomic_add(x.made, (u64)n);
    to = shfl(ALL, to, 0);
    if (lane() < n) {
      x.row[to + lane()] = wait[lane()];
      x.out[to + lane()] = wait[64 + lane()];
    }
    sync_warp(ALL);
    const u32 rest = waiting - n;
    u32 r = lane() < rest ? wait[n + lane()] : 0, v = lane() < rest ? wait[64 + n + lane()] : 0;
    sync_warp(ALL);
    if (lane() < rest) {
      wait[lane()] = r;
      wait[64 + lane()] = v;
    }
    waiting = rest;
    sync_warp(ALL);
  };
  for (u64 b = (u64)(block() * warps() + warp()) * 32; b < total; b += (u64)step * 32) {
    // The rows of the first candidate and of the last.
    const u32 lo = lower_bound(Warp(), x.with, x.rows + 1, (u32)b + 1) - 1;
    const u32 last = (u32)min(b + 31, (u64)total - 1);
    const u32 hi = lower_bound(Warp(), x.with, x.rows + 1, last + 1) - 1;
    const u32 k = (u32)b + lane();
    bool in = k < total;
    u32 r = 0, v = 0;
    if (in) {
      r = bisect(x.with, lo + 1, hi + 1, k + 1) - 1;
      const u32 u = x.at[r], i = k - x.with[r] + (r == 0 ? x.from : 0);
      const Set s = x.all ? Set{x.lists.adj, x.lists.n} : join_list(x.lists, u);
      in = i < s.n;
      v = in ? s.p[i] : 0;
      in = in && segment_allows(x, v) && !(x.apart && v == u) && !(x.below && v >= u) && !(x.above && v <= u);
    }
    const u32 votes = ballot(ALL, in);
    if (COUNT) {
      counted += popc(votes);
      continue;
    }
    if (in) {
      const u32 at = waiting + popc(votes & Warp::below());
      wait[at] = r;
      wait[64 + at] = v;
    }
    waiting += popc(votes);
    sync_warp(ALL);
    if (waiting >= 32) flush(32);
  }
  if (!COUNT && waiting) flush(waiting);
  segment_end(x, counted);
}

// Whether the candidate of each row is in the list, or is not, and passes.
template <bool COUNT> DEV void segment_check(const SegmentParams& p) {
  const SegmentArgs& x = p.x;
  u64 counted = 0;
  for (u64 b = (u64)(block() * warps() + warp()) * 32; b < x.rows; b += (u64)blocks() * warps() * 32) {
    const u32 k = (u32)b + lane();
    bool in = k < x.rows;
    if (in) {
      const u32 v = x.with[k];
      in = segment_allows(x, v) && contains(join_list(x.lists, x.at[k]), v) == !x.neg;
    }
    const u32 votes = ballot(ALL, in);
    counted += popc(votes);
    if (!COUNT && lane() == 0) x.out[b / 32] = votes;
  }
  segment_end(x, counted);
}

WEFT_KERNEL(join_segment_make, SegmentParams, LAUNCH_BOUNDS(256, 4)) { segment_make<false>(p); }
WEFT_KERNEL(join_segment_size, SegmentParams, LAUNCH_BOUNDS(256, 4)) { segment_make<true>(p); }
WEFT_KERNEL(join_segment_check, SegmentParams, LAUNCH_BOUNDS(256, 4)) { segment_check<false>(p); }
WEFT_KERNEL(join_segment_hits, SegmentParams, LAUNCH_BOUNDS(256, 4)) { segment_check<true>(p); }

// The signatures of a run of vertices (section 6.1): those that have all that one of the queries asks for.
struct SegmentSigns {
  const u32* table; // word c of the signature of the run's vertex v is table[c * vertices + v], of the columns that queries ask something of
  const u32* want;  // for each query `columns` words
  u32* out;         // page-locked: a bit for each vertex
  u64 *made, *done;
  SegmentHead* head;
  u64 turn;
  u32 vertices, columns, queries, unused;
};

struct SegmentSignsParams {
  Run run;
  SegmentSigns x;
};

WEFT_KERNEL(join_segment_signs, SegmentSignsParams) {
  const SegmentSigns& x = p.x;
  u64 counted = 0;
  for (u64 b = (u64)(block() * warps() + warp()) * 32; b < x.vertices; b += (u64)blocks() * warps() * 32) {
    const u32 v = (u32)b + lane();
    bool has = false;
    for (u32 q = 0; v < x.vertices && !has && q < x.queries; q++) {
      has = true;
      for (u32 c = 0; has && c < x.columns; c++) {
        const u32 w = x.want[q * x.columns + c];
        if (w) has = (ldg(x.table + (u64)c * x.vertices + v) & w) == w;
      }
    }
    const u32 votes = ballot(ALL, has);
    counted += popc(votes);
    if (lane() == 0) x.out[b / 32] = votes;
  }
  SegmentArgs end = {};
  end.made = x.made;
  end.done = x.done;
  end.head = x.head;
  end.turn = x.turn;
  segment_end(end, counted);
}

// Takes the next tasks: roots, which the host has.
struct SegmentTasks {
  u64* out; // page-locked: the first one, their number, whether none will come, and the launch
  u64 turn;
};

struct SegmentTasksParams {
  Run run;
  SegmentTasks x;
};

WEFT_KERNEL(join_segment_tasks, SegmentTasksParams) {
  if (block() != 0 || thread() != 0) return;
  Chunk t = take(p.run);
  p.x.out[0] = t.first;
  p.x.out[1] = t.count;
  p.x.out[2] = t.over;
  p.x.out[3] = p.x.turn;
  fence_system();
}

#endif
