// The task counter: tasks are numbers 0 … Run.tasks-1, handed out in chunks.
//
// The host grants a device ranges of tasks, through Control. A single device gets one range
// with all tasks; several devices get ranges that become smaller.
//
// Counters.cursor is (grants taken over) << CURSOR_BITS | (tasks handed out of the last one);
// it starts with grant 0 taken over. A lane takes a chunk by one atomic addition, and the chunk
// belongs to the grant that the old value names. The lane that finds the grant used up, and
// gets the lock `installing`, takes over the next posted grant k: it copies the grant, and then
// sets the cursor to (k+1) << CURSOR_BITS. Additions to the old cursor after its grant was used
// up are lost, and gave no tasks.
#ifndef WEFT_TASKS
#define WEFT_TASKS
#include "base/control.cuh"

// Tasks first … first+count-1. No tasks: over says that none will come.
struct Chunk {
  u64 first;
  u32 count;
  bool over;
};

// Takes over the next grant, if it is posted and another lane is not at it.
// seen: the grants that the caller knows to be used up. One lane; the lock is
// held for a few trips over the bus.
DEV void install(const Run& r, u64 seen) {
  Counters* c = r.counters;
  if (load_relaxed(&c->installing) || atomic_cas(&c->installing, 0u, 1u) != 0) return;
  fence();
  u64 k = load_relaxed(&c->cursor) >> CURSOR_BITS;
  if (k == seen) {
    // closed is read first, so that grants posted before closing are seen.
    bool closed = load_acquire_system(&r.control->closed) != 0;
    if (load_acquire_system(&r.control->posted) > (u32)k) {
      const Grant* from = &r.control->grant[k];
      Grant* to = &c->grant[k];
      store_relaxed(&to->first, load_relaxed_system(&from->first));
      store_relaxed(&to->count, load_relaxed_system(&from->count));
      store_relaxed(&to->before, load_relaxed_system(&from->before));
      store_relaxed_system(&r.control->taken, (u32)k + 1);
      fence();
      atomic_exch(&c->cursor, (k + 1) << CURSOR_BITS);
    } else if (closed) {
      store_release(&c->finished, 1u);
    }
  }
  fence();
  atomic_exch(&c->installing, 0u);
}

// The part of a chunk that begins at cursor value `at` and is inside its grant.
DEV Chunk chunk_at(const Run& r, u64 at) {
  const Grant* g = &r.counters->grant[(at >> CURSOR_BITS) - 1];
  u64 k = at & ((1ull << CURSOR_BITS) - 1), count = load_relaxed(&g->count);
  if (k >= count) return Chunk{0, 0, false};
  return Chunk{load_relaxed(&g->first) + k, (u32)min((u64)r.chunk, count - k), false};
}

// Takes the next chunk of up to r.chunk tasks. One lane. Nothing got and not
// over: other devices share the work, and the host has not answered yet; look
// for work elsewhere, spin, and ask again.
DEV Chunk take(const Run& r) {
  Counters* c = r.counters;
  for (;;) {
    // Looking before adding keeps waiting lanes from running the cursor over.
    u64 at = load_acquire(&c->cursor);
    if (chunk_at(r, at).count) {
      at = atomic_add(&c->cursor, (u64)r.chunk);
      fence();
      Chunk t = chunk_at(r, at);
      if (t.count) return t;
    }
    if (load_acquire(&c->finished)) return Chunk{0, 0, true};
    install(r, at >> CURSOR_BITS);
    if (load_relaxed(&c->cursor) >> CURSOR_BITS == at >> CURSOR_BITS)
      return Chunk{0, 0, load_acquire(&c->finished) != 0};
  }
}

// take, by one lane for the group.
template <class G> DEV Chunk take(G g, const Run& r) {
  Chunk t = {0, 0, false};
  if (g.leader()) t = take(r);
  t.first = g.shfl(t.first, 0);
  t.count = g.shfl(t.count, 0);
  t.over = g.shfl((u32)t.over, 0) != 0;
  return t;
}

#endif
