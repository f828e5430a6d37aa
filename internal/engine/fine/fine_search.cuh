// The search of gMatch (PVLDB 2026): a task is a partial match and one candidate,
// and a lane does it. A warp works through the pool of its deepest frame, 32
// tasks at a time; the valid candidates become entries of the next frame, which
// is descended into at once; what is left of the pool waits for backtracking.
//
// C, the checks, is the plan: what are the candidates of a level and which are
// valid (fine_plan.cuh: generated code over the data graph; fine_index.cuh: a
// table over a candidate graph). Its members, all a lane's work:
//   u32 levels(), blocks()             levels walked; blocks of the tail, 0: none
//   u32 root(u64 i), bool root_ok(v)   candidate i of level 0, and its test
//   Set pivot(l, Match m, u32& which) the shortest list that has all candidates of level l
//   bool valid(l, m, which, v)         whether v, of that list, may be level l's vertex
//   bool sized(b); Set block_pivot(b, m, which); bool block_valid(b, m, which, v)
//                                      the same for a block of the tail; sized: all are valid
//   bool needed(b)                     whether an empty block b leaves no match
//   Total combine(Match n)            the number of ways to close the tail, by the blocks' sizes
//   u32 name(v)                        the id that the host knows v by
#ifndef FINE_SEARCH
#define FINE_SEARCH
#include "fine_steal.cuh"
#include "ring.cuh"

// What the last level's valid candidates are for.
enum Purpose { COUNT, LIST, GROW };

// A list this long makes a pool of its own, so that the tasks of 32 of them can
// be numbered in 32 bits.
#define FINE_LONG (1u << 26)
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

  // Makes a pool of the lists s that lanes give for the entry of their number, as
  // many as can be numbered, and returns which were taken. Lists of one or more
  // entries; the rest of the lanes give an empty one.
  DEV u32 pool(Frame& f, Set s, u32 which) {
    u32 wide = ballot(ALL, s.n >= FINE_LONG);
    if (unlikely(wide != 0) && lane() != ctz(wide)) s.n = 0;
    u32 votes = ballot(ALL, s.n != 0);
    u32 before = Warp::exclusive(s.n);
    u32 slot = popc(votes & lanes_before());
    if (s.n != 0) {
      f.list[slot] = (u64)s.p - 4ull * before;
      f.start[slot] = before;
      f.entry[slot] = (u8)lane();
      f.which[slot] = (u8)which;
    }
    if (lane() >= popc(votes)) f.start[lane()] = ~0u;
    if (lane() == 31) {
      f.at = 0;
      f.end = before + s.n;
    }
    sync_warp(ALL);
    return wide ? 1u << ctz(wide) : ALL;
  }

  // Makes the pool of frame l, whose entries are bound: of all that are waiting,
  // or of one where partial matches are not to be batched.
  DEV void fill(u32 l) {
    Frame& f = frame(l);
    u32 todo = f.todo, take = x.batch ? todo : todo & (~todo + 1);
    Set s = {0, 0};
    u32 which = 0;
    if (take >> lane() & 1) s = checks.pivot(l + 1, match(lane()), which);
    take &= pool(f, s, which);
    if (lane() == 0) f.todo = todo & ~take;
    sync_warp(ALL);
  }

  // A lane's task.
  struct Task {
    bool on;
    u32 slot, entry, which, vertex;
  };

  // The task of each lane when the pool is at `at`. start: the lane's f.start.
  // Slots begin at different tasks, so the slot of task at+i is that of task
  // `at` and one more for each start up to it.
  DEV Task task(const Frame& f, u32 start, u32 at, u32 end) const {
    u32 first = popc(ballot(ALL, start <= at)) - 1, ahead = start - at;
    u32 marks = reduce_or(ALL, start > at && ahead < 32 ? 1u << ahead : 0u);
    Task t;
    t.on = lane() < end - at;
    t.slot = first + popc(marks & lanes_upto());
    t.entry = f.entry[t.slot];
    t.which = f.which[t.slot];
    t.vertex = 0;
    if (t.on) t.vertex = ldg((const u32*)(f.list[t.slot] + 4ull * (at + lane())));
    return t;
  }

  DEV bool passes(u32 l, const Task& t) const {
    return t.on && checks.valid(l, match(t.entry), t.which, t.vertex);
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
      Task t = task(f, start, at, end);
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
    } while (at != end && x.batch && n <= FINE_FEW);
    if (lane() == 0) {
      f.at = at;
      g.count = n;
      g.todo = n == 32 ? ALL : (1u << n) - 1;
      g.at = g.end = 0;
    }
    if (lane() == l + 1) visits += n;
    sync_warp(ALL);
    return n;
  }

  // A lane's slot's part of the tasks that lanes voted for.
  DEV u32 share_of(u32 start, u32 next, u32 at, u32 votes) const {
    u32 lo = start > at ? start - at : 0, hi = next > at ? next - at : 0;
    if (lo >= 32 || lo >= hi) return 0;
    u32 mine = hi >= 32 ? ALL : (1u << hi) - 1;
    return popc(votes & mine & ~((1u << lo) - 1));
  }

  // Where the slot of this lane ends.
  DEV u32 next_start(u32 start, u32 end) const {
    u32 next = shfl_down(ALL, start, 1);
    return lane() == 31 || next == ~0u ? end : next;
  }

  // Works through frame l's pool when l+1 is the last level.
  DEV void leaf(u32 l) {
    Frame& f = frame(l);
    const u32 start = f.start[lane()];
    u32 at = f.at, end = f.end, slot = 0;
    while (at != end && !halted) {
      Task t = task(f, start, at, end);
      bool ok = passes(l + 1, t);
      if constexpr (PURPOSE == LIST) {
        list(l + 1, ok, t.entry, t.vertex);
      } else if constexpr (PURPOSE == GROW) {
        grow(l + 1, ok, t.entry, t.vertex);
      } else if (run.roots) {
        slot += share_of(start, next_start(start, end), at, ballot(ALL, ok));
      } else {
        found += ok;
      }
      u32 used = min(32u, end - at);
      at += used;
      step(used);
      if (patience <= 0) {
        if (lane() == 0) f.at = at;
        sync_warp(ALL);
        attend(l);
        end = f.end;
      }
    }
    if (PURPOSE == COUNT && run.roots && slot) {
      found += slot;
      add_root(run, checks.name(match(f.entry[lane()])[0]), slot);
    }
    if (lane() == 0) f.at = at;
    sync_warp(ALL);
  }

  // Writes a row for each lane with ok: entry's vertices, and v at level l.
  DEV void list(u32 l, bool ok, u32 entry, u32 v) {
    Match m = match(entry);
    u32 n = emit_rows(Warp(), run, ok, [&](u32 c) { return checks.name(c == l ? v : m[c]); });
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
    u32 live = f.todo;
    for (u32 b = 0; b < checks.blocks() && live; b++) {
      stack.sizes[32 * b + lane()] = 0;
      sync_warp(ALL);
      measure(f, b, live);
      if (checks.needed(b)) live &= ballot(ALL, stack.sizes[32 * b + lane()] != 0);
    }
    if (live >> lane() & 1) {
      Total n = checks.combine(run, Match{stack.sizes + lane()});
      found += n;
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
      left &= ~pool(f, s, which);
      const u32 start = f.start[lane()], end = f.end, next = next_start(start, end);
      u32 n = 0;
      for (u32 at = 0; at < end && !halted; at += 32) {
        Task t = task(f, start, at, end);
        bool ok = t.on && checks.block_valid(b, match(t.entry), t.which, t.vertex);
        n += share_of(start, next, at, ballot(ALL, ok));
        step(min(32u, end - at));
        if (patience <= 0) look();
      }
      if (start != ~0u) stack.sizes[32 * b + f.entry[lane()]] = n;
      sync_warp(ALL);
    }
    sync_warp(ALL);
  }

  // Whether to go on; and what is counted so far, where that is wanted.
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

  // Adds what lanes found to the total of the run.
  DEV void flush() {
    u128 n = sum128(Warp(), (u128)found);
    found = 0;
    if (lane() == 0 && n) add128(run.counters, n);
  }

  // Puts the entries of a chunk of tasks on the stack: partial matches of the
  // initial pool, or candidates of level 0.
  DEV void load(u64 first, u32 count) {
    base = x.depth ? x.depth - 1 : 0;
    bool mine = lane() < count;
    u32 n = count;
    if (x.depth) {
      if (mine) {
        for (u32 j = 0; j <= base; j++) {
          frame(j).vertex[lane()] = x.rows[j * x.room + first + lane()];
          frame(j).parent[lane()] = (u8)lane();
        }
      }
    } else {
      u32 v = mine ? checks.root(first + lane()) : 0;
      mine = mine && checks.root_ok(v);
      u32 votes = ballot(ALL, mine);
      n = popc(votes);
      if (mine) frame(0).vertex[popc(votes & lanes_before())] = v;
      if (lane() == 0) visits += n;
    }
    if (lane() <= base) {
      Frame& f = frame(lane());
      f.count = n;
      f.todo = lane() < base ? 0 : n == 32 ? ALL : (1u << n) - 1;
      f.at = f.end = 0;
    }
    sync_warp(ALL);
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
        if (f.todo == 0) {
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

  // The candidates of level 0 where there is no other level to walk.
  DEV void complete() {
    Frame& f = frame(0);
    bool mine = f.todo >> lane() & 1;
    if (tail()) {
      close(0);
    } else if constexpr (PURPOSE == LIST) {
      list(0, mine, 0, f.vertex[lane()]);
      if (lane() == 0) visits -= popc(f.todo); // load counted them
    } else if (mine) {
      found += 1;
      add_root(run, checks.name(f.vertex[lane()]), 1);
    }
    sync_warp(ALL);
  }

  // Gives half of the shallowest frame with work to somebody who waits. top: the
  // deepest frame in use. The market is looked at less often: that is a trip to
  // L2.
  DEV void share(u32 top) {
    if (PURPOSE == GROW || x.steal == STEAL_OFF) return;
    bool far = x.steal == STEAL_GRID && (looks++ & 7) == 0;
    u32 want = 0;
    if (lane() == 0) want = load_relaxed(&head->board.hungry) || (far && (load_relaxed(x.market.idle) & ~FINISHED));
    if (!shfl(ALL, want, 0)) return;
    u32 l = lane();
    bool rich = false;
    if (l >= base && l <= top) {
      u32 here = waiting(frame(l));
      rich = l < top ? here >= 1 : frame(l).at == frame(l).end ? here >= 2 : here >= FINE_WORTH;
    }
    u32 votes = ballot(ALL, rich);
    if (!votes) return;
    u32 from = ctz(votes), sibling = ~0u, other = ~0u;
    if (lane() == 0) {
      sibling = hungry_sibling(&head->board);
      if (sibling == ~0u && far) other = idle_block(x.market);
    }
    sibling = shfl(ALL, sibling, 0);
    other = shfl(ALL, other, 0);
    if (sibling == ~0u && other == ~0u) return;
    u8* mail = other == ~0u ? (u8*)0 : mail_of(x.market, other);
    Frame* to = mail ? (Frame*)(mail + FINE_MAIL_HEAD) : stack_of(sibling).frames;
    copy_frames(to, stack.frames, from + 1);
    split(frame(from), to[from], from < top);
    if (lane() == 0) {
      atomic_add(mail ? &run.counters->steals_grid : &run.counters->steals_block, (u64)1);
      if (mail) {
        *(u32*)mail = from;
        send(x.market, other);
      } else {
        head->from[sibling] = from;
        feed(&head->board, sibling);
      }
    }
    sync_warp(ALL);
  }

  // Takes over the frames in the block's mail.
  DEV void open_mail() {
    const u8* mail = mail_of(x.market, block());
    base = *(const u32*)mail;
    copy_frames(stack.frames, (const Frame*)(mail + FINE_MAIL_HEAD), base + 1);
  }

  // The life of a warp: tasks while there are any, then what others give.
  DEV void work() {
    Chunk c = {0, 0, false};
    for (Found f = TASKS; f != OVER && !halted; ) {
      f = x.steal == STEAL_OFF ? alone(c) : seek(run, &head->board, x.market, c, [] { return false; });
      if (f == TASKS) load(c.first, c.count);
      if (f == SIBLING) base = head->from[warp()];
      if (f == MAIL) open_mail();
      if (f != OVER) search();
    }
    finish();
  }

  // Waits for tasks only: other devices may leave some.
  DEV Found alone(Chunk& c) {
    for (;;) {
      c = take(Warp(), run);
      if (c.count) return TASKS;
      if (c.over || stopped(Warp(), run)) return OVER;
      spin();
    }
  }

  // Extends the rows of the pool before, or with depth 0 the candidates of level
  // 0, by one level: all n of them, handed out in chunks to the grid.
  DEV void grow_all(u64 n) {
    while (!halted) {
      u64 first = n;
      if (lane() == 0 && load_relaxed(&x.grown->rows) <= x.room) first = atomic_add(&x.grown->taken, (u64)x.chunk);
      first = shfl(ALL, first, 0);
      if (first >= n) break;
      load(first, (u32)min((u64)x.chunk, n - first));
      search();
    }
    if (x.depth == 0 && lane() == 0 && visits) atomic_add(&x.grown->roots, visits);
  }

  DEV void finish() {
    if (PURPOSE == COUNT) flush();
    Counters* c = run.counters;
    if (lane() < MAX_LEVELS && visits) atomic_add(&c->visits[lane()], visits);
    if (lane() == 0) {
      atomic_add(&c->lanes_busy, busy);
      atomic_add(&c->lanes_all, all);
    }
  }
};

#endif
