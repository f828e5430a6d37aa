// A node of the set program for several siblings at once (STMatch §1.6). Lane u has the
// operands of sibling u, and the warp goes over the elements of all siblings end to end.
#ifndef WEFT_COMBINE
#define WEFT_COMBINE
#include "base/graph.cuh"
#include "base/stream.cuh"

enum { LIST, AND, MINUS }; // the operation of a node

// The number of a level that is at least FIRST and below END: where one is asked
// for, other levels' code is not generated.
template <u32 FIRST, u32 END> struct Among {
  static constexpr u32 end = END;
  u32 number;
  DEV operator u32() const { return FIRST + 1 == END ? FIRST : number; }
};
template <u32 FIRST, u32 END> DEV Among<FIRST + 1, END + 1> below(Among<FIRST, END> l) { return {l + 1}; }

// Makes a node for the siblings in wanted, which are fewer than 32. states[u] is sibling u's
// state, and the memory of its nodes begins at slots + u*stride, with room for cap elements in
// each node. Returns the siblings for which the node has elements, and adds the elements that the
// warp goes over to total. Collective for the warp.
//
// A node is an operation on a and b: a list, a ∩ b, a − b. If the result might not fit, the
// node remains its unfiltered list, marked as lazy. Readers of a lazy node call Node::has,
// which is exact for any degree.
template <class N>
DEV u32 make_node(N node, const Graph& q, State* states, u32 wanted, u32* slots, u64 stride, u32 cap, u32& total) {
  u32 u = lane();
  bool mine = wanted >> u & 1;
  State& s = states[mine ? u : 0];
  if (node.op == LIST) {
    Set list = {0, 0}, none;
    if (mine) {
      node.operands(q, s, list, none);
      s.set[node.index] = list;
    }
    sync_warp(ALL);
    return ballot(ALL, list.n > 0);
  }
  Set a = {0, 0}, b = {0, 0};
  if (mine) node.operands(q, s, a, b);
  bool minus = node.op == MINUS;
  if (!minus && b.n < a.n) {
    Set t = a;
    a = b;
    b = t;
  }
  u32* out = slots + u * stride + (u64)node.slot * cap;
#if W_LAZY
  bool lazy = a.n > cap, loose = mine && node.loose(s);
  bool some = any(ALL, loose);
#else
  const bool lazy = false;
#endif
  Set from = {a.p, lazy ? 0 : a.n};
  Stream l = stream(from);
  total += l.total;
  Set other = {shfl(ALL, b.p, l.from), shfl(ALL, b.n, l.from)};
  u32 n = filter_each(out, from, l, [&](u32 x, u32 k) {
    Set in = {shfl(ALL, other.p, k), shfl(ALL, other.n, k)};
#if W_LAZY
    if (some) {
      u32 of = shfl(ALL, l.from, k);
      if (shfl(ALL, (u32)loose, of)) return (bool)node.has(q, states[of], x);
    }
#endif
    return contains(in, x) != minus;
  });
  if (mine) {
    s.set[node.index] = lazy ? a : Set{out, n};
#if W_LAZY
    node.set_lazy(s, lazy);
#endif
  }
  sync_warp(ALL);
  return ballot(ALL, mine && (lazy || n > 0));
}

#endif
