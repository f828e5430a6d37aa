// The search of gMatch (PVLDB 2026): a task is a partial match and one candidate,
// and a lane does it. A warp works through the pool of its deepest frame, 32
// tasks at a time; the valid candidates become entries of the next frame, which
// is descended into at once; what is left of the pool waits for backtracking.
//
// C, the checks, is the plan: what are the candidates of a level and which are
// valid (fine/plan.cuh: generated code over the data graph; fine/index.cuh: a
// table over a candidate graph). Its members, all a lane's work:
//   u32 levels(), blocks()             levels walked; blocks of the tail, 0: none
//   u32 root(u64 i), bool root_ok(v)   candidate i of level 0, and its test
//   Set pivot(l, Match m, u32& which) the shortest list that has all candidates of level l
//   bool valid(l, m, which, v)         whether v, of that list, may be level l's vertex
//   bool sized(b); Set block_pivot(b, m, which); bool block_valid(b, m, which, v)
//                                      the same for a block of the tail; sized: all are valid
//   bool needed(b)                     whether an empty block b leaves no match
//   siblings                           whether there are, for the last level,
//     Set parent_pivot(m, which); bool parent_valid(m, which, v)
//                                      pivot and valid as far as the level before does not matter,
//     bool together(u, v)              and whether v goes with u, that level's vertex
//   Total combine(Match n)            the number of ways to close the tail, by the blocks' sizes
//   u64 choices(m), choices(m, v)      the matches that an assignment makes, without or with v at
//                                      the last level; only with W_CHOICES, else one
//   u32 name(v)                        the id that the host knows v by
//   u32 column(l)                      the level here of the plan's level l
// With FINE_PARTS a pivot only says how many places there are, and
//   u32 place(l, m, which, k), block_place(b, m, which, k)
//                                      what is at place k; ~0: nothing
#ifndef FINE_SEARCH
#define FINE_SEARCH
#include "fine/steal.cuh"
#include "base/ring.cuh"

// The purpose of the last level's valid candidates.
enum Purpose { COUNT, LIST, GROW };

// A frame with at most this many entries takes more tasks before it is descended
// into: one more step adds 32 at most, of which few are lost.
#define FINE_FEW 16
// Steps between two looks at the host, at the limit, and at idle warps.
#define FINE_PATIENCE 64

template <class C, Purpose PURPOSE> struct Walker {
  const Run& run;
  const Fine& x;
  const C& checks;
  const u32 last; // the last level walked
  Head* const head;
  Stack stack;
  u32 base = 0;          // the first frame whose pool is this warp's
  i32 patience = FINE_PATIENCE;
  u32 looks = 0;
  bool halted = false;
  Total found = 0;       // of this lane
  u64 visits = 0;        // lane l: partial matches that reached level l
  u64 busy = 0, all = 0; // lane-steps with a task, and all

  DEV Walker(const Run& run, const Fine& x, const C& checks, u32 last, Head* head)
      : run(run), x(x), checks(checks), last(last), head(head) {
    stack = stack_of(warp());
  }

  // Whether levels behind the last are closed by arithmetic.
  DEV bool tail() const { return PURPOSE == COUNT && checks.blocks() != 0; }

  DEV Stack stack_of(u32 w) const { return stack_at((u8*)(head + 1) + (u64)w * x.stack_bytes, x.frames); }
  DEV Frame& frame(u32 l) const { return stack.frames[l]; }
  DEV Match match(u32 entry) const { return Match{stack.bound + entry}; }

  // Lays out the partial matches of frame l's entries in columns.
  DEV void bind(u32 l) {
    u32 e = lane();
    if (e < frame(l).count) {
      for (u32 j = l;; j--) {
        stack.bound[32 * j + lane()] = frame(j).vertex[e];
        if (j == 0) break;
        e = frame(j).parent[e];
      }
    }
    sync_warp(ALL);
  }

  // Makes the pool of frame l, whose entries are bound: of all that are waiting,
  // or of one where partial matches are not to be batched. Or does its work at once,
  // among siblings.
  DEV void fill(u32 l) {
    Frame& f = frame(l);
    u32 unpooled = f.unpooled, take = x.batch ? unpooled : unpooled & (~unpooled + 1);
    Set s = {0, 0};
    u32 which = 0;
    if (take >> lane() & 1) s = checks.pivot(l + 1, match(lane()), which);
    bool done = false;
    if constexpr (C::siblings && PURPOSE == COUNT) done = l + 1 == last && !run.roots && among_siblings(l, take, s.n);
    if (!done) take &= make_pool(f, s, which);
    if (lane() == 0) f.unpooled = unpooled & ~take;
    sync_warp(ALL);
  }

  DEV bool passes(u32 l, Task& t) const {
#ifdef FINE_PARTS
    if (t.on) t.vertex = checks.place(l, match(t.entry), t.which, t.vertex);
    if (t.vertex == ~0u) return false;
#endif
    return t.on && checks.valid(l, match(t.entry), t.which, t.vertex);
  }

  DEV bool block_passes(u32 b, Task& t) const {
#ifdef FINE_PARTS
    if (t.on) t.vertex = checks.block_place(b, match(t.entry), t.which, t.vertex);
    if (t.vertex == ~0u) return false;
#endif
    return t.on && checks.block_valid(b, match(t.entry), t.which, t.vertex);
  }

  DEV void step(u32 used) {
    busy += used;
    all += 32;
    patience--;
  }

  // Takes tasks from frame l's pool and makes entries of frame l+1 of the valid
  // ones: 32 at most. Where a step finds more than there is room for, the pool
  // stays at the first that has none. Returns the number of entries.
  DEV u32 extend(u32 l) {
    Frame &f = frame(l), &g = frame(l + 1);
    const u32 start = f.start[lane()], end = f.end;
    u32 at = f.at, n = 0;
    do {
      Task t = task_of(f, start, at, end);
      bool ok = passes(l + 1, t);
      u32 votes = ballot(ALL, ok), used = min(32u, end - at);
      u32 place = n + popc(votes & lanes_before());
      u32 over = ballot(ALL, ok && place >= 32);
      if (over) {
        used = ctz(over);
        votes &= (1u << used) - 1;
      }
      if (ok && place < 32) {
        g.vertex[place] = t.vertex;
        g.parent[place] = (u8)t.entry;
      }
      n += popc(votes);
      at += used;
      step(used);
      if (patience <= 0) look();
    } while (at != end && x.batch && n <= FINE_FEW && !halted);
    sync_warp(ALL); // all lanes have read where the pool was
    if (lane() == 0) {
      f.at = at;
      g.count = n;
      g.unpooled = n == 32 ? ALL : (1u << n) - 1;
      g.at = g.end = 0;
    }
    if (lane() == l + 1) visits += n;
    sync_warp(ALL);
    return n;
  }

  // Works through frame l's pool when l+1 is the last level.
  DEV void leaf(u32 l) {
    Frame& f = frame(l);
    const u32 start = f.start[lane()], first = f.at;
    const bool rooted = run.roots;
    u32 at = first, end = f.end, slot = 0, hits = 0;
    // A plan's last level is a constant, and its test then no choice among levels'.
    const u32 to = PURPOSE == GROW ? l + 1 : checks.levels() - 1;
    while (at != end) {
      Task t = task_of(f, start, at, end);
      bool ok = passes(to, t);
      if constexpr (PURPOSE == LIST) {
        list(l + 1, ok, t.entry, t.vertex);
        if (halted) break;
      } else if constexpr (PURPOSE == GROW) {
        grow(l + 1, ok, t.entry, t.vertex);
        if (halted) break;
#ifdef W_CHOICES
      } else if (ok) {
        Total n = checks.choices(match(t.entry), t.vertex);
        found += n;
        if (rooted && n) add_root(run, checks.name(match(t.entry)[0]), n);
      }
#else
      } else if (rooted) {
        slot += share_of(start, next_start(start, end), at, ballot(ALL, ok));
      } else {
        hits += ok;
      }
#endif
      at += min(32u, end - at);
      if (--patience <= 0) {
        sync_warp(ALL);
        if (lane() == 0) f.at = at;
        sync_warp(ALL);
        found += hits;
        hits = 0;
        attend(l);
        if (halted) break;
        end = f.end;
      }
    }
    found += hits;
    // All steps but the last were full.
    busy += at - first;
    all += (at - first + 31) & ~31u;
    if (PURPOSE == COUNT && rooted && slot) {
      found += slot;
      add_root(run, checks.name(match(f.entry[lane()])[0]), slot);
    }
    sync_warp(ALL);
    if (lane() == 0) f.at = at;
    sync_warp(ALL);
  }

  // Writes a row for each lane with ok: entry's vertices, and v at level l.
  DEV void list(u32 l, bool ok, u32 entry, u32 v) {
    Match m = match(entry);
    u32 n = emit_rows(Warp(), run, ok, [&](u32 c) {
      u32 at = checks.column(c);
      return checks.name(at == l ? v : m[at]);
    });
    if (n == ~0u) {
      halted = true;
    } else if (lane() == l) {
      visits += n;
    }
  }

  // Adds a row to the next pool for each lane with ok.
  DEV void grow(u32 l, bool ok, u32 entry, u32 v) {
    u32 votes = ballot(ALL, ok);
    if (votes == 0) return;
    u64 at = 0;
    if (lane() == 0) at = atomic_add(&x.grown->rows, (u64)popc(votes));
    at = shfl(ALL, at, 0);
    if (at + popc(votes) > x.room) { // too many for the pool: the host takes the one before
      halted = true;
      return;
    }
    if (!ok) return;
    u32* row = x.next + at + popc(votes & lanes_before());
    Match m = match(entry);
    for (u32 j = 0; j < l; j++) row[j * x.room] = m[j];
    row[l * x.room] = v;
  }

  // Counts the ways to close the tail for each entry of frame l, the last.
  DEV void close(u32 l) {
    Frame& f = frame(l);
    bind(l);
    u32 live = f.unpooled;
    for (u32 b = 0; b < checks.blocks() && live; b++) {
      stack.sizes[32 * b + lane()] = 0;
      sync_warp(ALL);
      measure(f, b, live);
      if (checks.needed(b)) live &= ballot(ALL, stack.sizes[32 * b + lane()] != 0);
    }
    if (live >> lane() & 1) {
      Total n = checks.combine(run, Match{stack.sizes + lane()});
#ifdef W_CHOICES
      n *= checks.choices(match(lane()));
#endif
      found += n;
      if (sizeof(Total) > 8 && found < n) store_relaxed(&run.counters->overflow, 1u);
      if (run.roots) add_root(run, checks.name(match(lane())[0]), n);
    }
    sync_warp(ALL);
  }

  // The sizes of block b for the live entries of f.
  DEV void measure(Frame& f, u32 b, u32 live) {
    for (u32 left = live; left && !halted;) {
      Set s = {0, 0};
      u32 which = 0;
      if (left >> lane() & 1) s = checks.block_pivot(b, match(lane()), which);
      if (checks.sized(b)) {
        if (left >> lane() & 1) stack.sizes[32 * b + lane()] = s.n;
        break;
      }
      left &= ~make_pool(f, s, which);
      const u32 start = f.start[lane()], end = f.end, next = next_start(start, end);
      u32 n = 0;
      for (u32 at = 0; at < end && !halted; at += 32) {
        Task t = task_of(f, start, at, end);
        bool ok = block_passes(b, t);
        n += share_of(start, next, at, ballot(ALL, ok));
        step(min(32u, end - at));
        if (patience <= 0) look();
      }
      if (start != ~0u) stack.sizes[32 * b + f.entry[lane()]] = n;
      sync_warp(ALL);
    }
    sync_warp(ALL);
  }

  // Whether to go on. Also publishes the counts so far, if they are needed.
  DEV void look() {
    patience = FINE_PATIENCE;
    if (PURPOSE == COUNT && x.often) flush();
    if (stopped(Warp(), run)) halted = true;
  }

  // look, and work for those that have none. top: the deepest frame in use.
  DEV void attend(u32 top) {
    look();
    if (!halted) share(top);
  }

  // Adds the lanes' counts to the total of the run.
  DEV void flush() {
    u128 n = sum128(Warp(), (u128)found);
    found = 0;
    if (lane() == 0 && n) add128(run.counters, n);
  }

  // Searches below the frames from base on.
  DEV void search() {
    if (base == last) { // complete partial matches: level 0 is the last
      complete();
      return;
    }
    bool bound = false;
    for (u32 l = base; !halted;) {
      Frame& f = frame(l);
      if (f.at == f.end) {
        if (f.unpooled == 0) {
          if (l == base) return;
          l--;
          bound = false;
          continue;
        }
        bind(l);
        bound = true;
        fill(l);
        continue;
      }
      if (!bound) bind(l);
      bound = true;
      if (l + 1 == last && !tail()) {
        leaf(l);
        continue;
      }
      if (extend(l) == 0) continue;
      bound = false;
      if (l + 1 == last) {
        close(l + 1);
        if (patience <= 0) attend(l);
        continue;
      }
      l++;
      if (patience <= 0) look();
      if (!halted) share(l);
    }
  }

  // The candidates of level 0 if no other level is walked.
  DEV void complete() {
    Frame& f = frame(0);
    bool mine = f.unpooled >> lane() & 1;
    if (tail()) {
      close(0);
    } else if constexpr (PURPOSE == LIST) {
      list(0, mine, 0, f.vertex[lane()]);
      if (lane() == 0) visits -= popc(f.unpooled); // load counted them
    } else if (mine) {
      found += 1;
      add_root(run, checks.name(f.vertex[lane()]), 1);
    }
    sync_warp(ALL);
  }

  // fine/siblings.cuh: the last level, for entries with the same parent together.
  DEV bool among_siblings(u32 l, u32 take, u32 tasks);
  DEV u32 visit_queue(u32 l, u32 n);

  // fine/grow.cuh: the breadth-first start.
  DEV bool place(u64 row);
  DEV void size_all();
  DEV void grow_all();

  // fine/work.cuh: where work comes from and goes to.
  DEV void load(u64 first, u32 count);
  DEV void share(u32 top);
  DEV void open_mail();
  DEV Found alone(Chunk& c);
  DEV void work();
  DEV void finish();
};

#endif
