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
#include "pipeline/share.cuh"

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

#define NO_TICKET ~0ull

// The next work for this warp: a task with its number, or part of one, which is at share of the ring. False: there will be none.
// ticket is that of the warp, which it may keep for later. One lane.
//
// The first quarter of those that wait for tasks takes no parts, so that new tasks find warps.
DEV bool next_work(const Pipe& p, u64& ticket, u64& number, u64& share, bool& part) {
  Flow* f = p.flow;
  const u32 reserve = ((blocks() - 1) * warps() - 1) / 4;
  part = false;
  if (p.share && (ticket == NO_TICKET || load_acquire(&f->ready) <= ticket) && take_share(p, share)) return part = true;
  if (ticket == NO_TICKET) ticket = atomic_add(&f->next, (u64)1);
  bool hungry = false, go = false;
  for (;; spin()) {
    u32 ended = load_acquire(&f->ended);
    u64 ready = load_acquire(&f->ready);
    if (ready > ticket) {
      go = true;
      number = ticket, ticket = NO_TICKET;
      break;
    }
    if (ended || stopped(p)) break;
    bool may = p.share && ticket - ready >= reserve;
    if (may && !hungry) atomic_add(&f->hungry, 1u);
    if (!may && hungry) atomic_sub(&f->hungry, 1u);
    hungry = may;
    if (may && take_share(p, share)) {
      go = part = true;
      break;
    }
  }
  if (hungry) atomic_sub(&f->hungry, 1u);
  return go;
}

// An executor's warp: run(task, number, update, time, share) is the search of one task, or of the part of it at share; share is null for a task.
// It returns whether the task is done, with all its parts. The time is that before the update; the next time is after it,
// and has all its versions too. The search may return early once the kernel is stopped.
template <class F> DEV void executor(const Pipe& p, F run) {
  u64 ticket = NO_TICKET;
  for (;;) {
    u64 number = 0, at = 0;
    u32 found = 0; // 1: a task; 2: a part
    if (lane() == 0) {
      bool part;
      if (next_work(p, ticket, number, at, part)) found = part ? 2 : 1;
    }
    found = shfl(ALL, found, 0);
    if (!found) return;
    at = shfl(ALL, at, 0);
    sync_warp(ALL); // what the first lane has acquired is there for all
    Share* share = found == 2 ? share_at(p, at) : nullptr;
    number = share ? share->number : shfl(ALL, number, 0);
    const Task task = p.queue[number & (p.queue_size - 1)];
    Slot* slot = &p.slots[task.update & (p.window - 1)];
    u64 began = nanotime();
    bool done = run(task, number, slot->x, time_of(task.update), share);
    sync_warp(ALL);
    if (warp_stopped(p)) return;
    if (lane() == 0) {
      fence_system(); // for what the host reads once the update is done
      if (done) atomic_sub(&slot->left, 1u);
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
