// The executors' search: a warp searches the nest of one changed edge, depth first, at one time of the multi-version graph.
//
// DCSM, chapter 4.5. Plans are data. The candidates of a place are in the shortest list that leads there, and each lane tests one:
// whether its time sees the entry, the ranges of its label classes, its order among the vertices that are chosen, and
// whether all other lists have it. A place keeps 32 candidates at a time, so a warp needs memory for its places alone, whatever
// the lists' lengths. The last place is counted by votes, or its rows go to the host.
//
// A nest at word n of the program:
//
//   places, needs of place 0, needs of place 1, 0
//   for each place from 2 on PLACE_WORDS words: see Place
//
// A task may also be a group: several nests of one changed edge, whose matches are counted together. It is searched by one warp, which may give parts of each
// nest away. A group at word n of the program:
//
//   GROUP | nests, and for each nest its word << 1 | flip
//
// flip: the second end of the edge is at place 0, and the first one at place 1.
//
// The needs of a place are the directions in which later places read its list: 1 for out, 2 for in. A link to an earlier place is two words: the
// place with its direction above it (place | direction << 8; direction 2 is either), and the word where the bits of its
// labels are, or 0 for all labels.
//
// A baseline of the thesis' Table 19 extends a match by one edge at a time: candidates are the edges of one list, and each other edge of the
// place is found by going through a list. Another one has hash sets for lists (PIPELINE_HASH): all their slots are candidates, of which many are free.
//
// Rows: see Rows. The host takes them in their order, and sorts those of a task.
#ifndef WEFT_PIPELINE_SEARCH
#define WEFT_PIPELINE_SEARCH
#include "pipeline/roles.cuh"

#define PLACE_WORDS 8u
#define GROUP 0x10000u // more than the places of a nest
#define BEAT 64u // chunks between two looks at the stop flag

// Go's nest.Tail.
#define TAIL_NONE 0u
#define TAIL_FREE 1u     // the last two vertices may be the same
#define TAIL_DISTINCT 2u // they differ
#define TAIL_ORDERED 3u  // their sets are the same, and one vertex has the greater id

// What the program says about a place.
struct Place {
  u32 need;                // as above
  u32 yes, links;          // links that must be there come first, then those that must not
  u32 apart, above, below; // bits of earlier places: it differs from them, has a greater id, has a smaller id
  u32 ranges;              // the word of their number, followed by their ends; 0: all ids
  u32 at;                  // the word of the first link
};

// A place of the search, in shared memory.
struct Frame {
  Array lists[2];      // out and in, of the vertex there
  u32 vertex;
  u32 base;            // the link whose list has the candidates
  u32 next, end;       // entries of that list: the next one, and the end. Those of the second list of either follow those of the first
  u32 left;            // bits of candidates that are not searched yet
  u32 pad;
  u32 candidates[32];
};

struct Rows {
  u32* words; // mapped: rows of width words: the task's number, the vertices by place, and last a stamp
  u32 room;   // rows: a power of 2, at least 32
  u32 width;
};

struct Searching {
  Pipe pipe;
  const u32* program;
  u64* counts; // mapped: matches of task i at i % host_tasks
  Rows rows;
  u32 most;    // places of a nest, at most
  u32 by_edge; // not 0: matches are extended edge by edge, without use of the lists' order
};

struct Link {
  u32 place, dir;
  Labels labels;
};

DEV Link link_at(const u32* program, u32 at) {
  u32 x = program[at], l = program[at + 1];
  return Link{x & 0xff, x >> 8, Labels{l ? program + l : nullptr}};
}

// contains, for a list without an order: all its edges are gone through. One lane.
DEV bool contains_by_edge(Array a, u32 x, u32 t, Labels l) {
  for (u32 i = 0; i < a.n; i++)
    if (id_at(a, i) == x && visible(a, i, t) && has_label(a, i, l)) return true;
  return false;
}

// Whether time t sees x at the other end of a link. One lane.
DEV bool linked(const Searching& s, const Frame* f, Link l, u32 x, u32 t) {
  const Array* a = f[l.place].lists;
  if (s.by_edge) return (l.dir != 1 && contains_by_edge(a[0], x, t, l.labels)) || (l.dir != 0 && contains_by_edge(a[1], x, t, l.labels));
  if (l.dir != 1 && contains(a[0], x, t, l.labels)) return true;
  return l.dir != 0 && contains(a[1], x, t, l.labels);
}

DEV u32 link_length(const Frame* f, Link l) {
  const Array* a = f[l.place].lists;
  return (l.dir != 1 ? a[0].n : 0) + (l.dir != 0 ? a[1].n : 0);
}

// Puts a vertex at a place.
DEV void choose(const Searching& s, Frame* f, u32 v, u32 need, u32 t) {
  Array a[2];
  for (u32 d = 0; d < 2; d++)
    if (need >> d & 1) a[d] = version(s.pipe.store, s.pipe.directed ? 2 * v + d : v, t);
  sync_warp(ALL);
  if (lane() == 0) {
    f->vertex = v;
    for (u32 d = 0; d < 2; d++)
      if (need >> d & 1) f->lists[d] = a[d];
  }
  sync_warp(ALL);
}

// Begins with the candidates of place l: takes the shortest list, and of it what the order of ids allows.
DEV void enter(const Searching& s, Frame* f, u32 l, const Place& p) {
  u32 best = 0, length = NONE;
  for (u32 i = 0; i < (s.by_edge ? 1 : p.yes); i++) {
    u32 n = link_length(f, link_at(s.program, p.at + 2 * i));
    if (n < length) best = i, length = n;
  }
  Link base = link_at(s.program, p.at + 2 * best);
  u32 begin = 0, end = length;
  if (base.dir != 2 && !s.by_edge && !PIPELINE_HASH) {
    u32 lo = 0, hi = NONE;
    for (u32 x = p.above; x; x &= x - 1) lo = max(lo, f[ctz(x)].vertex + 1);
    for (u32 x = p.below; x; x &= x - 1) hi = min(hi, f[ctz(x)].vertex);
    if (p.ranges && s.program[p.ranges] == 1) {
      lo = max(lo, s.program[p.ranges + 1]);
      hi = min(hi, s.program[p.ranges + 2]);
    }
    Array a = f[base.place].lists[base.dir];
    if (lo > 0) begin = lower_bound(Warp{}, a.p, a.n, lo);
    if (hi != NONE) end = max(begin, lower_bound(Warp{}, a.p, a.n, hi));
  }
  sync_warp(ALL);
  if (lane() == 0) f[l].base = best, f[l].next = begin, f[l].end = end, f[l].left = 0;
  sync_warp(ALL);
}

// Whether x may be at place l, except for the list that it comes from. One lane.
DEV bool fits(const Searching& s, const Frame* f, const Place& p, u32 base, u32 x, u32 t) {
  for (u32 b = p.above; b; b &= b - 1)
    if (x <= f[ctz(b)].vertex) return false;
  for (u32 b = p.below; b; b &= b - 1)
    if (x >= f[ctz(b)].vertex) return false;
  for (u32 b = p.apart; b; b &= b - 1)
    if (x == f[ctz(b)].vertex) return false;
  if (p.ranges) {
    u32 n = s.program[p.ranges], i = 0;
    while (i < n && !(s.program[p.ranges + 1 + 2 * i] <= x && x < s.program[p.ranges + 2 + 2 * i])) i++;
    if (i == n) return false;
  }
  for (u32 i = 0; i < p.links; i++)
    if (i != base && linked(s, f, link_at(s.program, p.at + 2 * i), x, t) != (i < p.yes)) return false;
  return true;
}

// Tests the next 32 entries for place l. Returns the votes; x is the lane's.
DEV u32 test(const Searching& s, Frame* f, u32 l, const Place& p, u32 t, u32& x) {
  Link base = link_at(s.program, p.at + 2 * f[l].base);
  u32 i = f[l].next + lane(), end = f[l].end;
  bool good = i < end;
  x = NONE;
  if (good) {
    const Array* lists = f[base.place].lists;
    bool second = base.dir == 1 || (base.dir == 2 && i >= lists[0].n);
    Array a = second ? lists[1] : lists[0];
    u32 k = base.dir == 2 && second ? i - lists[0].n : i;
    x = id_at(a, k);
    good = stands_for(a, k, t, base.labels) && !(base.dir == 2 && second && contains(lists[0], x, t, base.labels)) &&
           fits(s, f, p, f[l].base, x, t);
  }
  u32 votes = ballot(ALL, good);
  sync_warp(ALL);
  if (lane() == 0) f[l].next = min(end, f[l].next + 32);
  sync_warp(ALL);
  return votes;
}

// Writes a row for each lane of the votes, whose vertex at the last place is x. False: stopped.
DEV bool emit(const Searching& s, const Frame* f, u32 last, u32 votes, u32 x, u64 task) {
  Flow* flow = s.pipe.flow;
  u32 n = popc(votes), go = 1;
  u64 at = 0;
  if (lane() == 0) {
    at = atomic_add(&flow->reserved, (u64)n);
    while (at + n > load_relaxed(&flow->drained) + s.rows.room) {
      u64 d = load_acquire_system(&s.pipe.control->drained);
      atomic_max(&flow->drained, d);
      if (at + n <= d + s.rows.room) break;
      if (stopped(s.pipe)) {
        go = 0;
        break;
      }
      spin();
    }
  }
  at = shfl(ALL, at, 0);
  if (!shfl(ALL, go, 0)) return false;
  if (votes >> lane() & 1) {
    u64 i = at + popc(votes & Warp::below());
    u32* row = s.rows.words + (i & (s.rows.room - 1)) * s.rows.width;
    row[0] = (u32)task;
    for (u32 l = 0; l < last; l++) row[1 + l] = f[l].vertex;
    row[1 + last] = x;
    fence_system();
    store_release_system(&row[s.rows.width - 1], (u32)(i / s.rows.room) + 1);
  }
  return true;
}

// Counts a chunk. False: the kernel is stopped.
DEV bool beat(const Searching& s, u32& steps) {
  if (++steps % BEAT != 0) return true;
  if (warp_stopped(s.pipe)) return false;
  if (lane() == 0) atomic_add(&s.pipe.flow->beat, (u64)1);
  return true;
}

// Counts the vertices that fit place l, and in both those of them that fit place other too; other is null if nobody asks. False: stopped.
DEV bool size_of(const Searching& s, Frame* f, u32 l, const Place& p, const Place* other, u32 t, u32& steps, u64& size, u64& both) {
  enter(s, f, l, p);
  while (f[l].next != f[l].end) {
    if (!beat(s, steps)) return false;
    u32 x, votes = test(s, f, l, p, t, x);
    size += popc(votes);
    if (other && votes) both += popc(ballot(ALL, (votes >> lane() & 1) && fits(s, f, *other, NONE, x, t)));
  }
  return true;
}

// Counts the choices for the last two places, of which neither depends on the other's vertex, by the sizes of their sets. Visibility makes
// the sizes of sets numbers of entries that are looked at: each set is read once, instead of the last one once for each vertex of the other.
// False: stopped.
DEV bool pairs(const Searching& s, Frame* f, u32 last, const Place* places, u32 tail, u32 t, u32& steps, u64& count) {
  u64 a = 0, b = 0, both = 0;
  if (lane() == 0) f[last - 1].vertex = NONE; // no vertex differs from it yet
  sync_warp(ALL);
  if (!size_of(s, f, last - 1, places[last - 1], tail == TAIL_DISTINCT ? &places[last] : nullptr, t, steps, a, both)) return false;
  if (a == 0) return true;
  if (tail == TAIL_ORDERED) {
    count += a * (a - 1) / 2;
    return true;
  }
  u64 none = 0;
  if (!size_of(s, f, last, places[last], nullptr, t, steps, b, none)) return false;
  count += a * b - both;
  return true;
}

// Gives part of the remaining candidates away, at the first place from floor to top that has some: half of them, and at most all but the
// one that is under way. Returns whether it did. parted says that the search is part of a task already. Collective.
DEV bool give(const Searching& s, Frame* f, u32 nest, u32 floor, u32 top, bool deeper, u32 last, u64 number, bool parted) {
  u32 go = 0;
  if (lane() == 0) go = share_wanted(s.pipe);
  if (!shfl(ALL, go, 0)) return false;
  u32 l = floor, entries = 0, bits = 0;
  for (; l <= top; l++) {
    bool busy = l < top || deeper; // with a candidate of this place
    u32 n = f[l].end - f[l].next, left = f[l].left, k = popc(left);
    entries = l == last ? (n > 64 ? n / 2 & ~31u : 0) : (n + busy) / 2;
    bits = left;
    for (u32 keep = k - (k + busy) / 2; keep > 0; keep--) bits &= bits - 1;
    if (entries || bits) break;
  }
  if (l > top) return false;
  u64 at = 0;
  if (lane() == 0) {
    go = claim_share(s.pipe, at);
    if (go) atomic_add(&parts_of(s.pipe, number)->open, parted ? 1u : 2u);
  }
  if (!shfl(ALL, go, 0)) return false;
  at = shfl(ALL, at, 0);
  sync_warp(ALL); // what the first lane has acquired is there for all
  Share* x = share_at(s.pipe, at);
  const u32 base = f[l].base, end = f[l].end, left = f[l].left;
  if (lane() < l) x->vertices[lane()] = f[lane()].vertex;
  if (bits >> lane() & 1) x->candidates[lane()] = f[l].candidates[lane()];
  sync_warp(ALL);
  if (lane() == 0) {
    x->place = l, x->base = base, x->next = end - entries, x->end = end, x->left = bits, x->number = number, x->nest = nest;
    f[l].end = end - entries, f[l].left = left & ~bits;
    fence();
    store_release(&x->turn, turn_of(s.pipe, at) + 1);
  }
  sync_warp(ALL);
  return true;
}

// Begins with a part of a search, and gives its place in the ring back. Returns the place whose candidates it has. Collective.
DEV u32 begin_part(const Searching& s, Frame* f, const u32* nest, const Place* places, Share* x, u32 t) {
  const u32 l = x->place, base = x->base, next = x->next, end = x->end, left = x->left, turn = load_relaxed(&x->turn);
  for (u32 j = 0; j < l; j++) choose(s, &f[j], x->vertices[j], j < 2 ? nest[1 + j] : places[j].need, t);
  if (left >> lane() & 1) f[l].candidates[lane()] = x->candidates[lane()];
  if (lane() == 0) f[l].base = base, f[l].next = next, f[l].end = end, f[l].left = left;
  sync_warp(ALL);
  if (lane() == 0) {
    fence();
    store_release(&x->turn, turn + 1);
  }
  return l;
}

// The search of one nest of a task, or of part of it. at is its word of the program; flip as above. It adds to the count. parted says that parts of the
// task are elsewhere, or that this is one. False: stopped.
DEV bool search_nest(const Searching& s, Frame* f, const Task& task, u32 at, bool flip, u64 number, u32 t, Share* part, u64& count, u32& steps, bool& parted) {
  const u32* nest = s.program + at;
  const Place* places = (const Place*)(nest + 4) - 2;
  const u32 last = nest[0] - 1;
  const bool list = task.what >> 1 & 1;
  const u32 tail = list || s.by_edge ? TAIL_NONE : nest[3];
  const u32 closed = tail == TAIL_NONE ? NONE : last - 1; // the place from which on all is counted together
  u32 l = 1, floor = 2, looked = steps;
  bool fresh = true; // the candidates of place l are not there yet
  if (part) {
    floor = l = begin_part(s, f, nest, places, part, t);
    fresh = false;
  } else {
    const u32 u = task.first[flip], v = task.first[!flip];
    choose(s, &f[0], u, nest[1], t);
    choose(s, &f[1], v, nest[2], t);
    if (last > 1) l = 2;
    else if (list ? emit(s, f, 1, 1, v, number) : true) count++;
  }
  while (l >= floor) {
    if (s.pipe.share && steps - looked >= s.pipe.share) {
      looked = steps;
      if (give(s, f, at, floor, fresh ? l - 1 : l, fresh, last, number, parted)) parted = true;
    }
    if (fresh) {
      if (l == closed) {
        if (!pairs(s, f, last, places, tail, t, steps, count)) return false;
        l--, fresh = false;
        continue;
      }
      enter(s, f, l, places[l]);
      fresh = false;
    }
    u32 left = f[l].left;
    if (left) {
      u32 v = f[l].candidates[ctz(left)];
      sync_warp(ALL);
      if (lane() == 0) f[l].left = left & (left - 1);
      choose(s, &f[l], v, places[l].need, t);
      l++, fresh = true;
      continue;
    }
    if (f[l].next == f[l].end) {
      l--;
      continue;
    }
    if (!beat(s, steps)) return false;
    u32 x, votes = test(s, f, l, places[l], t, x);
    if (l == last) {
      if (list && votes && !emit(s, f, last, votes, x, number)) return false;
      count += popc(votes);
      continue;
    }
    f[l].candidates[lane()] = x;
    if (lane() == 0) f[l].left = votes;
    sync_warp(ALL);
  }
  return true;
}

// The search of one task, or of part of it. what is the nest or group << 2 | list << 1 | after. Returns whether the task is done.
DEV bool search(const Searching& s, const Task& task, u64 number, u32 t, Share* part) {
  Frame* f = (Frame*)(shared() + (u64)warp() * s.most * sizeof(Frame));
  u32 at = task.what >> 2, n = 1, steps = 0;
  const u32* group = nullptr;
  if (part) at = part->nest;
  else if (s.program[at] & GROUP) group = s.program + at + 1, n = s.program[at] & (GROUP - 1);
  t += task.what & 1;
  u64 count = 0;
  bool parted = part != nullptr;
  for (u32 i = 0; i < n; i++) {
    bool flip = false;
    if (group) at = group[i] >> 1, flip = group[i] & 1;
    if (!search_nest(s, f, task, at, flip, number, t, part, count, steps, parted)) return false;
  }
  u32 done = 0;
  if (lane() == 0) {
    done = !parted || end_part(s.pipe, number, count);
    if (done) store_relaxed_system(&s.counts[number & (s.pipe.host_tasks - 1)], count);
  }
  return shfl(ALL, done, 0);
}

// The threads of a block, which bound the registers of a thread.
#ifndef PIPELINE_THREADS
#define PIPELINE_THREADS 512
#endif

WEFT_KERNEL(pipeline, Searching, LAUNCH_BOUNDS(PIPELINE_THREADS, 1)) {
  roles(p.pipe, [&](const Task& task, u64 number, const Update&, u32 t, Share* part) { return search(p, task, number, t, part); });
}

#endif
