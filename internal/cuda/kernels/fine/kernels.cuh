// The kernels of a search: fine_sizes and fine_grow make the initial pool, level by
// level; fine_search works through it. All take struct { Run; Graph; Fine … }, and
// sizeof(Head) + warps × x.stack_bytes of shared memory.
//
// The including text has struct Params, the plan's checks as struct Checks, made
// by checks_of(p), and FINE_PURPOSE: COUNT or LIST.
#ifndef FINE_KERNELS
#define FINE_KERNELS
#include "fine/grow.cuh"
#include "fine/siblings.cuh"
#include "fine/work.cuh"
#include "membership/fill.cuh"

// Whether an earlier kernel has left its work unfinished because the run must stop, so that its
// results must not be read. All threads of a block get the same answer, because its barriers
// and votes need all of them.
DEV bool left(const Run& run) { return sync_block_or(thread() == 0 && load_relaxed(&run.counters->stop)); }

DEV Head* begin_block(const Fine& x) {
  Head* head = (Head*)shared();
  if (thread() == 0) {
    board_clear(&head->board);
    UNROLL
    for (u32 k = 0; k < MEMBER_TABLES; k++) head->tables[k] = x.tables[k];
  }
  sync_block();
  return head;
}

// Requires p.x.grown cleared. p.x.sizes become the numbers of candidates of p.x.rows. Without
// a pool, grown->roots becomes the number of valid roots of level 0. After this starts
// become prefix sums of sizes.
WEFT_KERNEL(fine_sizes, Params, LAUNCH_BOUNDS(256, 4)) {
  ran(p.run);
  if (left(p.run)) return;
  Checks checks = checks_of(p);
  Walker<Checks, GROW>(p.run, p.x, checks, p.x.depth ? p.x.depth : 1, begin_block(p.x)).size_all();
}

// Appends to p.x.next the partial matches that bind one level more than those of p.x.rows, or
// two levels with depth 0. If they do not fit, grown->rows ends above p.x.room and the rows
// have no meaning.
WEFT_KERNEL(fine_grow, Params, LAUNCH_BOUNDS(256, 4)) {
  ran(p.run);
  if (left(p.run)) return;
  Checks checks = checks_of(p);
  Walker<Checks, GROW>(p.run, p.x, checks, p.x.depth ? p.x.depth : 1, begin_block(p.x)).grow_all();
}

// Its tasks are the rows of the pool, or with p.x.depth 0 the candidates of level
// 0. With stealing the whole grid is resident.
WEFT_KERNEL(fine_search, Params, LAUNCH_BOUNDS(256, 4)) {
  if (left(p.run)) return;
  Checks checks = checks_of(p);
  Walker<Checks, FINE_PURPOSE> w(p.run, p.x, checks, checks.levels() - 1, begin_block(p.x));
  w.work();
}

#endif
