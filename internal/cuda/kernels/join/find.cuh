// The candidates of a row: one list that is walked, and lists in which its elements are looked up. GSI (Zeng et al.,
// ICDE 2020, section 5) and GENEVA (Lu et al., TPDS 2023) intersect lists the same way, by size: the smallest list
// is walked 128 bytes at a time, the row lies in shared memory, and the set of candidates is a bitset. A naive group, for
// comparison, walks the first list, and looks each element up in the whole of every other list.
#ifndef JOIN_FIND
#define JOIN_FIND
#include "join/plan.cuh"

// The lists of a row's group. Lane k has the group's k-th backward neighbour.
struct JoinFound {
  Set base;   // whose elements may be candidates
  Set mine;   // this lane's list
  u32 low;    // where in it the next element of base may be
  u32 others; // lanes whose lists base's elements are looked up in
  u32 neg;    // those among them that must not have the element
};

// Finds the lists for a row in shared memory, of `width` ids. With `first` the list of the first back is walked, and
// otherwise the shortest; a naive group walks the first one that is not negated. Collective for the warp.
DEV JoinFound join_find(const JoinGroup& g, const JoinLists* lists, const u32* row, u32 width, bool first) {
  JoinFound f = {{0, 0}, {0, 0}, 0, 0, 0};
  u32 at = lane() < width ? 1u << lane() : 0, m = at ? row[lane()] : 0;
  u32 lo = reduce_max(ALL, g.above & at ? m + 1 : g.first), hi = reduce_min(ALL, g.below & at ? m : g.end);
  if (lo >= hi) return f;
  bool on = lane() < g.backs;
  u32 b = on ? g.back[lane()] : 0;
  f.mine = join_own(lists, g.back, g.backs, row);
  bool positive = on && !(b & 1);
  u32 backs = ballot(ALL, positive);
  f.neg = ballot(ALL, on && (b & 1));
  f.others = backs | ballot(ALL, on && (b & 1) && f.mine.n > 0);
  if (backs) {
    u32 least = reduce_min(ALL, positive ? f.mine.n : ~0u);
    if (least == 0 && !g.naive) return f;
    u32 k = first ? 0 : g.naive ? ctz(backs) : ctz(ballot(ALL, positive && f.mine.n == least));
    f.base = Set{shfl(ALL, f.mine.p, k), shfl(ALL, f.mine.n, k)};
    f.others &= ~(1u << k);
  } else {
    f.base = Set{g.all, g.all_n};
  }
  f.base = slice(Warp(), f.base, lo, hi);
  return f;
}

// Whether this lane's v is a candidate: an element of base where `in` is true, and ~0 elsewhere. v ascends from lane 0 to
// lane `last`, the last one with an element, and from call to call, unless f.low is set back to 0. Collective for the
// warp.
DEV bool join_test(const JoinGroup& g, const JoinLists* lists, const u32* row, JoinFound& f, u32 v, bool in, u32 last) {
  for (u32 d = g.distinct; d; d &= d - 1) in &= v != row[ctz(d)];
  in = in && join_allows(g, lists, v);
  u32 most = shfl(ALL, v, last);
  for (u32 o = f.others; o && any(ALL, in); o &= o - 1) {
    u32 k = ctz(o), low = shfl(ALL, f.low, k);
    Set list = {shfl(ALL, f.mine.p, k), shfl(ALL, f.mine.n, k)};
    u32 high = list.n;
    if (g.naive)
      low = 0;
    else
      high = window(Warp(), list, low, most);
    u32 at = bisect(list.p, low, high, v);
    bool there = at < list.n && list.p[at] == v;
    in = in && there == !(f.neg >> k & 1);
    low = shfl(ALL, at, last);
    if (lane() == k) f.low = low;
  }
  return in;
}

// The same of the element of base at i + lane() < end, which is read here.
DEV bool join_test(const JoinGroup& g, const JoinLists* lists, const u32* row, JoinFound& f, u32 i, u32 end, u32& v) {
  bool in = i + lane() < end;
  v = in ? f.base.p[i + lane()] : ~0u;
  return join_test(g, lists, row, f, v, in, min(end - i, 32u) - 1);
}

// The number of candidates at positions from … end-1 of base, where nothing is asked of them but bounds and to differ
// from the row's vertices of some levels. Collective for the warp.
DEV u32 join_size(u32 distinct, const u32* row, const JoinFound& f, u32 from, u32 end) {
  if (!distinct) return end - from;
  bool on = distinct >> lane() & 1;
  u32 m = on ? row[lane()] : ~0u;
  u32 same = match_any(ALL, m);
  on = on && ctz(same) == lane(); // each vertex once
  if (on) {
    u32 at = lower_bound(f.base.p, f.base.n, m);
    on = at >= from && at < end && f.base.p[at] == m;
  }
  return end - from - popc(ballot(ALL, on));
}

#endif
