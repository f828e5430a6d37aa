// The graph updater: one block brings updates into the multi-version graph, a batch after the other.
//
// DCSM, chapter 4.4.2 and 4.4.3. The block's warps are one super-warp. A batch goes through these steps, with a barrier
// between them:
//
//   gather    the first warp waits until a batch is full or its time is over, and has room
//   sort      each update changes one or two lists: changes ascend by (list, id, label, time)
//   segments  the changes of one list. A list gets a new version at the time of its first addition, its cut. A list of which
//             more than half of the entries are removed gets one too, at the last removal
//   room      blocks of the pool for new arrays, of 32 lists at a time. Where there is none, the updater waits for the collector; if nothing is
//             under way, it takes half of the batch
//   remove    removals set dt in the newest arrays
//   copy      all arrays end to end are one sequence, and each warp takes 128 elements of a chunk. A lane finds its elements' arrays and
//             ranks, by a prefix sum over the lists' sizes, and writes them at their places among the additions
//   add       the additions are written at the places that the neighbouring elements gave them
//   publish   new rows get their lifetimes, old rows end at the cut, and all updates become visible
//
// The elements of the next chunk are copied to shared memory, asynchronously, while this chunk is ranked and written.
//
// With PIPELINE_HASH, additions to a hash set with free slots need no new version, and copies keep no order (store_hash.cuh).
//
// Why: the thesis copies an array and its additions, and then sorts them. Old entries ascend already, so sorting the
// additions alone gives each entry its place, and nothing is written twice.
#ifndef WEFT_PIPELINE_UPDATE
#define WEFT_PIPELINE_UPDATE
#include "base/scan.cuh"
#include "pipeline/flow.cuh"

#define EACH 4u // elements of a lane in a chunk
#define STAGE_WORDS (4 * EACH * 32 + 4) // of a warp's elements in shared memory
#define COMPACT_MIN 16u // an array of fewer entries keeps what is removed

// A change of one list. at is update's place in the batch << 2 | side << 1 | 1 for a removal; side 0 is the list of u.
struct Change {
  u32 list, id, label, at;
};

// The changes of one list.
struct Segment {
  u64 array; // the newest one
  u64 off;   // elements of new versions before it
  u64 row;   // of the new version, as row_at knows it; slab: a place in a new slab
  u32 list, begin;
  u32 cut;  // the time of the new version; FOREVER: none
  u32 side; // of the update at the cut
  u32 inserts, deleted, early, again; // additions; first removals of entries; those before the cut; removals of additions
  u32 fresh, n; // the new array
  u32 base;     // elements that stay, before this array's
  u32 slab;     // unit of a new slab; 0: none
};

// Shared memory of the updater's block: a desk, two stages of STAGE_WORDS words a warp, and the room of a batch.
struct Desk {
  u64 sums[64];
  u64 total;   // elements to copy
  u32 size;    // updates of the batch; 0: leave
  u32 verdict; // 0: go on; 1: half of the batch; 2: leave
  u32 dropped; // not 0: some elements stay behind
  u32 pad;
  Pool pool;         // Pipe's, while the kernel runs
  u64 end;           // of the batch's tasks
  u64 reclaimed;     // as in Flow
  u64 reclaimed_end;
  u64 posted;        // as in Control, when it was last looked at
  u64 looked;        // when the host's flag was
  u64 steps[STEPS];  // as in Control
  u64 since;         // when the step began
};

// Ends a step. One lane.
DEV void step(Desk* desk, u32 which) {
  u64 now = nanotime();
  desk->steps[which] += now - desk->since;
  desk->since = now;
}

struct Batch {
  Change* changes;
  Segment* segments;
  u32 *inserted, *of, *place; // additions before a change; its segment; the place of an addition in its array
};

DEV u32 power_above(u32 x) { return x <= 1 ? 1 : 1u << (32 - clz(x - 1)); }

DEV Batch batch_room(const Pipe& p) {
  u32 most = 2 * power_above(p.batch);
  u8* at = p.work ? p.work : shared() + sizeof(Desk) + 8 * STAGE_WORDS * (threads() / 32);
  Batch b;
  b.changes = (Change*)at;
  b.segments = (Segment*)(at += most * sizeof(Change));
  b.inserted = (u32*)(at += (most + 1) * sizeof(Segment));
  b.of = b.inserted + most + 1;
  b.place = b.of + most;
  return b;
}

// The changes with less than (id, label), among lo … hi-1.
DEV u32 changes_below(const Change* x, u32 lo, u32 hi, u32 id, u32 label) {
  while (lo < hi) {
    u32 mid = (lo + hi) / 2;
    bool less = x[mid].id < id || (x[mid].id == id && x[mid].label < label);
    if (less) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

DEV bool change_less(const Change& a, const Change& b) {
  if (a.list != b.list) return a.list < b.list;
  if (a.id != b.id) return a.id < b.id;
  if (a.label != b.label) return a.label < b.label;
  return a.at < b.at;
}

DEV bool same_edge(const Change& a, const Change& b) { return a.list == b.list && a.id == b.id && a.label == b.label; }
DEV bool removes(const Change& x) { return x.at & 1; }
DEV u32 change_time(u64 k, const Change& x) { return time_of(k + (x.at >> 2)); }

// Takes over the host's flag, and shows it that executors get on and what memory is in use. One lane.
DEV void look(const Pipe& p, const Desk* desk) {
  store_relaxed_system(&p.control->used, desk->pool.used);
  store_relaxed_system(&p.control->most, desk->pool.most);
  store_relaxed_system(&p.control->beat, load_relaxed(&p.flow->beat));
  store_relaxed_system(&p.control->busy, load_relaxed(&p.flow->busy));
  store_relaxed_system(&p.control->shared, load_relaxed(&p.flow->given));
  if (load_relaxed_system(&p.control->stop)) store_relaxed(&p.flow->stop, 1u);
}

// The class of blocks for an array of n entries, or NO_CLASS.
DEV u32 array_class(const Store& s, u32 n) { return n ? class_above(units_of(s, n)) : NO_CLASS; }

// Gives back the arrays of versions that the collector has ended. All lanes of a warp read what the first one gives back.
DEV void reclaim(const Pipe& p, Desk* desk) {
  u64 done = 0;
  if (lane() == 0) done = load_acquire(&p.flow->done);
  done = shfl(ALL, done, 0);
  sync_warp(ALL); // what the first lane has acquired is there for all
  for (u64 at = desk->reclaimed; at < done; at += 32) {
    u32 n = (u32)min(done - at, (u64)32), tasks = 0;
    u64 array[2] = {0, 0};
    if (lane() < n) {
      const Slot* slot = &p.slots[(at + lane()) & (p.window - 1)];
      tasks = slot->x.tasks;
      for (u32 s = 0; s < 2; s++)
        if (slot->row[s]) array[s] = slot->array[s];
    }
    for (u32 s = 0; s < 2; s++) give_blocks(p.store, &desk->pool, (u32)array[s], array_class(p.store, (u32)(array[s] >> 32)));
    tasks = shfl(ALL, tasks, n - 1);
    if (lane() == 0) desk->reclaimed = at + n, desk->reclaimed_end += tasks - (u32)desk->reclaimed_end;
    sync_warp(ALL);
  }
}

// How many updates from update k on to take as a batch, with tasks from number tasks on. 0: leave; NONE: there is none yet, or no room. since is
// when the first of them was seen. One lane.
DEV u32 batch_size(const Pipe& p, Desk* desk, u64 k, u64 tasks, u64& since, bool& waited) {
  u64 n = min(desk->posted - k, (u64)p.batch), now = nanotime();
  if (n == 0 || now - desk->looked >= POLL_NS) {
    look(p, desk);
    desk->looked = now;
    if (stopped(p)) return 0;
  }
  if (n < p.batch) { // reads over the bus, which a busy updater does without
    u32 closed = load_acquire_system(&p.control->closed);
    desk->posted = load_acquire_system(&p.control->posted);
    n = min(desk->posted - k, (u64)p.batch);
    if (n == 0) return closed ? 0 : NONE;
    if (n < p.batch && !closed && load_relaxed_system(&p.control->urgent) < k + n) {
      if (since == 0) since = now;
      if (now - since < p.wait_ns) return NONE;
    }
  }
  n = min(n, p.window - (k - desk->reclaimed));
  while (n > 0) {
    u32 end = load_relaxed_system(&p.updates[(k + n - 1) & (p.host_updates - 1)].tasks);
    desk->end = tasks + (u32)(end - (u32)tasks);
    if (desk->end - desk->reclaimed_end <= p.queue_size) return (u32)n;
    n /= 2;
  }
  if (!waited) p.flow->waits++;
  waited = true;
  return NONE;
}

// Waits for a batch. Returns its size; 0: leave. One warp.
DEV u32 gather(const Pipe& p, Desk* desk, u64 k, u64 tasks) {
  u64 since = 0;
  bool waited = false;
  for (;; spin()) {
    reclaim(p, desk);
    u32 n = 0;
    if (lane() == 0) n = batch_size(p, desk, k, tasks, since, waited);
    n = shfl(ALL, n, 0);
    if (n != NONE) return n;
  }
}

// Copies the batch and its tasks, up to end, from host memory. Each read waits for the bus, so that all are under way together.
DEV void fetch(const Pipe& p, u64 k, u32 n, u64 tasks, u64 end) {
  const u32 m = (u32)(end - tasks);
  for (u32 i = thread(); i < n + m; i += threads()) {
    const u64* from = i < n ? (const u64*)&p.updates[(k + i) & (p.host_updates - 1)] : (const u64*)&p.tasks[(tasks + i - n) & (p.host_tasks - 1)];
    u64 x = load_relaxed_system(from), y = load_relaxed_system(from + 1);
    if (i < n) {
      Slot* slot = &p.slots[(k + i) & (p.window - 1)];
      slot->x = Update{(u32)x, (u32)(x >> 32), (u32)y, (u32)(y >> 32)};
      slot->row[0] = slot->row[1] = nullptr;
    } else {
      p.queue[(tasks + i - n) & (p.queue_size - 1)] = Task{(u32)x, (u32)(x >> 32), {(u32)y, (u32)(y >> 32)}};
    }
  }
  sync_block();
  for (u32 i = thread(); i < n; i += threads()) {
    Slot* slot = &p.slots[(k + i) & (p.window - 1)];
    store_relaxed(&slot->left, slot->x.tasks - (i ? p.slots[(k + i - 1) & (p.window - 1)].x.tasks : (u32)tasks));
  }
}

// Makes the changes of updates k … k+n-1, sorted. Returns their room.
DEV u32 sort_changes(const Pipe& p, const Batch& b, u64 k, u32 n) {
  u32 most = power_above(2 * n);
  for (u32 i = thread(); i < most; i += threads()) {
    Change x = {NONE, NONE, NONE, NONE};
    if (i < 2 * n) {
      const Update u = p.slots[(k + i / 2) & (p.window - 1)].x;
      u32 side = i & 1, a = side ? u.v : u.u, b = side ? u.u : u.v;
      if (u.u != NONE && (p.directed || side == 0 || u.u != u.v))
        x = Change{p.directed ? 2 * a + side : a, b, u.what >> 1, (i / 2) << 2 | side << 1 | (u.what & 1)};
    }
    b.changes[i] = x;
  }
  sync_block();
  for (u32 size = 2; size <= most; size *= 2)
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      for (u32 i = thread(); i < most / 2; i += threads()) {
        u32 lo = 2 * i - (i & (stride - 1)), hi = lo + stride;
        Change x = b.changes[lo], y = b.changes[hi];
        if (change_less(y, x) == ((lo & size) == 0)) b.changes[lo] = y, b.changes[hi] = x;
      }
      sync_block();
    }
  return most;
}

// Finds the segments. Returns their number.
DEV u32 find_segments(const Batch& b, Desk* desk, u32 most) {
  u64 before = 0;
  for (u32 from = 0; from < most; from += threads()) {
    u32 c = from + thread();
    bool valid = c < most && b.changes[c].list != NONE;
    bool head = valid && (c == 0 || b.changes[c - 1].list != b.changes[c].list);
    bool inserts = valid && !removes(b.changes[c]);
    u64 total, x = before + block_exclusive((u64)head | (u64)inserts << 21 | (u64)valid << 42, desk->sums, total);
    if (c < most) {
      b.of[c] = ((u32)x & 0x1fffff) + head - 1;
      b.inserted[c] = (u32)(x >> 21) & 0x1fffff;
      if (head) b.segments[(u32)x & 0x1fffff].begin = c, b.segments[(u32)x & 0x1fffff].list = b.changes[c].list;
    }
    before += total;
    sync_block();
  }
  u32 n = (u32)before & 0x1fffff;
  if (thread() == 0) {
    b.inserted[most] = (u32)(before >> 21) & 0x1fffff;
    b.segments[n].begin = (u32)(before >> 42);
  }
  sync_block();
  return n;
}

// A row of the list without a version, as row_at knows it; NONE64: its slabs are full. One lane.
#define NONE64 ~0ull
DEV u64 free_row(const Store& s, Head* h) {
  for (u32 i = 0; i < 2; i++)
    if (load_acquire(&h->rows[i].span) == FREE_ROW) return i;
  for (u32 slab = h->slab; slab; slab = slab_at(s, slab)->next)
    for (u32 i = 0; i < SLAB_ROWS; i++)
      if (load_acquire(&slab_at(s, slab)->rows[i].span) == FREE_ROW) return 2 + (u64)slab * SLAB_ROWS + i;
  return NONE64;
}

#if PIPELINE_HASH

DEV u32 used_entries(const Store& s, u64 array) { return array >> 32 ? *used_slots(s, array_of(s, array)) : 0; }
DEV bool in_place(u64 array, u32 used, u32 more) { return has_slots((u32)(array >> 32), used, more); }
DEV u32 room_of(u32 entries) { return slots_of(entries); }

#else

// Entries of an array, removed ones too.
DEV u32 used_entries(const Store&, u64 array) { return (u32)(array >> 32); }

// Whether more entries can be put into an array of which some are in use.
DEV bool in_place(u64, u32, u32) { return false; }

// The n of an array for some entries.
DEV u32 room_of(u32 entries) { return entries; }

#endif

// Decides which lists get new versions, and how long these are.
DEV void size_segments(const Pipe& p, const Batch& b, Desk* desk, u64 k, u32 segments) {
  if (thread() == 0) desk->dropped = 0;
  for (u32 s = thread(); s < segments; s += threads()) {
    Segment* g = &b.segments[s];
    Head* h = &p.store.heads[g->list];
    g->array = row_at(p.store, h, h->current)->array;
    g->cut = FOREVER, g->inserts = g->deleted = g->early = g->again = g->slab = g->side = g->n = g->fresh = 0;
    for (u32 c = g->begin; c < b.segments[s + 1].begin; c++) {
      if (removes(b.changes[c])) continue;
      u32 t = change_time(k, b.changes[c]);
      g->inserts++;
      if (t < g->cut) g->cut = t, g->side = b.changes[c].at >> 1 & 1;
    }
  }
  sync_block();
  for (u32 c = thread(); c < b.segments[segments].begin; c += threads()) {
    const Change x = b.changes[c];
    if (!removes(x)) continue;
    Segment* g = &b.segments[b.of[c]];
    if (c > g->begin && same_edge(b.changes[c - 1], x)) {
      atomic_add(&g->again, 1u);
      continue;
    }
    atomic_add(&g->deleted, 1u);
    if (change_time(k, x) < g->cut) atomic_add(&g->early, 1u);
  }
  sync_block();
  for (u32 s = thread(); s < segments; s += threads()) {
    Segment* g = &b.segments[s];
    Head* h = &p.store.heads[g->list];
    u32 used = used_entries(p.store, g->array);
    if (g->cut != FOREVER && in_place(g->array, used, g->inserts)) g->cut = FOREVER;
    else if (g->cut == FOREVER && used >= COMPACT_MIN && 2 * (u64)(h->dead + g->deleted) > used) {
      g->cut = 0;
      for (u32 c = g->begin; c < b.segments[s + 1].begin; c++)
        if (change_time(k, b.changes[c]) > g->cut) g->cut = change_time(k, b.changes[c]), g->side = b.changes[c].at >> 1 & 1;
      g->early = g->deleted;
    }
    if (g->cut == FOREVER) continue;
    if (h->dead + g->early) store_relaxed(&desk->dropped, 1u);
    g->n = room_of(used - h->dead - g->early + g->inserts);
    g->row = free_row(p.store, h);
  }
  sync_block();
}

// Takes blocks for the new versions of segments, or none. One warp.
DEV bool take_room(const Pipe& p, const Batch& b, Desk* desk, u32 segments) {
  const u32 slab = class_above(sizeof(Slab) / UNIT);
  Pool* pool = &desk->pool;
  u64 total = 0;
  u32 from = 0;
  bool all = true;
  for (; from < segments && all; from += 32) {
    bool mine = from + lane() < segments;
    Segment* g = &b.segments[mine ? from + lane() : segments - 1];
    bool fresh = mine && g->cut != FOREVER;
    u64 length = fresh ? g->array >> 32 : 0, sum = Warp::inclusive(length);
    if (mine) g->off = total + sum - length;
    total += shfl(ALL, sum, 31);
    u32 c = fresh ? array_class(p.store, g->n) : NO_CLASS, at = take_blocks(p.store, pool, c);
    bool full = fresh && g->row == NONE64;
    all = !any(ALL, c != NO_CLASS && at == 0);
    u32 rows = all && any(ALL, full) ? take_blocks(p.store, pool, full ? slab : NO_CLASS) : 0;
    if (fresh) g->fresh = at, g->slab = rows;
    all = all && !any(ALL, full && rows == 0);
  }
  for (u32 to = from, i = 0; i < to && !all; i += 32) { // what was taken
    bool mine = i + lane() < segments;
    Segment* g = &b.segments[mine ? i + lane() : segments - 1];
    bool fresh = mine && g->cut != FOREVER;
    const u32 array = fresh ? g->fresh : 0, rows = fresh ? g->slab : 0;
    give_blocks(p.store, pool, array, array ? array_class(p.store, g->n) : NO_CLASS);
    give_blocks(p.store, pool, rows, rows ? slab : NO_CLASS);
    if (fresh) g->fresh = g->slab = 0;
  }
  if (lane() == 0) desk->total = total, b.segments[segments].off = total;
  return all;
}

// take_room, or waits for memory. Returns 0; 1: half of the batch is to be tried; 2: leave. One warp.
DEV u32 find_room(const Pipe& p, const Batch& b, Desk* desk, u64 k, u32 n, u32 segments) {
  for (bool waited = false;; waited = true, spin()) {
    bool under_way = desk->reclaimed < k;
    sync_warp(ALL);
    if (take_room(p, b, desk, segments)) return 0;
    u32 leave = 0;
    if (lane() == 0) {
      if (!waited) p.flow->waits++;
      look(p, desk);
      leave = stopped(p);
    }
    if (shfl(ALL, leave, 0)) return 2;
    if (under_way) {
      reclaim(p, desk);
      continue;
    }
    if (n > 1) return 1;
    if (lane() == 0) fail(p, FAULT_FULL, k);
    return 2;
  }
}

// The entry of x with a label that is not removed; NONE: there is none. One lane.
DEV u32 find_entry(const Store& s, Array a, u32 x, u32 label) {
#if PIPELINE_HASH
  return find_slot(s, a, x, label);
#else
  for (u32 i = lower_bound(a.p, a.n, x); i < a.n && a.p[i] == x; i++)
    if ((s.words < 4 || a.p[3 * (u64)a.n + i] == label) && load_relaxed(&a.p[2 * (u64)a.n + i]) == FOREVER) return i;
  return NONE;
#endif
}

// Sets dt of the entries that the batch removes.
DEV void remove_entries(const Pipe& p, const Batch& b, Desk* desk, u64 k, u32 segments) {
  for (u32 c = thread(); c < b.segments[segments].begin; c += threads()) {
    const Change x = b.changes[c];
    const Segment* g = &b.segments[b.of[c]];
    if (!removes(x) || (c > g->begin && same_edge(b.changes[c - 1], x))) continue;
    Array a = array_of(p.store, g->array);
    u32 i = find_entry(p.store, a, x.id, x.label);
    if (i != NONE) {
      store_relaxed(&a.p[2 * (u64)a.n + i], change_time(k, x));
    } else {
      fail(p, FAULT_LIST, k + (x.at >> 2));
      store_relaxed(&desk->verdict, 2u);
    }
  }
}

// The segment, from lo on, whose array has element e of all arrays.
DEV u32 segment_of(const Batch& b, u32 lo, u32 segments, u64 e) {
  for (u32 hi = segments; lo + 1 < hi;) {
    u32 mid = (lo + hi) / 2;
    if (b.segments[mid].off <= e) lo = mid;
    else hi = mid;
  }
  return lo;
}

#if PIPELINE_HASH

// The array that additions to a list go to.
DEV Array additions_of(const Store& s, const Segment* g) { return g->cut == FOREVER ? array_of(s, g->array) : Array{at_unit(s, g->fresh), g->n}; }

// Copies what stays of all arrays with a new version.
DEV void copy_arrays(const Pipe& p, const Batch& b, Desk* desk, u32 segments) {
  for (u32 s = warp(); s < segments; s += warps()) {
    const Segment* g = &b.segments[s];
    if (g->cut != FOREVER) clear_slots(additions_of(p.store, g));
  }
  sync_block();
  for (u64 e = thread(); e < desk->total; e += threads()) {
    const Segment* g = &b.segments[segment_of(b, 0, segments, e)];
    const Array a = array_of(p.store, g->array);
    const u32 i = (u32)(e - g->off), id = id_at(a, i), dt = load_relaxed(&a.p[2 * (u64)a.n + i]);
    if (id != NONE && dt > g->cut) put_slot(p.store, additions_of(p.store, g), id, a.p[(u64)a.n + i], dt, p.store.words == 4 ? a.p[3 * (u64)a.n + i] : 0);
  }
  if (thread() == 0) p.flow->copied += desk->total;
}

#else

// Where word w of element j of a lane is on a warp's stage.
DEV u32 staged(u32 j, u32 w, u32 l) { return (j * 4 + w) * 32 + l; }
#define STAGED_BEFORE (4 * EACH * 32) // the id and label before the warp's first element

// Begins to copy a warp's elements of all arrays, from base on, to its stage. of are the segments of the lane's elements.
DEV void stage(const Pipe& p, const Batch& b, const Desk* desk, u32* to, u64 base, u32 segments, u32 (&of)[EACH]) {
  const u64 total = desk->total;
  if (base < total) {
    u32 at = segment_of(b, 0, segments, base);
    for (u32 j = 0; j < EACH; j++) {
      u64 first = base + 32 * j, e = first + lane();
      of[j] = at;
      if (b.segments[at + 1].off < first + 32) of[j] = segment_of(b, at, segments, min(e, total - 1));
      if (e < total) {
        Array a = array_of(p.store, b.segments[of[j]].array);
        u32 i = (u32)(e - b.segments[of[j]].off);
        for (u32 w = 0; w < p.store.words; w++) copy_async4(to + staged(j, w, lane()), a.p + (u64)w * a.n + i);
        if (j == 0 && lane() == 0 && i > 0) {
          copy_async4(to + STAGED_BEFORE, a.p + i - 1);
          if (p.store.words == 4) copy_async4(to + STAGED_BEFORE + 1, a.p + 3 * (u64)a.n + i - 1);
        }
      }
      at = shfl(ALL, of[j], 31);
    }
  }
  copy_commit();
}

// Writes an entry of an array of n entries.
DEV void put(const Pipe& p, u32 at, u32 n, u32 i, u32 id, u32 ct, u32 dt, u32 label) {
  u32* to = at_unit(p.store, at);
  to[i] = id;
  to[(u64)n + i] = ct;
  to[2 * (u64)n + i] = dt;
  if (p.store.words == 4) to[3 * (u64)n + i] = label;
}

// The number of elements that stay before this warp's, of which it has n, in a chunk; sum is that of the whole chunk. All threads of the block.
DEV u64 kept_before(Desk* desk, u32 n, u64& sum) {
  if (lane() == 0) desk->sums[warp()] = n;
  sync_block();
  u64 x = lane() < threads() / 32 ? desk->sums[lane()] : 0, to = Warp::inclusive(x);
  sum = shfl(ALL, to, 31);
  return shfl(ALL, to - x, warp());
}

// Copies what stays of all arrays with a new version to its place there, and finds the places of additions.
DEV void copy_arrays(const Pipe& p, const Batch& b, Desk* desk, u32 segments) {
  u32* room = (u32*)(shared() + sizeof(Desk)) + 2 * STAGE_WORDS * warp();
  const u64 total = desk->total, chunk = (u64)EACH * threads();
  const bool dropped = desk->dropped != 0, labels = p.store.words == 4;
  u64 kept = 0; // elements that stay, of chunks before
  u32 of[EACH], next[EACH], turn = 0;
  stage(p, b, desk, room, 32 * EACH * warp(), segments, next);
  for (u64 from = 0; from < total; from += chunk, turn ^= 1) {
    const u64 base = from + 32 * EACH * warp();
    const u32* x = room + turn * STAGE_WORDS;
    for (u32 j = 0; j < EACH; j++) of[j] = next[j];
    stage(p, b, desk, room + (turn ^ 1) * STAGE_WORDS, base + chunk, segments, next);
    copy_wait<1>();
    sync_warp(ALL); // a lane reads what others have copied, too
    u32 stays[EACH];
    for (u32 j = 0; j < EACH; j++) {
      bool live = base + 32 * j + lane() < total;
      stays[j] = ballot(ALL, live && x[staged(j, 2, lane())] > b.segments[live ? of[j] : 0].cut);
    }
    u64 before = 0;
    if (dropped) {
      u32 n = 0;
      u64 sum;
      for (u32 j = 0; j < EACH; j++) n += popc(stays[j]);
      before = kept + kept_before(desk, n, sum);
      kept += sum;
      u64 rank = before;
      for (u32 j = 0; j < EACH; j++) {
        u64 e = base + 32 * j + lane();
        if (e < total && e == b.segments[of[j]].off) b.segments[of[j]].base = (u32)(rank + popc(stays[j] & Warp::below()));
        rank += popc(stays[j]);
      }
      sync_block();
    }
    for (u32 j = 0; j < EACH; j++) {
      u64 e = base + 32 * j + lane();
      if (e < total) {
        const u32 s = of[j];
        const Segment* g = &b.segments[s];
        u32 i = (u32)(e - g->off), rank = dropped ? (u32)(before + popc(stays[j] & Warp::below())) - g->base : i;
        u32 id = x[staged(j, 0, lane())], label = labels ? x[staged(j, 3, lane())] : 0;
        bool keep = stays[j] >> lane() & 1;
        u32 end = b.segments[s + 1].begin, first = b.inserted[g->begin], c = g->begin;
        u32 low = changes_below(b.changes, g->begin, end, id, label);
        if (i > 0 && low > c) {
          bool own = lane() > 0 || j > 0;
          u32 at = lane() > 0 ? staged(j, 0, lane() - 1) : staged(j - 1, 0, 31);
          u32 label_at = lane() > 0 ? staged(j, 3, lane() - 1) : staged(j - 1, 3, 31);
          u32 id_before = x[own ? at : STAGED_BEFORE], label_before = labels ? x[own ? label_at : STAGED_BEFORE + 1] : 0;
          c = changes_below(b.changes, g->begin, low, id_before, label_before);
        }
        for (; c < low; c++) b.place[c] = b.inserted[c] - first + rank;
        if (i + 1 == (u32)(g->array >> 32))
          for (; c < end; c++) b.place[c] = b.inserted[c] - first + rank + keep;
        if (keep) put(p, g->fresh, g->n, rank + b.inserted[low] - first, id, x[staged(j, 1, lane())], x[staged(j, 2, lane())], label);
      }
      before += popc(stays[j]);
    }
    sync_warp(ALL); // before the stage is written again
  }
  copy_wait<0>();
  if (thread() == 0) p.flow->copied += total;
}

#endif

// Writes the additions.
DEV void add_entries(const Pipe& p, const Batch& b, u64 k, u32 segments) {
  u32 changes = b.segments[segments].begin;
  for (u32 c = thread(); c < changes; c += threads()) {
    const Change x = b.changes[c];
    if (removes(x)) continue;
    const Segment* g = &b.segments[b.of[c]];
    bool again = c + 1 < changes && same_edge(b.changes[c + 1], x);
    u32 dt = again ? change_time(k, b.changes[c + 1]) : FOREVER;
#if PIPELINE_HASH
    put_slot(p.store, additions_of(p.store, g), x.id, change_time(k, x), dt, x.label);
#else
    u32 at = g->array >> 32 ? b.place[c] : b.inserted[c] - b.inserted[g->begin];
    put(p, g->fresh, g->n, at, x.id, change_time(k, x), dt, x.label);
#endif
  }
}

// Makes the new versions known to searches of later updates.
DEV void publish_rows(const Pipe& p, const Batch& b, u64 k, u32 segments) {
  for (u32 s = thread(); s < segments; s += threads()) {
    Segment* g = &b.segments[s];
    Head* h = &p.store.heads[g->list];
#if PIPELINE_HASH
    const u32 used = used_entries(p.store, g->array), left = g->cut == FOREVER ? used : used - h->dead - g->early;
    if (g->inserts || g->cut != FOREVER) *used_slots(p.store, additions_of(p.store, g)) = left + g->inserts;
#endif
    if (g->cut == FOREVER) {
      h->dead += g->deleted + g->again;
      continue;
    }
    if (g->slab) {
      Slab* slab = slab_at(p.store, g->slab);
      for (u32 i = 0; i < SLAB_ROWS; i++) store_relaxed(&slab->rows[i].span, FREE_ROW);
      slab->next = h->slab;
      fence();
      store_release(&h->slab, g->slab);
      g->row = 2 + (u64)g->slab * SLAB_ROWS;
    }
    Row *old = row_at(p.store, h, h->current), *now = row_at(p.store, h, g->row);
    store_relaxed(&now->array, (u64)g->n << 32 | g->fresh);
    fence();
    store_release(&now->span, span_of(g->cut, FOREVER));
    store_release(&old->span, span_of((u32)load_relaxed(&old->span), g->cut));
    h->current = g->row;
    h->dead = g->deleted - g->early + g->again;
    Slot* slot = &p.slots[(k + (u32)(g->cut - time_of(k))) & (p.window - 1)];
    slot->row[g->side] = old;
    slot->array[g->side] = g->array;
  }
}

// Brings updates k … k+n-1 into the store, or the first half of them if memory is short. Returns how many; 0: leave.
DEV u32 apply(const Pipe& p, const Batch& b, Desk* desk, u64 k, u32 n) {
  for (;; n = (n + 1) / 2) {
    u32 most = sort_changes(p, b, k, n);
    u32 segments = find_segments(b, desk, most);
    size_segments(p, b, desk, k, segments);
    if (thread() == 0) step(desk, STEP_SORT);
    if (warp() == 0) {
      u32 x = find_room(p, b, desk, k, n, segments);
      if (lane() == 0) desk->verdict = x, step(desk, STEP_ROOM);
    }
    sync_block();
    u32 verdict = desk->verdict;
    sync_block();
    if (verdict == 2) return 0;
    if (verdict == 1) continue;
    remove_entries(p, b, desk, k, segments);
    sync_block();
    verdict = desk->verdict;
    sync_block();
    if (verdict) return 0;
    if (thread() == 0) step(desk, STEP_REMOVE);
    copy_arrays(p, b, desk, segments);
    sync_block();
    if (thread() == 0) step(desk, STEP_COPY);
    add_entries(p, b, k, segments);
    sync_block();
    publish_rows(p, b, k, segments);
    sync_block();
    return n;
  }
}

// The updater's block. It ends when the host has closed the flow, or with an error.
DEV void updater(const Pipe& p) {
  Desk* desk = (Desk*)shared();
  const Batch b = batch_room(p);
  Flow* f = p.flow;
  u64 k = f->applied, tasks = f->ready; // as the kernel finds them
  if (thread() == 0) {
    desk->pool = *p.pool, desk->posted = k, desk->looked = 0, desk->reclaimed = f->reclaimed, desk->reclaimed_end = f->reclaimed_end;
    for (u32 i = 0; i < STEPS; i++) desk->steps[i] = load_relaxed_system(&p.control->steps[i]);
    desk->since = nanotime();
  }
  sync_block();
  for (;;) {
    if (warp() == 0) {
      u32 n = gather(p, desk, k, tasks);
      if (lane() == 0) desk->size = n, step(desk, STEP_GATHER);
    }
    sync_block();
    u32 left = desk->size;
    sync_block();
    if (left == 0) break;
    const u64 fetched = desk->end;
    fetch(p, k, left, tasks, fetched);
    sync_block();
    if (thread() == 0) store_release_system(&p.control->taken, k + left), step(desk, STEP_FETCH);
    while (left > 0) {
      u32 n = apply(p, b, desk, k, left);
      if (n == 0) break;
      k += n, left -= n;
      tasks += p.slots[(k - 1) & (p.window - 1)].x.tasks - (u32)tasks;
      if (thread() == 0) {
        f->batches++;
        fence();
        store_release(&f->applied, k);
        store_release(&f->ready, tasks);
        step(desk, STEP_PUBLISH);
        for (u32 i = 0; i < STEPS; i++) store_relaxed_system(&p.control->steps[i], desk->steps[i]);
      }
    }
    sync_block();
    if (left > 0 || tasks != fetched) break;
  }
  if (warp() == 0) reclaim(p, desk); // what the collector has ended since
  if (thread() == 0) {
    look(p, desk);
    *p.pool = desk->pool, f->reclaimed = desk->reclaimed, f->reclaimed_end = desk->reclaimed_end;
    f->ended_at = k;
    fence();
    store_release(&f->ended, 1u);
    store_release_system(&p.control->ended, 1u);
  }
}

#endif
