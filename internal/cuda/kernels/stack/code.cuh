// A plan's generated code under the names by which the stack schedule calls it,
// with level numbers that are known when the kernel runs. Each call is a choice
// among the plan's levels, whose code is straight.
#ifndef WEFT_CODE
#define WEFT_CODE
#include "stack/combine.cuh"

template <int> struct Node; // absent in programs without sets

template <int I> struct Int {
  static constexpr int value = I;
};

// f(Int<l>()) for one of the levels that l may be.
template <u32 L, u32 END, class F> DEV auto at_level(Among<L, END> l, F f) {
  if constexpr (L + 1 >= END)
    return f(Int<L>());
  else
    return l == L ? f(Int<L>()) : at_level(Among<L + 1, END>{l.number}, f);
}

// f(Int<i>()) for the k-th of the nodes from I on that level L makes.
template <u32 L, int I, class F> DEV void at_node(u32 k, F f) {
  if constexpr (I < W_SETS) {
    if constexpr (Node<I>::made && Node<I>::at == L) {
      if (k == 0) return f(Int<I>());
      k--;
    }
    at_node<L, I + 1>(k, f);
  }
}

// How many nodes from I on level L makes.
template <u32 L, int I> DEV constexpr u32 nodes_of() {
  if constexpr (I < W_SETS)
    return (Node<I>::made && Node<I>::at == L) + nodes_of<L, I + 1>();
  else
    return 0;
}

// The k-th node that level l makes, in the form that make() needs. Nodes differ only in the
// choice of operands; the operation itself is there once.
template <class L> struct CodeNode {
  L l;
  u32 k, index, op, slot;

  template <class F> DEV void choose(F f) const {
    at_level(l, [&](auto i) {
      at_node<i.value, 0>(k, f);
      return 0;
    });
  }
  DEV CodeNode(L level, u32 number) : l(level), k(number), index(0), op(LIST), slot(0) {
    choose([&](auto i) {
      index = i.value;
      op = Node<i.value>::op;
      slot = Node<i.value>::slot;
    });
  }
  DEV void operands(const Graph& q, const State& s, Set& a, Set& b) const {
    choose([&](auto i) {
      a = Node<i.value>::a(q, s);
      if constexpr (Node<i.value>::op != LIST) b = Node<i.value>::b(q, s);
    });
  }
#if W_LAZY
  // Whether the node's base was left unfiltered.
  DEV bool loose(const State& s) const {
    bool lazy = false;
    choose([&](auto i) {
      if constexpr (Node<i.value>::base_lazy)
        lazy = s.lazy[Node<i.value>::base_slot / 32] >> (Node<i.value>::base_slot % 32) & 1;
    });
    return lazy;
  }
  DEV bool has(const Graph& q, const State& s, u32 x) const {
    bool in = false;
    choose([&](auto i) {
      if constexpr (Node<i.value>::op != LIST) in = Node<i.value>::has(q, s, x);
    });
    return in;
  }
  DEV void set_lazy(State& s, bool lazy) const {
    u32& word = s.lazy[slot / 32];
    word = lazy ? word | 1u << (slot % 32) : word & ~(1u << (slot % 32));
  }
#endif
};

struct Code {
  static DEV u32 root_ranges(const Graph&) { return W_ROOT_RANGES; }
  static DEV u32 root_first(const Graph& q, u32 i) { return ::root_first(q, i); }
  static DEV u32 root_end(const Graph& q, u32 i) { return ::root_end(q, i); }

  // Whether level l's vertex may be v, which is in its list. One lane.
  template <class L> static DEV bool accept(const Graph& q, const State& s, L l, u32 v) {
    return at_level(l, [&](auto i) {
      if constexpr (i.value == 0)
        return (bool)root_ok(q, v);
      else if constexpr (i.value >= W_ENUM) // none is asked about
        return false;
      else
        return (bool)Level<i.value>::accept(q, s, v);
    });
  }

  // Level l's list, l > 0. One lane.
  template <class L> static DEV Set candidates(const Graph& q, const State& s, L l) {
    return at_level(l, [&](auto i) {
      if constexpr (i.value == 0 || i.value >= W_ENUM) // none is asked for
        return Set{0, 0};
      else
        return Level<i.value>::candidates(Group<1>(), q, s);
    });
  }

  // Makes level l's nodes; false: one is empty.
  template <class G, class L> static DEV bool sets(G g, const Graph& q, State& s, L l, u32* slots, u32 cap) {
    return at_level(l, [&](auto i) { return Level<i.value>::sets(g, q, s, slots, cap); });
  }

  // f(node) for each node that level l makes, in their order.
  template <class L, class F> static DEV void nodes(const Graph&, L l, F f) {
    u32 n = at_level(l, [](auto i) { return nodes_of<i.value, 0>(); });
    ROLLED for (u32 k = 0; k < n; k++) f(CodeNode<L>(l, k));
  }

#if W_ENUM < W_LEVELS
  template <class G> static DEV Count tail(G g, const Graph& q, State& s, u32* slots, u32 cap) {
    return ::tail(g, q, s, slots, cap);
  }
#endif
};
#endif
