// The last level's candidates for siblings, entries with the same parent, together. Most
// conditions on a candidate do not concern the vertex in which siblings differ, and are the
// same for all of them. They are tested once, over the shortest list that does not depend on
// that vertex. Candidates that pass wait in a queue until all lanes have some. Then each lane
// goes through its candidate's siblings, and visits the match with each sibling that fits. That
// is the code motion of STMatch (its intermediate sets) without the memory for sets. Part of
// Walker (fine/search.cuh).
#ifndef FINE_SIBLINGS_H
#define FINE_SIBLINGS_H
#include "fine/search.cuh"

// The largest number of candidates tested at once: work in progress here is not given away.
#define FINE_TOGETHER 8192
// A test with a sibling against one of a candidate, with all that is around it:
// such a part of its cost, and few candidates come so far.
#ifdef MEMBER_BITS
#define FINE_CHEAPER 16
#else
#define FINE_CHEAPER 4
#endif

// Visits the matches of the first n of the queue with their siblings, the entries of
// frame l, and returns how many this lane found. Collective.
template <class C, Purpose PURPOSE> DEV u32 Walker<C, PURPOSE>::visit_queue(u32 l, u32 n) {
  sync_warp(ALL);
  const u32* vertex = stack.bound + 32 * l;
  u32 rest = lane() < n ? stack.sizes[32 + lane()] : 0, v = stack.sizes[lane()], hits = 0;
  u32 turns = reduce_max(ALL, popc(rest));
  busy += reduce_add(ALL, popc(rest));
  all += 32 * turns;
  patience -= (i32)turns;
  for (; rest; rest &= rest - 1) hits += checks.together(vertex[ctz(rest)], v);
  sync_warp(ALL);
  return hits;
}

// Does all that the entries `take` of frame l, the last but one level, ask for, if
// that is clearly less work so. tasks: of this lane's entry by itself. Collective.
template <class C, Purpose PURPOSE> DEV bool Walker<C, PURPOSE>::among_siblings(u32 l, u32 take, u32 tasks) {
  Frame& f = frame(l);
  const u32 parent = f.parent[lane()], left = shfl_up(ALL, parent, 1);
  const bool on = take >> lane() & 1;
  const bool first = on && (lane() == 0 || !(take >> (lane() - 1) & 1) || parent != left);
  const u32 firsts = ballot(ALL, first), later = firsts & ~lanes_upto();
  if (2 * popc(firsts) > popc(take)) return false;
  // Of a first sibling: all of them.
  const u32 group = take & ~lanes_before() & (later ? (1u << ctz(later)) - 1 : ALL);
  Set s = {0, 0};
  u32 which = 0;
  if (first) s = checks.parent_pivot(match(lane()), which);
  const u32 most = 1u << 20;
  u32 apart = reduce_add(ALL, on ? min(tasks, most) : 0u), once = reduce_add(ALL, min(s.n, most));
  u32 pairs = reduce_add(ALL, first ? min(s.n, most) * popc(group) : 0u);
  if (once > FINE_TOGETHER || once + pairs / FINE_CHEAPER > apart - apart / 4) return false;

  make_pool(f, s, which);
  const u32 start = f.start[lane()], end = f.end;
  u32 n = 0; // in the queue
  for (u32 at = 0; at < end && !halted; at += 32) {
    Task t = task_of(f, start, at, end);
    bool ok = t.on && checks.parent_valid(match(t.entry), t.which, t.vertex);
    u32 votes = ballot(ALL, ok), place = n + popc(votes & lanes_before()), mine = shfl(ALL, group, t.entry);
    bool full = n + popc(votes) >= 32;
    if (ok && place < 32) stack.sizes[place] = t.vertex, stack.sizes[32 + place] = mine;
    n += popc(votes);
    if (full) {
      found += visit_queue(l, 32);
      n -= 32;
      if (ok && place >= 32) stack.sizes[place - 32] = t.vertex, stack.sizes[place] = mine;
    }
    step(min(32u, end - at));
    if (patience <= 0) look();
  }
  if (!halted) found += visit_queue(l, n);
  if (lane() == 0) f.at = f.end = 0;
  return true;
}

#endif
