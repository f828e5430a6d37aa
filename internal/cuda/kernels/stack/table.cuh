// A plan's set program as a table that one kernel reads: STMatch's row_ptr and
// set_ops (SC 2022), under the names by which the stack schedule calls a program.
// The words lie among the limits of struct Graph, from W_TABLE on: a kernel's
// parameter, which is constant memory. Package lower writes them:
//
//   row_ptr[W_LEVELS + 1]  the nodes that level l makes are row_ptr[l] … row_ptr[l+1]-1
//   W_SETS nodes           op, base, adj, of, slot, below, above, first, end
//   W_LEVELS levels        set, below, above, first, end, apart, bits + 1, degree, its adj, ranges, their number
//   ranges                 first, end
//
// below, above and apart are levels as bits. stack/code.cuh has the same names over code
// that is made for the plan.
#ifndef WEFT_TABLE
#define WEFT_TABLE
#include "stack/combine.cuh"

DEV u32 table_word(const Graph& q, u32 i) { return q.limit[W_TABLE + i]; }

// The part of s within first ≤ id < end, below and above the vertices of some levels.
DEV void narrow(const State& s, u32 below, u32 above, u32& first, u32& end) {
  for (; below; below &= below - 1) end = min(end, s.m[ctz(below)]);
  for (; above; above &= above - 1) first = max(first, s.m[ctz(above)] + 1);
}

struct TableNode {
  u32 index, op, base, adj, of, slot, below, above, first, end;

  DEV TableNode(const Graph& q, u32 i) : index(i) {
    u32 at = W_LEVELS + 1 + 9 * i;
    op = table_word(q, at);
    base = table_word(q, at + 1);
    adj = table_word(q, at + 2);
    of = table_word(q, at + 3);
    slot = table_word(q, at + 4);
    below = table_word(q, at + 5);
    above = table_word(q, at + 6);
    first = table_word(q, at + 7);
    end = table_word(q, at + 8);
  }
  DEV Set neighbours(const Graph& q, const State& s) const { return list(adjacency(q, adj), s.m[of]); }
  DEV Set a(const Graph& q, const State& s) const {
    u32 lo = first, hi = end;
    narrow(s, below, above, lo, hi);
    return slice(op == LIST ? neighbours(q, s) : s.set[base], lo, hi);
  }
  DEV void operands(const Graph& q, const State& s, Set& l, Set& r) const {
    l = a(q, s);
    r = b(q, s);
  }
  DEV Set b(const Graph& q, const State& s) const { return op == LIST ? Set{0, 0} : neighbours(q, s); }
#if W_LAZY
  static DEV bool is_lazy(const Graph& q, const State& s, u32 node) {
    u32 k = table_word(q, W_LEVELS + 1 + 9 * node + 4);
    return k != ~0u && (s.lazy[k / 32] >> (k % 32) & 1);
  }
  const Graph* graph = 0; // for loose, which is asked without one
  DEV bool loose(const State& s) const { return op != LIST && is_lazy(*graph, s, base); }
  // Whether x is in the node, of which nothing else is known.
  DEV bool has(const Graph& q, const State& s, u32 x) const {
    for (TableNode n = *this;;) {
      u32 lo = n.first, hi = n.end;
      narrow(s, n.below, n.above, lo, hi);
      if (x < lo || x >= hi) return false;
      bool in = contains(n.neighbours(q, s), x);
      if (n.op == LIST) return in;
      if (in == (n.op == MINUS)) return false;
      if (!contains(s.set[n.base], x)) return false;
      if (!is_lazy(q, s, n.base)) return true;
      n = TableNode(q, n.base);
    }
  }
  DEV void set_lazy(State& s, bool lazy) const {
    u32& word = s.lazy[slot / 32];
    word = lazy ? word | 1u << (slot % 32) : word & ~(1u << (slot % 32));
  }
#endif
};

struct Table {
  static DEV u32 level(const Graph& q, u32 l, u32 i) { return table_word(q, W_LEVELS + 1 + 9 * W_SETS + 11 * l + i); }

  static DEV u32 root_ranges(const Graph& q) { return level(q, 0, 10); }
  static DEV u32 root_first(const Graph& q, u32 i) { return table_word(q, level(q, 0, 9) + 2 * i); }
  static DEV u32 root_end(const Graph& q, u32 i) { return table_word(q, level(q, 0, 9) + 2 * i + 1); }

  // Whether level l's vertex may be v, which is in its list. One lane.
  static DEV bool accept(const Graph& q, const State& s, u32 l, u32 v) {
    for (u32 apart = level(q, l, 5); apart; apart &= apart - 1)
      if (s.m[ctz(apart)] == v) return false;
    u32 bits = level(q, l, 6), need = level(q, l, 7);
    if (bits && !bit(q.bits[bits - 1], v)) return false;
    if (need && degree(adjacency(q, level(q, l, 8)), v) < need) return false;
    if (l == 0) return true;
    u32 n = level(q, l, 10), r = level(q, l, 9);
    bool in = n == 0;
    for (u32 i = 0; i < n; i++) in = in || (table_word(q, r + 2 * i) <= v && v < table_word(q, r + 2 * i + 1));
#if W_LAZY
    u32 set = level(q, l, 0);
    if (in && TableNode::is_lazy(q, s, set)) in = node(q, set).has(q, s, v);
#endif
    return in;
  }

  // Level l's list, l > 0. One lane.
  static DEV Set candidates(const Graph& q, const State& s, u32 l) {
    u32 lo = level(q, l, 3), hi = level(q, l, 4);
    narrow(s, level(q, l, 1), level(q, l, 2), lo, hi);
    return slice(s.set[level(q, l, 0)], lo, hi);
  }

  // Makes level l's nodes; false: one is empty.
  template <class G> static DEV bool sets(G g, const Graph& q, State& s, u32 l, u32* slots, u32 cap) {
    for (u32 i = table_word(q, l), end = table_word(q, l + 1); i < end; i++) {
      TableNode n = node(q, i);
      Set a = n.a(q, s), b = n.b(q, s), made = a;
      if (n.op != LIST) {
        u32* out = slots + (u64)n.slot * cap;
#if W_LAZY
        Set from = n.op == AND && b.n < a.n ? b : a;
        bool lazy = from.n > cap;
        if (lazy) made = from;
        else if (n.loose(s)) made = Set{out, filter(g, out, from, [&](u32 x) { return n.has(q, s, x); })};
        else
#endif
          made = Set{out, n.op == AND ? intersect(g, out, a, b) : subtract(g, out, a, b)};
#if W_LAZY
        n.set_lazy(s, lazy);
#endif
      }
      s.set[i] = made;
      if (made.n == 0) return false;
    }
    return true;
  }

  // f(node) for each node that level l makes, in their order.
  template <class F> static DEV void nodes(const Graph& q, u32 l, F f) {
    for (u32 i = table_word(q, l), end = table_word(q, l + 1); i < end; i++) f(node(q, i));
  }

private:
  static DEV TableNode node(const Graph& q, u32 i) {
    TableNode n(q, i);
#if W_LAZY
    n.graph = &q;
#endif
    return n;
  }
};
#endif
