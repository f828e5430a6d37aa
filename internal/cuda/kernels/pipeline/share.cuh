// Long searches of engine pipeline are shared: a warp gives part of its search away while other warps wait for tasks.
//
// STMatch §1.5.2, without a search for a victim: the giver has the stack, and the receiver has nothing. A part is the remaining candidates of one place,
// or some of them, under the vertices that are chosen before it. It waits in a ring of bounded length. The receiver finds the lists again, because
// the time of the task and the versions that it sees stay the same while it is under way.
//
// The parts of a task add up their counts in one word. The last part that ends writes the count for the host, and ends the task. So an
// update is done when all parts of its tasks are, and rows are still those of the task.
//
// Why this cannot deadlock:
//   - Nobody waits for room in the ring: if it is full, the warp searches on by itself.
//   - A part waits for nothing that other parts or tasks do. Its rows wait for the host alone, as those of tasks.
//   - A warp that gave parts away looks into the ring before it waits for anything, and leaves it only when the ring is empty or with a part. So each
//     part is taken, at the latest by the warp that gave it, even if no other warp takes any.
//   - A warp may take parts while it holds a ticket for a task that is not there yet. The task then waits for the end of these parts, which ends.
//   - A stopped kernel leaves parts behind. It is never started again.
#ifndef WEFT_PIPELINE_SHARE
#define WEFT_PIPELINE_SHARE
#include "pipeline/update.cuh"

#define SHARE_PLACES 32u // places of a nest, at most

// Part of a search that is given away.
struct Share {
  u32 turn;             // 2 * the lap of the ring: empty in this lap; one more: full
  u32 place;            // its candidates are given away
  u32 base, next, end;  // as in Frame
  u32 left;             // bits of candidates
  u64 number;           // of the task
  u32 nest, pad;        // the word of the program where its nest is
  u32 vertices[SHARE_PLACES]; // at places before it
  u32 candidates[32];
};

// What the parts of a task have in common. All is 0 while a task is whole.
struct Parts {
  u64 count; // of the parts that ended
  u32 open;  // parts that did not end
  u32 pad;
};

DEV Share* share_at(const Pipe& p, u64 at) { return &p.shares[at & (p.shares_size - 1)]; }
DEV u32 turn_of(const Pipe& p, u64 at) { return 2 * (u32)(at / p.shares_size); }
DEV Parts* parts_of(const Pipe& p, u64 number) { return &p.parts[number & (p.queue_size - 1)]; }

// Whether some warp waits for a part that nobody gives yet. One lane.
DEV bool share_wanted(const Pipe& p) {
  u64 taken = load_relaxed(&p.flow->taken), given = load_relaxed(&p.flow->given);
  return load_relaxed(&p.flow->hungry) > given - taken;
}

// Takes a place of the ring, to put a part there. False: the ring is full, or another warp was faster. One lane.
DEV bool claim_share(const Pipe& p, u64& at) {
  at = load_relaxed(&p.flow->given);
  return load_acquire(&share_at(p, at)->turn) == turn_of(p, at) && atomic_cas(&p.flow->given, at, at + 1) == at;
}

// Takes a part. False: there is none. One lane.
DEV bool take_share(const Pipe& p, u64& at) {
  for (;; spin()) { // for a warp that has a place and only writes there
    at = load_relaxed(&p.flow->taken);
    if (load_relaxed(&p.flow->given) <= at) return false;
    if (load_acquire(&share_at(p, at)->turn) == turn_of(p, at) + 1 && atomic_cas(&p.flow->taken, at, at + 1) == at) return true;
  }
}

// Ends a part of a task. Returns whether it was the last one; count is then that of the whole task. One lane.
DEV bool end_part(const Pipe& p, u64 number, u64& count) {
  Parts* x = parts_of(p, number);
  atomic_add(&x->count, count);
  fence_system(); // with the rows, for the last one, which says that the task is done
  if (atomic_sub(&x->open, 1u) != 1) return false;
  fence_system();
  count = load_relaxed(&x->count);
  store_relaxed(&x->count, (u64)0);
  return true;
}

#endif
