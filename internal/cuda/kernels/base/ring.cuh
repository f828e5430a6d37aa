// Match output: a bounded ring of rows in mapped host memory, which the host
// drains while the kernel runs.
//
// A row is ring_width ids and a stamp. Rows lie in tiles of 32, column by column:
// id c of row i is word ((i/32) * (ring_width+1) + c) * 32 + i%32 of the ring, and
// the stamp is column ring_width. So a warp with 32 rows writes every column as
// one full line, which is what the bus carries best. Row number i of the run (from
// 0) is at i mod ring_rows; its stamp is i / ring_rows + 1, which the stale row
// before it never has. The ring is zero at the start.
//
// States of a row: free → reserved (Counters.reserved passed it) → written →
// stamped → drained by the host in order (Control.drained passed it) = free.
// A reserver waits until its last row is less than ring_rows ahead of what is
// drained. The first row that is not stamped is always allowed to be written, so
// the ring cannot stall while the host drains; the host stamps nothing.
// After stop no one waits: rows that were reserved then may never be stamped,
// and the host takes the stamped ones up to the first that is not.
#ifndef WEFT_RING
#define WEFT_RING
#include "base/control.cuh"

// The word of column c of row i.
DEV u32* ring_word(const Run& r, u64 i, u32 c) {
  u32 k = (u32)i & (r.ring_rows - 1);
  return r.ring + ((u64)(k >> 5) * (r.ring_width + 1) + c) * 32 + (k & 31);
}

// Waits until rows up to end (exclusive) have room. False: stopped. One lane.
DEV bool ring_room(const Run& r, u64 end) {
  Counters* c = r.counters;
  if (end <= load_relaxed(&c->drained) + r.ring_rows) return true;
  for (;;) {
    u64 d = load_acquire_system(&r.control->drained);
    atomic_max(&c->drained, d);
    if (end <= d + r.ring_rows) return true;
    if (stopped(r)) return false;
    spin();
  }
}

// Writes a row for every lane of the group with mine set: id(c), for c = 0 … ring_width-1, is
// the lane's id of level c. Collective. Returns the number of rows, the same on all lanes, or
// ~0u if the run was stopped before they could be written; they are then not matches of the
// answer. It does not count matches: the host counts listed rows.
template <class G, class F> DEV u32 emit_rows(G g, const Run& r, bool mine, F id) {
  u32 votes = g.ballot(mine), n = popc(votes);
  if (n == 0) return 0;
  u64 at = 0;
  u32 go = 1;
  if (g.leader()) {
    at = atomic_add(&r.counters->reserved, (u64)n);
    go = ring_room(r, at + n);
  }
  at = g.shfl(at, 0);
  if (!g.shfl(go, 0)) return ~0u;
  u64 i = at + popc(votes & g.below());
  if (mine) {
    for (u32 c = 0; c < r.ring_width; c++) *ring_word(r, i, c) = id(c);
    // Each lane orders its own ids before its own stamp.
    fence_system();
    store_release_system(ring_word(r, i, r.ring_width), (u32)(i / r.ring_rows) + 1);
  }
  return n;
}

#endif
