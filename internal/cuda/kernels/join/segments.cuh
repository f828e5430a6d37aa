// Joins of graphs that are larger than the device (SGSI, section 6). A segment is a run of the edges of one relation with
// their index, in one of the layouts of join/lists.cuh. The host keeps tables by columns. It says which rows have a
// list in the segment (the paper's row flags), and sends the columns of those rows that the phase reads. Candidates are
// tested against all other vertices of the row, and looked up in the lists of further edges that are in any segment on the device. The
// host gets those that pass, with the edges that are still to be looked for, in page-locked memory.
//
// A launch may read lists of several segments, while the segments of one further edge pass by. It then decides only the pairs of that edge that the
// one segment owns, so that all its candidates are known for this edge, and each is made once.
//
// A lane has a candidate: rows with long lists and rows with short ones keep all lanes busy.
#ifndef JOIN_SEGMENTS
#define JOIN_SEGMENTS
#include "base/tasks.cuh"
#include "join/plan.cuh"

// What a launch tells the host: written when all its blocks are done.
struct SegmentHead {
  u64 made;    // entries in row and out
  u64 counted; // matches that are only counted
  u64 turn;    // of the launch, so that one that did not run is noticed
};

// A segment that is on the device. It has all edges of a relation between two pairs of a vertex and a neighbour, as
// vertex << 32 | neighbour.
struct SegmentHeld {
  u64 from, to; // from <= pair < to
  JoinLists lists;
  u32 first, last; // the vertices that have lists here are among these
};

// An edge that a candidate must have to the row's vertex in a column, or with neg must not have.
struct SegmentEdge {
  u32 column, neg;
  u32 begin, end; // the segments of its relation among those held, ascending
};

enum SegmentHow { SEGMENT_LIST, SEGMENT_COUNT, SEGMENT_EACH }; // list candidates, count them, or count them by rows

// An entry of `row` has the row below, and above it a bit for each edge that is not known.
#define SEGMENT_ROW_BITS 20u

struct SegmentArgs {
  JoinLists lists;
  const u64* bits;    // a bit for each vertex that is allowed; null: all are
  const u32* columns; // of the rows: column c of row r is columns[c * rows + r]. Column 0 has the vertices whose lists are read
  const u32* with;    // to make candidates: where those of each row begin, and their end; to check: the candidate of each row
  const SegmentHeld* held;
  u32* row;           // page-locked: of each candidate its row, and the edges that are not known
  u32* out;           // page-locked: the candidates, or the number of a row's, or bits of the rows of a check
  u64* made;          // two counters, 0 before and after a launch: entries, and matches that are only counted
  u64* done;          // blocks; 0 before and after a launch
  SegmentHead* head;  // page-locked
  u64 turn;
  u64 own_from, own_to; // own_from <= pair < own_to, of edge own - 1: others are dropped, as another launch has them
  u32 rows;
  u32 from;           // where in its list the first row's candidates begin
  u32 first, end;     // first <= candidate < end
  u32 apart, below, above; // the columns whose vertices it must differ from, be below or above
  u32 all;            // whether lists.adj, of lists.n ids, has the candidates of each row
  u32 how, edges;
  u32 outer; // 0: the lists are those of `lists`. Others: column outer - 1 has the place in held of each row's list
  u32 own;   // 0: the launch decides all pairs
  SegmentEdge edge[12];
};

struct SegmentParams {
  Run run;
  SegmentArgs x;
};

// Adds what the block's warps have counted, and has the last block tell the host. All threads of the block call it with
// the number of their warp, at the end.
DEV void segment_end(u64* made, u64* done, SegmentHead* head, u64 turn, u64 warp_counted) {
  if (warp_counted && lane() == 0) atomic_add(made + 1, warp_counted);
  fence();
  sync_block();
  if (thread() != 0) return;
  fence();
  if (atomic_add(done, (u64)1) != blocks() - 1) return;
  fence();
  head->made = atomic_exch(made, (u64)0);
  head->counted = atomic_exch(made + 1, (u64)0);
  atomic_exch(done, (u64)0);
  head->turn = turn;
  fence_system();
}

DEV void segment_end(const SegmentArgs& x, u64 warp_counted) { segment_end(x.made, x.done, x.head, x.turn, warp_counted); }

// Whether a row's candidate passes all tests that can be made on the device. `left` becomes the edges that segments elsewhere have. One
// lane.
DEV bool segment_passes(const SegmentArgs& x, u32 r, u32 v, u32& left) {
  left = 0;
  if (v < x.first || v >= x.end || (x.bits && !bit(x.bits, v))) return false;
  for (u32 m = x.apart | x.below | x.above; m; m &= m - 1) {
    const u32 c = ctz(m), at = m & -m, u = x.columns[(u64)c * x.rows + r];
    if (((x.apart & at) && v == u) || ((x.below & at) && v >= u) || ((x.above & at) && v <= u)) return false;
  }
  if (x.own) {
    const u64 pair = (u64)x.columns[(u64)x.edge[x.own - 1].column * x.rows + r] << 32 | v;
    if (pair < x.own_from || pair >= x.own_to) return false;
  }
  for (u32 i = 0; i < x.edges; i++) {
    const SegmentEdge& e = x.edge[i];
    const u32 u = x.columns[(u64)e.column * x.rows + r];
    const u64 pair = (u64)u << 32 | v;
    u32 k = e.begin;
    for (u32 n = e.end - e.begin; n;) { // k: the segments that do not begin behind the pair end before it
      const u32 half = n / 2;
      if (x.held[k + half].from <= pair) {
        k += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    if (k == e.begin || pair >= x.held[k - 1].to) {
      left |= 1u << i;
      continue;
    }
    const SegmentHeld& s = x.held[k - 1];
    const bool has = u >= s.first && u <= s.last && contains(join_list(s.lists, u), v);
    if (has == (e.neg != 0)) return false;
  }
  return true;
}

// The candidates of rows: the elements of their lists in the segment that pass. A warp has 32 of them, of one row or of several.
WEFT_KERNEL(join_segment_make, SegmentParams, LAUNCH_BOUNDS(256, 4)) {
  const SegmentArgs& x = p.x;
  u32* wait = (u32*)shared() + warp() * 128; // 64 entries of row, and of out
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
    u32 r = 0, v = 0, left = 0;
    if (in) {
      r = bisect(x.with, lo + 1, hi + 1, k + 1) - 1;
      const u32 i = k - x.with[r] + (r == 0 ? x.from : 0);
      const JoinLists& lists = x.outer ? x.held[x.columns[(u64)(x.outer - 1) * x.rows + r]].lists : x.lists;
      const Set s = x.all ? Set{lists.adj, lists.n} : join_list(lists, x.columns[r]);
      in = i < s.n;
      v = in ? s.p[i] : 0;
      in = in && segment_passes(x, r, v, left);
    }
    if (x.how != SEGMENT_LIST) {
      const bool known = in && !left;
      if (x.how == SEGMENT_COUNT) {
        counted += popc(ballot(ALL, known));
        in = in && left;
      } else { // an entry for all candidates of a row that the warp has
        const u32 same = match_any(ALL, known ? r : ~0u);
        in = in && (left || ctz(same) == lane());
        if (known) v = popc(same);
      }
    }
    const u32 votes = ballot(ALL, in);
    if (in) {
      const u32 at = waiting + popc(votes & Warp::below());
      wait[at] = r | left << SEGMENT_ROW_BITS;
      wait[64 + at] = v;
    }
    waiting += popc(votes);
    sync_warp(ALL);
    if (waiting >= 32) flush(32);
  }
  if (waiting) flush(waiting);
  segment_end(x, counted);
}

// The number of each row's candidates, of which bounds are asked, and to differ from other vertices. A lane has a row.
WEFT_KERNEL(join_segment_size, SegmentParams) {
  const SegmentArgs& x = p.x;
  u64 counted = 0;
  for (u64 b = (u64)(block() * warps() + warp()) * 32; b < x.rows; b += (u64)blocks() * warps() * 32) {
    const u32 r = (u32)b + lane();
    u32 n = 0;
    if (r < x.rows) {
      auto of = [&](u32 c) { return x.columns[(u64)c * x.rows + r]; };
      u32 lo = x.first, hi = x.end;
      for (u32 m = x.above; m; m &= m - 1) lo = max(lo, of(ctz(m)) + 1);
      for (u32 m = x.below; m; m &= m - 1) hi = min(hi, of(ctz(m)));
      Set s = x.all ? Set{x.lists.adj, x.lists.n} : join_list(x.lists, x.columns[r]);
      if (lo < hi) {
        const u32 begin = lower_bound(s.p, s.n, lo), end = lower_bound(s.p, s.n, hi);
        s = Set{s.p + begin, end - begin};
        n = s.n;
        for (u32 m = x.apart; m; m &= m - 1) {
          const u32 u = of(ctz(m));
          bool had = false; // each vertex once
          for (u32 d = x.apart & ((m & -m) - 1); d; d &= d - 1) had |= of(ctz(d)) == u;
          n -= !had && contains(s, u);
        }
      }
      if (x.how == SEGMENT_EACH) x.out[r] = n;
    }
    counted += reduce_add(ALL, (u64)n);
  }
  segment_end(x, counted);
}

// Whether the candidate of each row passes. For each 32 rows, out has a word of those that do, and for each edge one of those
// for which it is not known.
WEFT_KERNEL(join_segment_check, SegmentParams, LAUNCH_BOUNDS(256, 4)) {
  const SegmentArgs& x = p.x;
  for (u64 b = (u64)(block() * warps() + warp()) * 32; b < x.rows; b += (u64)blocks() * warps() * 32) {
    const u32 k = (u32)b + lane();
    u32 left = 0;
    const bool in = k < x.rows && segment_passes(x, k, x.with[k], left);
    u32* to = x.out + b / 32 * (1 + x.edges);
    const u32 votes = ballot(ALL, in);
    if (lane() == 0) to[0] = votes;
    for (u32 i = 0; i < x.edges; i++) {
      const u32 unknown = ballot(ALL, in && (left >> i & 1));
      if (lane() == 0) to[1 + i] = unknown;
    }
  }
  segment_end(x, 0);
}

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
    if (lane() == 0) x.out[b / 32] = votes;
  }
  segment_end(x.made, x.done, x.head, x.turn, 0);
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
