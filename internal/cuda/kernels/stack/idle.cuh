// Where a warp of the stack schedule gets its work: tasks, its block's other
// stacks (STMatch §1.5.1), its block's mail (§1.5.2). Part of stack/stack.cuh.

// A lock in shared memory, held by a warp. Collective. The memory that a stack's lock guards is
// written by store_held, because a hungry warp reads it without the lock.
DEV void lock(u32* l) {
  if (lane() == 0) {
    while (atomic_cas(l, 0u, 1u) != 0) spin();
    fence_block();
  }
  sync_warp(ALL);
}
DEV void unlock(u32* l) {
  sync_warp(ALL);
  if (lane() == 0) {
    fence_block();
    atomic_exch(l, 0u);
  }
}

// Takes up to want places off level l's list: n places from the one returned on.
// Collective.
DEV u32 Search::take_places(u32 l, u32 want, u32& n) {
  bool shared = l < SHARED_LEVELS;
  if (shared) lock(&s.lock);
  u32 b = s.next[l];
  n = min(want, s.end[l] - b);
  sync_warp(ALL);
  if (lane() == 0) store_held(&s.next[l], b + n);
  if (shared)
    unlock(&s.lock);
  else
    sync_warp(ALL);
  return b;
}

// Puts places b … e-1 of level l's list on the stack. Collective.
DEV void Search::put_places(u32 l, u32 b, u32 e) {
  bool shared = l < SHARED_LEVELS;
  if (shared) lock(&s.lock);
  if (lane() == 0) {
    store_held(&s.next[l], b);
    store_held(&s.end[l], e);
  }
  if (shared)
    unlock(&s.lock);
  else
    sync_warp(ALL);
}

// Whether a stack has anything left at levels up to deepest. One lane.
DEV bool left(const Stack& of, u32 deepest) {
  ROLLED for (u32 l = 0; l <= deepest && l < WALK; l++)
    if (load_relaxed(&of.next[l]) < load_relaxed(&of.end[l])) return true;
  return false;
}

// Moves half of the remaining candidates of the lowest level of a stack that has any, no deeper
// than deepest. One lane, the stack being locked.
//
// It moves a range of one level's list, and the vertices matched above it. The receiver makes
// the sets of those levels again. They are at most W_STOP+1 operations, of which level 0's are
// slices of lists. Why not copy: the same elements would be written and read once more, through
// global memory or under the lock of a warp that could go on. The lists are the same on both
// sides, so a range of places identifies the work. Of siblings only the walked one is split:
// the others' lists stay where they are.
DEV bool split(Stack& from, u32 deepest, Loot& loot) {
  ROLLED for (u32 l = 0; l <= deepest && l < WALK; l++) {
    u32 next = load_relaxed(&from.next[l]), end = load_relaxed(&from.end[l]);
    if (next >= end) continue;
    u32 n = (end - next + 1) / 2;
    store_relaxed(&from.end[l], end - n);
    loot.task = load_held(&from.task);
    loot.level = l;
    loot.begin = end - n;
    loot.end = end;
    if (l > 0) {
      const State& above = from.state[l - 1][load_held(&from.sibling[l - 1])];
      ROLLED for (u32 j = 0; j < l; j++) loot.m[j] = load_held(&above.m[j]);
    }
    return true;
  }
  return false;
}

// The warp of the block with the most left at the lowest level, no deeper than
// W_STOP, that any of them has something at (Algorithm 2); ~0: none has. Looks
// without locks, so that it is a guess. One lane.
DEV u32 richest(const Stack* stacks) {
  ROLLED for (u32 l = 0; l <= W_STOP && l < WALK; l++) {
    u32 best = ~0u, most = 0;
    ROLLED for (u32 i = 0; i < warps(); i++) {
      u32 next = load_relaxed(&stacks[i].next[l]), end = load_relaxed(&stacks[i].end[l]);
      if (next < end && end - next > most) {
        most = end - next;
        best = i;
      }
    }
    if (best != ~0u) return best;
  }
  return ~0u;
}

// Takes half of the remaining work of another warp of the block, as loot for stack s.
// Collective.
DEV bool steal(const Run& run, Board* board, Stack* stacks, Stack& s) {
  u32 from = 0, got = 0;
  if (lane() == 0) from = richest(stacks);
  from = shfl(ALL, from, 0);
  if (from == ~0u) return false;
  lock(&stacks[from].lock);
  if (lane() == 0 && left(stacks[from], W_STOP) && rise(board)) {
    got = split(stacks[from], W_STOP, s.loot);
    atomic_add(&run.counters->steals_block, 1ull);
  }
  unlock(&stacks[from].lock);
  return shfl(ALL, got, 0);
}

#if W_STEAL > 0
// The work that a warp found, and its tasks.
struct Work {
  Chunk tasks;
  Found found;
};

// Finds work for stack s, which is empty. Collective.
DEV_NOINLINE Work seek_work(Run run, Market market, Stack* stacks, Stack* s) {
  Work w = {{0, 0, false}, OVER};
  Board* board = (Board*)shared();
  w.found = seek(run, board, market, w.tasks, [&] { return steal(run, board, stacks, *s); });
  return w;
}
#endif

// Gives half of stack s to a block that is wholly idle. Collective.
DEV_NOINLINE void give_half(Counters* counters, Market market, Stack* s) {
  lock(&s->lock);
  if (lane() == 0 && left(*s, W_DETECT)) {
    u32 b = idle_block(market);
    if (b != ~0u) {
      split(*s, W_DETECT, *(Loot*)mail_of(market, b));
      atomic_add(&counters->steals_grid, 1ull);
      send(market, b);
    }
  }
  unlock(&s->lock);
}

// Gives half of this warp's work to a block that is wholly idle, if there is one.
// Collective.
DEV void Search::give() {
  u32 idle = 0;
  if (lane() == 0) idle = load_relaxed(x.market.idle);
  if (shfl(ALL, idle, 0)) give_half(run.counters, x.market, &s);
}

// Puts the loot on the empty stack: makes the sets of the levels above it again.
// Returns its level, ~0 if nothing is below. Collective.
DEV u32 Search::begin() {
  sync_warp(ALL);
  u32 l = s.loot.level;
  if (lane() == 0) {
    store_held(&s.task, s.loot.task); // a thief may look at it still
    ROLLED for (u32 j = 0; j < l; j++) {
      s.sibling[j] = 0;
      s.state[0][0].m[j] = s.loot.m[j];
    }
  }
  sync_warp(ALL);
  ROLLED for (u32 j = 0; j < l; j++) {
    if (j > 0 && lane() == 0) s.state[j][0] = s.state[j - 1][0];
    sync_warp(ALL);
    if (!make(Moved{j}, 1)) return ~0u;
  }
  if (l > 0) {
    if (lane() == 0) s.list[l][0] = Program::candidates(q, s.state[l - 1][0], below(Moved{l - 1}));
    sync_warp(ALL);
  }
  put_places(l, s.loot.begin, s.loot.end);
  return l;
}

#if W_EDGES
// Puts the next part of an edge task on the stack: the part of one vertex's list
// that it covers. Collective.
DEV bool Search::open_edge() {
#if W_FIRST_SPARSE
  const SparseAdj from{q.adj[W_FIRST_ADJ]};
  const SparseOrder lists{from.a.rows, x.vertices, x.lists};
#else
  const Adj& from = q.adj[W_FIRST_ADJ];
  const ListOrder lists{from.off, q.n};
#endif
  while (edge < edge_end) {
    u64 place = edge;
    u32 first = 0, end = 0;
    for (u32 i = 0; i < Program::root_ranges(q); i++) {
      first = lists.from(Warp(), Program::root_first(q, i));
      end = lists.from(Warp(), Program::root_end(q, i));
      u64 n = end > first ? lists.begin(end) - lists.begin(first) : 0;
      if (place < n) break;
      place -= n;
    }
    place += lists.begin(first);
    const u32 i = list_at_place(Warp(), lists, first, end, place), v = lists.vertex(i);
    const u64 b = lists.begin(i), all = lists.begin(i + 1), e = min(all, place + (edge_end - edge));
    edge += e - place;
    if (!Program::accept(q, s.state[0][0], Root{0}, v)) continue;
    sync_warp(ALL);
    if (lane() == 0) {
      s.state[0][0].m[0] = v;
      s.sibling[0] = 0;
    }
    sync_warp(ALL);
    if (place == b) visit(0, 1);
    if (!make(Root{0}, 1)) continue;
    // Places of the vertex's list are ids, whatever other bounds the candidates have.
    const u32* adj = places(from, v);
    Set c = Program::candidates(q, s.state[0][0], Among<1, 2>{1});
    u32 lo = place == b ? 0 : lower_bound(Warp(), c.p, c.n, adj[place]);
    u32 hi = e == all ? c.n : lower_bound(Warp(), c.p, c.n, adj[e]);
    if (lo >= hi) continue;
    if (lane() == 0) s.list[1][0] = c;
    sync_warp(ALL);
    put_places(1, lo, hi);
    return true;
  }
  return false;
}
#endif

// Gets work onto the empty stack: returns the level of its list, ~0 when the
// search is over. Collective.
DEV u32 Search::find() {
  for (;;) {
#if W_EDGES
    if (open_edge()) return 1;
#endif
    if (quit) return ~0u;
    Chunk c;
#if W_STEAL > 0
    Work w = seek_work(run, x.market, stacks, &s);
    c = w.tasks;
    Found f = w.found;
#else
    if ((quit = stopped(Warp(), run))) return ~0u;
    c = take(Warp(), run);
    Found f = c.over ? OVER : TASKS;
    if (c.count == 0) spin();
#endif
    if (f == OVER) return ~0u;
    if (f != TASKS) {
      if (f == MAIL && lane() == 0) s.loot = *(const Loot*)mail_of(x.market, block());
      u32 l = begin();
      if (l != ~0u) return l;
      continue;
    }
#if W_EDGES
    edge = c.first;
    edge_end = c.first + c.count;
    note(USED_EDGES);
#else
    if (c.count == 0) continue;
    if (lane() == 0) store_held(&s.task, c.first);
    sync_warp(ALL);
    put_places(0, 0, c.count);
    return 0;
#endif
  }
}
