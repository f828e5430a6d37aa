// The outside vertices of a root. Every y that has common neighbours with it is at the end of
// wedges root – u – y, one for each common neighbour u (Chiba and Nishizeki 1985). A table in
// shared memory counts the wedges of each y. If the table does not hold all y, the search goes
// through the ids range by range: neighbour lists are sorted, so a range is a slice of each.
#ifndef WEFT_LOCAL_WEDGES
#define WEFT_LOCAL_WEDGES
#include "neighbourhood/share.cuh"

// Counters of the ids lo … hi-1. Direct: one an id; else a hash table.
template <u32 CAP> struct Wedges {
  u32* words; // 2*CAP
  u32 lo, hi;
  u32 slots; // in use: of the table, or hi-lo
  bool direct;
  Columns columns;

  // The part of u's neighbours that is in the range.
  DEV Set part(const Graph& q, u32 u) const { return slice_of(q, columns, u, lo, hi); }
  DEV u32 longest() const { return min(slots, 64u); } // probes before a table counts as full
  DEV u32* keys() const { return words; }
  DEV u32* counts() const { return direct ? words : words + CAP; }

  // Empties the table for a range in which about `wedges` wedges end.
  template <class T> DEV void open(u32 from, u32 to, u64 wedges) {
    lo = from, hi = to;
    u64 wanted = max((u64)64, 2 * wedges);
    direct = hi - lo <= 2 * CAP && (hi - lo <= 4 * wanted || wanted > CAP);
    slots = direct ? hi - lo : (u32)min(wanted, (u64)CAP);
    T::sync();
    if (!direct) team_fill<T>(words, slots, ~0u);
    team_fill<T>(counts(), slots, 0);
    T::sync();
  }
  // The slot of y, which it gets if it has none; ~0: the table is full.
  DEV u32 enter(u32 y) const {
    if (direct) return y - lo;
    u32 h = place(scatter(y), slots);
    for (u32 n = longest(); n > 0; n--) {
      u32 k = atomic_cas(&words[h], ~0u, y);
      if (k == ~0u || k == y) return h;
      h = h + 1 == slots ? 0 : h + 1;
    }
    return ~0u;
  }
  // The slot of y, which has one.
  DEV u32 find(u32 y) const {
    if (direct) return y - lo;
    u32 h = place(scatter(y), slots);
    while (words[h] != y) h = h + 1 == slots ? 0 : h + 1;
    return h;
  }
  // The id of slot i; of an empty slot any.
  DEV u32 id(u32 i) const { return direct ? lo + i : words[i]; }
};

// The first id in [from, end) where degrees from `from` on add up to more than
// sum. One lane.
DEV u32 id_of_degree(const Graph& q, const Columns& c, u32 from, u32 end, u64 sum) {
  u64 limit = entries_in(q, c, from) + sum;
  u32 lo = from, n = end - from;
  while (n > 0) {
    u32 half = n >> 1;
    bool low = entries_in(q, c, lo + half + 1) <= limit;
    lo = low ? lo + half + 1 : lo;
    n = low ? n - half - 1 : half;
  }
  return lo;
}

// Goes through the outside ids lo … end-1 of root, range by range. Single lanes call count(k,
// y, slot, table) for each wedge over list[k], and the team calls ended(table) at the end of
// each range. It calls undo() if the table was full and a range must be repeated, with a larger
// table or in parts. False: the run is stopped.
template <class C, class F, class E, class U>
DEV bool each_range(const Run& r, const Graph& q, const Columns& columns, TeamHead* head, u32* words, Set s, u32 lo, u32 end, u64 wedges, Watch& watch,
                    F count, E ended, U undo) {
  using T = Team<C::team>;
  // Wedges end in a range about as its degrees are to all in the graph.
  u64 all = max((u64)1, all_entries(q, columns));
  u32 width = end - lo, doubt = 1;
  constexpr u32 CAP = table_size<C>;
  Wedges<CAP> t;
  t.words = words, t.columns = columns;
  while (lo < end) {
    u32 hi = end - lo < width ? end : lo + width;
    if (T::rank() == 0) {
      u32 to = hi;
      if (wedges > CAP / 4 * 3) {
        to = id_of_degree(q, columns, lo, hi, (u64)((f64)all / (f64)wedges * (CAP / 4 * 3)));
        to = min(hi, max(to, lo + min(hi - lo, 2 * CAP)));
      }
      head->found = watch.leave(r) ? lo : to;
      head->flag = 0;
    }
    T::sync();
    hi = head->found;
    if (hi == lo) return false;
    u64 expected = (u64)((f64)wedges / (f64)all * (f64)(entries_in(q, columns, hi) - entries_in(q, columns, lo))) * doubt + 1;
    t.template open<T>(lo, hi, min(wedges, expected));
    each_of<T>(head, s.n, [&](u32 k) { return t.part(q, s.p[k]); },
               [&](u32 k, u32 y) {
                 if (load_relaxed(&head->flag)) return;
                 u32 i = t.enter(y);
                 if (i == ~0u) store_relaxed(&head->flag, 1u);
                 else count(k, y, i, t);
               });
    T::sync();
    bool full = head->flag;
    T::sync();
    if (full) {
      undo();
      if (t.slots < CAP) doubt *= 8;
      else width = max(1u, (hi - lo) / 2);
      continue;
    }
    ended(t);
    lo = hi, doubt = 1;
    width = width > (end - lo) / 2 ? end - lo : 2 * width;
  }
  return true;
}

// Goes through all outside ids of root as each_range does; where teams share roots,
// through those parts of them that this team takes.
template <class C, class F, class E, class U>
DEV void each_outside(const Run& r, const Graph& q, TeamHead* head, u32* words, const Share& share, Set s, Watch& watch, F count,
                      E ended, U undo) {
  using T = Team<C::team>;
  const Columns c = columns(q);
  u32 lo = c.from(outside_from(q, share.root)), end = c.to(outside_end(q, share.root));
  if (lo >= end) return;
  u64 mine = 0;
  for (u32 k = T::rank(); k < s.n; k += T::size()) mine += degree_of(q, c, s.p[k]);
  u64 wedges = team_sum<T>(head, mine);
  auto bound = [&](u32 part) {
    return part == share.tasks ? end : id_of_degree(q, c, lo, end, (u64)((f64)(entries_in(q, c, end) - entries_in(q, c, lo)) * part / share.tasks));
  };
  for (;;) {
    u32 from = lo, to = end;
    if constexpr (C::shares) {
      if (T::rank() == 0) {
        u32 part = atomic_add(share.taken, 1u);
        head->found = part < share.tasks ? bound(part) : end;
        head->part_end = part < share.tasks ? bound(part + 1) : end;
      }
      T::sync();
      from = head->found, to = head->part_end;
      T::sync();
      if (from == end) return;
    }
    if (from < to && !each_range<C>(r, q, c, head, words, s, from, to, wedges, watch, count, ended, undo)) return;
    if (!C::shares) return;
  }
}

#endif
