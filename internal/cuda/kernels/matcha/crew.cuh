// Work stealing between the thread groups of a block (thesis, section 3.6, after STMatch
// §1.5.1). The iterators of an item's outer loops lie in shared memory. An idle group finds a
// busy one, and takes the upper half of the remaining iterations of its outermost loop with any
// to spare.
//
// The stolen work is a range of one loop's iterations, and the current iterations of the loops
// around it. The thief makes the sets of those loops again, in its own memory. Why not copy:
// they are few operations, and copying would hold up the victim. Statements around the stolen
// loop, which the victim does itself, check `stolen`: the loop's level, 0 being the items.
//
// A range changes in three ways. Its owner takes an iteration, and a thief takes half: both
// exchange the whole range at once, so that no iteration is taken twice. And the owner opens a
// loop: it sets a new range, under a lock. A thief holds that lock from before it reads the
// outer loops until it has its half. A loop is opened again only after its last iteration, so
// while the thief finds iterations left, the outer loops do not change.
//
// Two iterations must be left, of which the victim keeps one. The loops around a stolen range
// have exactly one iteration, and so are never stolen themselves.
#ifndef WEFT_CREW
#define WEFT_CREW

#define TURNS (W_LEVELS + 1)

// A group, as others of its block see it.
struct Man {
  u64 range[TURNS]; // by level: next | end << 32
  u64 base, stride; // turn k of level 0 is item base + k*stride
  u32 now[TURNS];   // the turn that the level is at
  u32 stolen;
  u32 lock;
};

struct Crew {
  u32 busy; // groups that have work
  u32 pad[3];
};

static_assert(sizeof(Man) == W_MAN && sizeof(Crew) == W_CREW, "the host makes room for them");

DEV u32 crew_size() { return threads() / W_GROUP; }
DEV Crew* crew() { return (Crew*)shared(); }
DEV Man* crew_man(u32 i) { return (Man*)(shared() + sizeof(Crew)) + i; }
DEV u32 crew_bytes() { return (u32)(sizeof(Crew) + crew_size() * sizeof(Man) + 15) & ~15u; }

// All threads of the block.
DEV Man* crew_begin() {
  u32 me = thread() / W_GROUP;
  Man* m = crew_man(me);
  if (thread() % W_GROUP == 0) {
    for (u32 l = 0; l < TURNS; l++) m->range[l] = 0, m->now[l] = 0;
    m->base = m->stride = 0;
    m->stolen = m->lock = 0;
  }
  if (thread() == 0) crew()->busy = crew_size();
  sync_block();
  return m;
}

DEV u64 range_of(u32 next, u32 end) { return next | (u64)end << 32; }

// One lane each.
DEV bool try_lock(Man* m) {
  if (load_relaxed(&m->lock) || atomic_cas(&m->lock, 0u, 1u) != 0) return false;
  fence_block();
  return true;
}
DEV void lock(Man* m) {
  while (!try_lock(m)) spin();
}
DEV void unlock(Man* m) {
  fence_block();
  atomic_exch(&m->lock, 0u);
}

// Takes the next turn of a range; ~0u: none is left. One lane.
DEV u32 take_turn(Man* m, u32 level) {
  for (u64 r = load_relaxed(&m->range[level]);;) {
    u32 next = (u32)r, end = (u32)(r >> 32);
    if (next >= end) return ~0u;
    u64 seen = atomic_cas(&m->range[level], r, range_of(next + 1, end));
    if (seen == r) {
      store_relaxed(&m->now[level], next);
      return next;
    }
    r = seen;
  }
}

// The turns of a loop over n of a set, of level L: for (SharedLoop<G, L> i(g, n);
// i.next();) … i.at. Collective.
template <class G, int L> struct SharedLoop {
  G g;
  u32 at;

  DEV SharedLoop(G group, u32 n) : g(group), at(0), alone(n < 2 && !loot()), end(n), k(0) {
    if (alone || loot()) return;
    if (g.leader()) {
      lock(g.man);
      store_relaxed(&g.man->range[L], range_of(0, n));
      unlock(g.man);
    }
  }
  DEV bool next() {
    if (!g.turn()) return false;
    if (alone) {
      if (k == end) return false;
      at = k++;
      if (g.leader()) store_relaxed(&g.man->now[L], at);
      return true;
    }
    u32 t = 0;
    if (g.leader()) t = take_turn(g.man, L);
    at = g.shfl(t, 0);
    return at != ~0u;
  }

private:
  bool alone; // there is nothing to share
  u32 end, k;
  // Whether the range was set by crew_steal.
  DEV bool loot() const { return (u32)L <= g.l->stolen; }
};

// Gives the group items. One lane.
DEV void give_items(Man* m, u64 base, u64 stride, u32 n) {
  lock(m);
  m->base = base;
  m->stride = stride;
  m->stolen = 0;
  store_relaxed(&m->range[0], range_of(0, n));
  unlock(m);
}

// The outermost level of a group with turns to spare; TURNS: none. One lane.
DEV u32 spare_level(const Man* m) {
  for (u32 l = 0; l < TURNS; l++) {
    u64 r = load_relaxed(&m->range[l]);
    if ((u32)r + 1 < (u32)(r >> 32)) return l;
  }
  return TURNS;
}

// Takes half of v's remaining iterations, if it has any. One lane.
DEV bool crew_steal(Man* m, Man* v) {
  u32 l = spare_level(v);
  if (l == TURNS || !try_lock(v)) return false;
  u32 begin = 0, end = 0, now[TURNS];
  u64 base = 0, stride = 0;
  if ((l = spare_level(v)) != TURNS) {
    for (u32 i = 0; i < TURNS; i++) now[i] = load_relaxed(&v->now[i]);
    base = v->base;
    stride = v->stride;
    for (u64 r = load_relaxed(&v->range[l]);;) {
      u32 next = (u32)r;
      end = (u32)(r >> 32);
      if (next + 1 >= end) {
        end = 0;
        break;
      }
      begin = end - (end - next) / 2;
      u64 seen = atomic_cas(&v->range[l], r, range_of(next, begin));
      if (seen == r) break;
      r = seen;
    }
    if (end) atomic_add(&crew()->busy, 1u); // while the victim is busy itself
  }
  unlock(v);
  if (!end) return false;
  lock(m);
  m->base = base;
  m->stride = stride;
  m->stolen = l;
  for (u32 i = 0; i < l; i++) {
    m->now[i] = now[i];
    store_relaxed(&m->range[i], range_of(now[i], now[i] + 1));
  }
  store_relaxed(&m->range[l], range_of(begin, end));
  unlock(m);
  return true;
}

// Finds work in the block; false: there is none, and will be none. One lane.
DEV bool crew_seek(Man* m, const Run& r) {
  u32 n = crew_size(), me = thread() / W_GROUP;
  atomic_sub(&crew()->busy, 1u);
  for (;;) {
    for (u32 i = 1; i < n; i++)
      if (crew_steal(m, crew_man((me + i) % n))) {
        atomic_add(&r.counters->steals_block, 1ull);
        return true;
      }
    if (load_relaxed(&crew()->busy) == 0 || stopped(r)) return false;
    spin();
  }
}

// The work of a group in a parallel phase of n items: f(item, stolen).
template <class G, class F> DEV void crew_work(G g, u64 n, u64 id, u64 groups, u64* cursor, F f) {
  Local& l = *g.l;
#if W_STATIC
  if (g.leader() && id < n) give_items(g.man, id, groups, (u32)((n - id + groups - 1) / groups));
#else
  const u32 chunk = chunk_of(n, groups);
#endif
  for (;;) {
#if W_STATS
    u64 from = nanotime();
#endif
    for (;;) {
      u32 t = 0;
      if (g.leader()) t = take_turn(g.man, 0);
      t = g.shfl(t, 0);
      if (t == ~0u || !g.turn()) break;
      u64 at = 0;
      if (g.leader()) at = g.man->base + t * g.man->stride, l.stolen = g.man->stolen;
      at = g.shfl(at, 0);
      l.stolen = g.shfl(l.stolen, 0);
      f(at, l.stolen);
    }
#if W_STATS
    l.time += nanotime() - from;
#endif
    g.sync();
#if !W_STATIC
    u64 at = 0;
    if (u32 k = l.stop ? 0 : take_items(g, cursor, n, chunk, at)) {
      if (g.leader()) give_items(g.man, at, 1, k);
      continue;
    }
#endif
    u32 more = 0;
    if (g.leader()) more = crew_seek(g.man, l.p.run);
    if (!g.shfl(more, 0)) return;
  }
}

#endif
