// The persistent kernel of engine pipeline: updater, executors and collector.
//
// DCSM, chapters 4.3 to 4.6. Block 0 is the updater. The first warp of block 1 is the collector. All other warps are
// executors. All blocks of the launch must be resident at the same time, because roles wait for each other.
//
// The garbage collection graph: each update has at most two edges, to the versions that end with it. The collector passes an
// update when it and all before it are done; then no search needs the versions that end with it. It frees their rows. The
// updater gives their arrays back to the pool.
#ifndef WEFT_PIPELINE_ROLES
#define WEFT_PIPELINE_ROLES
#include "pipeline/update.cuh"

// The collector's warp.
DEV void collector(const Pipe& p) {
  Flow* f = p.flow;
  u64 done = f->done;
  for (;;) {
    u32 ended = 0;
    u64 applied = 0;
    if (lane() == 0) {
      ended = load_acquire(&f->ended);
      applied = load_acquire(&f->applied);
    }
    ended = shfl(ALL, ended, 0), applied = shfl(ALL, applied, 0);
    sync_warp(ALL); // what the first lane has acquired is there for all
    Slot* slot = &p.slots[(done + lane()) & (p.window - 1)];
    u32 votes = ballot(ALL, done + lane() < applied && load_acquire(&slot->left) == 0);
    u32 n = votes == ALL ? 32 : ffs(~votes);
    if (lane() < n)
      for (u32 s = 0; s < 2; s++)
        if (slot->row[s]) store_release(&slot->row[s]->span, FREE_ROW);
    sync_warp(ALL);
    done += n;
    if (lane() == 0 && n > 0) {
      fence();
      store_release(&f->done, done);
      store_release_system(&p.control->done, done);
    }
    if (warp_stopped(p) || (ended && done == applied)) return;
    if (n == 0) spin();
  }
}

// The next task for this warp, with its number and its update; false: there will be none.
DEV bool next_task(const Pipe& p, u64& i, Task& task, Slot*& slot) {
  Flow* f = p.flow;
  u32 go = 0;
  i = 0;
  if (lane() == 0) {
    i = atomic_add(&f->next, (u64)1);
    for (;; spin()) {
      u32 ended = load_acquire(&f->ended);
      if (load_acquire(&f->ready) > i) {
        go = 1;
        break;
      }
      if (ended || stopped(p)) break;
    }
  }
  if (!shfl(ALL, go, 0)) return false;
  i = shfl(ALL, i, 0);
  sync_warp(ALL); // what the first lane has acquired is there for all
  task = p.queue[i & (p.queue_size - 1)];
  slot = &p.slots[task.update & (p.window - 1)];
  return true;
}

// An executor's warp: run(task, number, update, time) is the search of one task. The time is that before the update; the next time is after it,
// and has all its versions too. The search may return early once the kernel is stopped.
template <class F> DEV void executor(const Pipe& p, F run) {
  u64 i;
  Task task;
  Slot* slot;
  while (next_task(p, i, task, slot)) {
    u64 began = nanotime();
    run(task, i, slot->x, time_of(task.update));
    sync_warp(ALL);
    if (warp_stopped(p)) return;
    if (lane() == 0) {
      fence_system(); // for what the host reads once the update is done
      atomic_sub(&slot->left, 1u);
      atomic_add(&p.flow->beat, (u64)1);
      atomic_add(&p.flow->busy, nanotime() - began);
    }
  }
}

template <class F> DEV void roles(const Pipe& p, F run) {
  if (block() == 0) updater(p);
  else if (block() == 1 && warp() == 0) collector(p);
  else executor(p, run);
}

#endif
