// The neighbourhood of a root: its universe, a table that finds positions of
// ids, and the matrix of edges among them.
//
// C, a class of roots, gives sizes and places: see class.go.
#ifndef WEFT_LOCAL_HOOD
#define WEFT_LOCAL_HOOD
#include "neighbourhood/team.cuh"
#include "neighbourhood/rows.cuh"

// Whether the search below a position is to end. Collective for the group.
template <class Row> DEV bool leave(const Hood<Row>& h, u32) { return h.watch->leave(typename Row::G(), *h.run); }

#define NOWHERE 0xffffu // no position

// Ids are scattered by a multiplication: the upper half of the product says
// where in a table, the lower bits tell ids of one place apart.
DEV u32 scatter(u32 x) { return x * 2654435761u; }
DEV u32 place(u32 m, u32 slots) { return (u32)((u64)m * slots >> 32); }

// The lists of the plan's relation.
#ifdef LOCAL_SPARSE
DEV SparseAdj lists(const Graph& q) { return SparseAdj{q.adj[0]}; }
#else
DEV const Adj& lists(const Graph& q) { return q.adj[0]; }
#endif

// The neighbours of v that inside vertices may be.
DEV Set universe(const Graph& q, u32 v) {
  if (W_UNIVERSE == 1) return below(lists(q), v);
  if (W_UNIVERSE == 2) return above(lists(q), v);
  return list(lists(q), v);
}

// Positions by id: open addressing; a slot is 16 bits of the scattered id and
// the position. There are more slots than positions: a probe ends.
struct Positions {
  u32* slots;
  u32 size;
  const u32* list;

  template <class T> DEV void fill(u32 d) const {
    team_fill<T>(slots, size, ~0u);
    T::sync();
    for (u32 p = T::rank(); p < d; p += T::size()) {
      u32 m = scatter(list[p]), h = place(m, size);
      while (atomic_cas(&slots[h], ~0u, m << 16 | p) != ~0u) h = h + 1 == size ? 0 : h + 1;
    }
    T::sync();
  }
  DEV u32 find(u32 x) const {
    u32 m = scatter(x);
    for (u32 h = place(m, size);; h = h + 1 == size ? 0 : h + 1) {
      u32 s = slots[h];
      if (s == ~0u) return NOWHERE;
      if (s >> 16 == (m & 0xffff) && list[s & 0xffff] == x) return s & 0xffff;
    }
  }
};

// Those of u's neighbours that are counted where only their number matters.
DEV Set counted(const Graph& q, u32 u) {
  if (W_INNER == 1) return below(lists(q), u);
  if (W_INNER == 2) return above(lists(q), u);
  return list(lists(q), u);
}

// Notes that positions p < k are neighbours, in the rows that the plan reads.
template <class Row> DEV void link(u32* rows, u32 k, u32 p) {
  if (W_ROWS != 2) atomic_or(&rows[(u64)k * Row::stride + (p >> 5)], 1u << (p & 31));
  if (W_ROWS != 1) atomic_or(&rows[(u64)p * Row::stride + (k >> 5)], 1u << (k & 31));
}

// Makes the masks of the plan's labels and predicates.
template <class T, class Row> DEV void make_masks(const Graph& q, u32* masks, const u32* list, u32 d) {
  for (u32 i = T::rank(); i < W_MASKS * Row::stride; i += T::size()) {
    u32 bits = 0, p0 = i % Row::stride * 32;
    for (u32 p = p0; p < min(p0 + 32, d); p++) bits |= mask_ok(q, i / Row::stride, list[p]) ? 1u << (p - p0) : 0;
    masks[i] = bits;
  }
}

// Makes the neighbourhood of v, whose universe is s, in the team's memory m;
// rows may be in global memory. Collective for the team.
template <class C> DEV Hood<typename C::Row> make_hood(const Run& run, const Graph& q, u8* m, u32* rows, u32 v, Set s, Watch& watch) {
  using T = Team<C::team>;
  using Row = typename C::Row;
  static_assert(C::universe < C::slots && C::universe < NOWHERE, "a table has a free slot, and positions have 16 bits");
  u32* masks = (u32*)(m + C::masks);
  const u32* ids = s.p;
  if (C::keeps_list) {
    u32* own = (u32*)(m + C::list);
    for (u32 i = T::rank(); i < s.n; i += T::size()) own[i] = s.p[i];
    ids = own;
  }
  u64 cells = (u64)s.n * Row::stride;
  for (u64 i = T::rank(); i < cells; i += T::size()) rows[i] = 0;
  T::sync();
  Positions at = {(u32*)(m + C::table), C::slots, ids};
  at.fill<T>(s.n);
  make_masks<T, Row>(q, masks, ids, s.n);
  each_of<T>((TeamHead*)m, s.n, [&](u32 k) { return below(lists(q), ids[k]); },
             [&](u32 k, u32 x) {
               u32 p = at.find(x);
               if (p != NOWHERE) link<Row>(rows, k, p);
             });
  u32 cut = W_UNIVERSE == 1 ? s.n : W_UNIVERSE == 2 ? 0 : below(lists(q), v).n;
  T::sync();
  return Hood<Row>{rows, masks, s.n, cut, &watch, &run};
}

#endif
