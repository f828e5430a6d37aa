// The search of nests: which matches do changed edges add or remove. After GCSM, over a stack as STMatch's.
//
// A task is a nest, the vertices of its anchor, and a version. A warp takes tasks one by one, and searches each by depth first with
// a stack in shared memory. The candidates of a place are the shortest of the lists that they must be in: N without what is marked, and
// then what is in ΔN at the version. The warp looks at 32 of them at a time, one for each lane, which looks for its own in the other lists. So
// a list may have any length. Candidates that pass stay on the stack as a window: their ids and a mask. The last place is counted by votes.
//
// The nests are data: see program.go of package stream/cached, which writes the words that NestProgram reads. A task may be one part of
// several: it takes every parts-th window of the first place.
//
// Requirements: blocks of whole warps; shared memory of warps() * NestParams.room bytes. The matches of a task are fewer than 2^64. Rows behind
// NestParams.rows are counted, and not written. The host twin is package stream/host.
#ifndef WEFT_NEST_SEARCH
#define WEFT_NEST_SEARCH
#include "nest/lists.cuh"

#define NEST_MOST 32        // places of a nest
#define NEST_POLL_NS 1000000ull
#define NEST_OFTEN 64       // windows between two looks at the clock

struct NestTask {
  u32 nest;        // where its words begin
  u32 at;          // the version, from the beginning of the window on
  u32 first[2];    // the vertices of the anchor
  u32 part, parts;
  u32 result;      // the count that it adds to
  u32 list;        // 1: its matches are rows too
};

struct NestState {
  u64 next;   // tasks taken so far
  u64 rows;   // rows so far, also those that had no room
  u64 poll_at;
  u64 host, device, hits, misses; // what was read
  u64 done;   // warps that left because there were no more tasks
  u32 stop, unused;
};

// Lies in mapped host memory.
struct NestControl {
  u32 stop;  // of the host: not 0: leave
  u32 beat;  // changes while warps get on
  u32 ended; // not 0: all tasks are done
};

struct NestParams {
  const NestTask* tasks;
  const u32* program;
  const NestHead* const* relations;
  u64* counts;
  u32* rows;        // width words each: the result, and the vertices by places
  NestState* state;
  NestControl* control;
  NestCache cache;
  u64 row_room;     // rows
  u32 task_count, width;
  u32 room;         // bytes of shared memory of a warp
  u32 most_lists;   // of a nest
};

// The words of a nest: places, places of the anchor, and for each place behind those a NestPlace. Lists are pairs of words.
struct NestPlace {
  u32 pos, all;            // the first pos of its lists are those that a candidate is in; it is in none of the others
  u32 lists;               // the number of the first among those of the nest
  u32 apart, above, below; // earlier places, as bits
  u32 ranges, range_count; // of ids; 0: any. Where their words begin
  u32 words;               // where the words of its lists begin: a relation, and the place whose list it is
};

// One place of the stack.
struct NestFrame {
  u32 mask;      // candidates of the window that are left
  u32 base;      // the list, of those of the place, that candidates are taken from
  u32 at, end;   // of its positions: first those of a slice of N, then those of ΔN
  u32 from;      // where the slice begins
  u32 slice;     // its length
};

struct NestWarp {
  const NestParams& p;
  NestFrame* frames;
  u32* window;     // 32 ids of each place
  u32* a;          // the vertices so far
  NestList* lists;
  NestRead read;
  u64 count;
  const u32* nest;
  NestTask task;
  u32 places, first, ticks;
  bool over; // to leave

  DEV NestWarp(const NestParams& params) : p(params), read{0, 0, 0, 0}, count(0), ticks(0), over(false) {
    u8* mine = shared() + (u64)warp() * p.room;
    lists = (NestList*)mine;
    frames = (NestFrame*)(lists + p.most_lists);
    window = (u32*)(frames + (p.width - 1));
    a = window + 32 * (p.width - 1);
  }

  DEV const NestPlace& place(u32 l) const { return *(const NestPlace*)(nest + 2 + (l - first) * (sizeof(NestPlace) / 4)); }

  DEV bool stopped() {
    u32 s = 0;
    if (lane() == 0) {
      NestState* st = p.state;
      s = load_relaxed(&st->stop);
      u64 now = nanotime(), due = load_relaxed(&st->poll_at);
      if (!s && now >= due && atomic_cas(&st->poll_at, due, now + NEST_POLL_NS) == due) {
        store_relaxed_system(&p.control->beat, (u32)(now / NEST_POLL_NS));
        if (load_relaxed_system(&p.control->stop)) {
          store_relaxed(&st->stop, 1u);
          s = 1;
        }
      }
    }
    over = shfl(ALL, s, 0) != 0;
    return over;
  }

  // Makes place l ready, behind vertices that have just been chosen.
  DEV void open(u32 l) {
    const NestPlace& x = place(l);
    for (u32 i = lane(); i < x.all; i += 32)
      lists[x.lists + i] = nest_list(p.cache, p.relations, p.program[x.words + 2 * i], a[p.program[x.words + 2 * i + 1]], read);
    sync_warp(ALL);
    u32 base = 0, least = ~0u;
    for (u32 i = 0; i < x.pos; i++) {
      u32 n = lists[x.lists + i].n + lists[x.lists + i].d;
      if (n < least) base = i, least = n;
    }
    u32 lo = 0, hi = NEST_MARK;
    for (u32 m = x.above; m; m &= m - 1) lo = max(lo, a[ctz(m)] + 1);
    for (u32 m = x.below; m; m &= m - 1) hi = min(hi, a[ctz(m)]);
    if (x.range_count == 1) {
      lo = max(lo, p.program[x.ranges]);
      hi = min(hi, p.program[x.ranges + 1]);
    }
    const NestList l0 = lists[x.lists + base];
    u32 from = 0, to = l0.n;
    // One lane looks, so that what is read is counted once.
    if (lane() == 0) {
      if (lo > 0) from = nest_below(l0, lo, read);
      if (hi < NEST_MARK) to = nest_below(l0, hi, read);
      if (to < from) to = from;
    }
    from = shfl(ALL, from, 0);
    to = shfl(ALL, to, 0);
    sync_warp(ALL);
    if (lane() == 0) {
      u32 slice = to - from;
      frames[l] = NestFrame{0, base, l == first ? 32 * task.part : 0, slice + l0.d, from, slice};
    }
    sync_warp(ALL);
  }

  // Whether the lane's candidate x of place l passes.
  DEV bool fits(const NestPlace& x, u32 base, u32 c) {
    for (u32 m = x.apart; m; m &= m - 1)
      if (a[ctz(m)] == c) return false;
    for (u32 m = x.above; m; m &= m - 1)
      if (a[ctz(m)] >= c) return false;
    for (u32 m = x.below; m; m &= m - 1)
      if (a[ctz(m)] <= c) return false;
    if (x.range_count > 0) {
      bool in = false;
      for (u32 i = 0; i < x.range_count && !in; i++) in = p.program[x.ranges + 2 * i] <= c && c < p.program[x.ranges + 2 * i + 1];
      if (!in) return false;
    }
    for (u32 i = 0; i < x.all; i++) {
      if (i == base) continue;
      if (nest_has(lists[x.lists + i], c, task.at, read) != (i < x.pos)) return false;
    }
    return true;
  }

  // The next window of place l that has candidates: true. False: there is none.
  DEV bool advance(u32 l) {
    const NestPlace& x = place(l);
    const u32 step = l == first ? 32 * task.parts : 32;
    for (;;) {
      NestFrame f = frames[l];
      sync_warp(ALL);
      if (f.at >= f.end) return false;
      const NestList& b = lists[x.lists + f.base];
      u32 i = f.at + lane(), c = 0;
      bool live = i < f.end;
      if (live && i < f.slice) {
        c = b.p[f.from + i];
        nest_count(b, 1, read);
        live = !(c & NEST_MARK);
      } else if (live) {
        i -= f.slice;
        c = b.p[b.n + i];
        nest_count(b, 3, read);
        live = nest_alive(b, i, task.at);
      }
      live = live && fits(x, f.base, c);
      u32 mask = ballot(ALL, live);
      window[32 * l + lane()] = c;
      if (lane() == 0) {
        frames[l].at = f.at > ~0u - step ? ~0u : f.at + step;
        frames[l].mask = mask;
      }
      sync_warp(ALL);
      if (mask) return true;
      if (++ticks % NEST_OFTEN == 0 && stopped()) return false;
    }
  }

  // Takes the matches that the window of the last place has.
  DEV void matches(u32 l) {
    u32 mask = frames[l].mask, n = popc(mask);
    count += n;
    if (task.list) {
      u64 at = 0;
      if (lane() == 0) at = atomic_add(&p.state->rows, (u64)n);
      at = shfl(ALL, at, 0) + popc(mask & Warp::below());
      if (mask >> lane() & 1 && at < p.row_room) {
        u32* to = p.rows + at * p.width;
        to[0] = task.result;
        for (u32 i = 0; i < l; i++) to[1 + i] = a[i];
        to[1 + l] = window[32 * l + lane()];
      }
    }
    sync_warp(ALL);
  }

  DEV void search() {
    nest = p.program + task.nest;
    places = nest[0];
    first = nest[1];
    if (lane() < first) a[lane()] = task.first[lane()];
    sync_warp(ALL);
    count = 0;
    if (first == places) { // the anchor is the match
      if (lane() == 0) {
        atomic_add(&p.counts[task.result], (u64)1);
        u64 at = task.list ? atomic_add(&p.state->rows, (u64)1) : p.row_room;
        if (at < p.row_room) {
          p.rows[at * p.width] = task.result;
          for (u32 i = 0; i < first; i++) p.rows[at * p.width + 1 + i] = a[i];
        }
      }
      return;
    }
    u32 l = first;
    open(l);
    for (;;) {
      u32 mask = l + 1 == places ? 0 : frames[l].mask;
      sync_warp(ALL);
      if (mask == 0) {
        if (++ticks % NEST_OFTEN == 0 && stopped()) return;
        if (!advance(l)) {
          if (over) return;
          if (l == first) break;
          l--;
          continue;
        }
        if (l + 1 == places) matches(l);
        continue;
      }
      if (lane() == 0) {
        a[l] = window[32 * l + ctz(mask)];
        frames[l].mask = mask & (mask - 1);
      }
      sync_warp(ALL);
      open(++l);
    }
    if (lane() == 0 && count) atomic_add(&p.counts[task.result], count);
  }

  DEV void work() {
    for (;;) {
      u64 k = 0;
      if (lane() == 0) k = atomic_add(&p.state->next, (u64)1);
      k = shfl(ALL, k, 0);
      if (k >= p.task_count) break;
      task = p.tasks[k];
      search();
      if (over || stopped()) return;
    }
    if (lane() == 0 && atomic_add(&p.state->done, (u64)1) + 1 == (u64)blocks() * warps()) store_relaxed_system(&p.control->ended, 1u);
  }

  // Adds what the lanes read to the state.
  DEV void tell() {
    NestState* s = p.state;
    u64 host = Warp::sum(read.host), device = Warp::sum(read.device), hits = Warp::sum((u64)read.hits), misses = Warp::sum((u64)read.misses);
    if (lane() == 0) {
      atomic_add(&s->host, host);
      atomic_add(&s->device, device);
      atomic_add(&s->hits, hits);
      atomic_add(&s->misses, misses);
    }
  }
};

WEFT_KERNEL(nest_search, NestParams, LAUNCH_BOUNDS(256, 4)) {
  NestWarp w(p);
  w.work();
  w.tell();
}

#endif
