// The breadth-first start (gMatch, PVLDB 2026, §4.3): a pool of partial matches grows by a
// level at a time. A task is a row of the previous pool and one of its candidates, as in the
// search. Prefix sums of the rows' numbers of candidates number all tasks of a level, and warps
// take equal ranges of these. Many warps share a hub's list, and one warp takes a range of
// short lists. So nothing needs to be stolen here: no warp ends later than the others by more
// than a range. Part of Walker (fine/search.cuh).
#ifndef FINE_GROW
#define FINE_GROW
#include "fine/search.cuh"

// Tasks of a range, at most, and ranges a warp where a level has fewer.
#define FINE_RANGE 1024
#define FINE_RANGES 4

// Lays out, in this lane's column, a row of the pool before or, without one, a
// candidate of level 0. Whether it is one to extend.
template <class C, Purpose PURPOSE> DEV bool Walker<C, PURPOSE>::place(u64 row) {
  if (x.depth == 0) {
    u32 v = checks.root(row);
    stack.bound[lane()] = v;
    return checks.root_ok(v);
  }
  for (u32 j = 0; j < x.depth; j++) stack.bound[32 * j + lane()] = x.rows[j * x.room + row];
  return true;
}

template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::size_all() {
  for (u64 first = grid_rank() - lane(); first < x.count; first += grid_size()) {
    u64 row = first + lane();
    bool on = row < x.count && place(row);
    u32 which;
    if (row < x.count) x.sizes[row] = on ? checks.pivot(last, match(lane()), which).n : 0;
    u32 votes = ballot(ALL, on);
    if (x.depth == 0 && lane() == 0) atomic_add(&x.grown->roots, (u64)popc(votes));
  }
}

// The row whose candidates have task t among them. Collective.
DEV u64 row_of(const u64* starts, u64 rows, u64 t) {
  u64 lo = 0;
  for (u64 n = rows; n > 1;) {
    u64 stride = (n + 31) / 32, k = lane() * stride;
    u64 skip = (popc(ballot(ALL, k < n && starts[lo + k] <= t)) - 1) * stride;
    lo += skip;
    n = min(stride, n - skip);
  }
  return lo;
}

template <class C, Purpose PURPOSE> DEV void Walker<C, PURPOSE>::grow_all() {
  const u64 n = x.count, tasks = x.starts[n], fair = tasks / (grid_size() / 32 * FINE_RANGES);
  const u64 range = min(max(fair & ~31ull, (u64)32), (u64)FINE_RANGE);
  Frame& f = frame(last - 1);
  while (!halted) {
    u64 at = tasks;
    if (lane() == 0 && load_relaxed(&x.grown->rows) <= x.room) at = atomic_add(&x.grown->taken, range);
    at = shfl(ALL, at, 0);
    if (at >= tasks) break;
    const u64 end = min(at + range, tasks);
    for (u64 first = row_of(x.starts, n, at); !halted;) {
      u64 row = first + lane(), start = row < n ? x.starts[row] : tasks, next = row < n ? x.starts[row + 1] : tasks;
      u64 from = max(start, at), to = min(next, end);
      Set s = {0, 0};
      u32 which = 0;
      if (from < to) {
        place(row);
        s = Set{checks.pivot(last, match(lane()), which).p + (from - start), (u32)(to - from)};
      }
      make_pool(f, s, which);
      leaf(last - 1);
      if (shfl(ALL, next, 31) >= end) break;
      first += 32;
    }
  }
}

#endif
