// A plan's generated code under the names by which the stack schedule calls it,
// with level numbers that are known when the kernel runs. Each call is a choice
// among the plan's levels, whose code is straight.
#ifndef WEFT_CODE
#define WEFT_CODE
#include "combine.cuh"

template <int> struct Node; // absent in programs without sets

template <int I> struct Int {
  static constexpr int value = I;
};

// f(Int<l>()) for a level l with L <= l < END.
template <int L, int END, class F> DEV auto at_level(u32 l, F f) {
  if constexpr (L + 1 >= END)
    return f(Int<L>());
  else
    return l == L ? f(Int<L>()) : at_level<L + 1, END>(l, f);
}

// Node I of the set program as make() asks for it.
template <int I> struct CodeNode {
  static constexpr u32 index = I, op = Node<I>::op, slot = Node<I>::slot;
  static DEV Set a(const Graph& q, const State& s) { return Node<I>::a(q, s); }
  static DEV Set b(const Graph& q, const State& s) {
    if constexpr (op != LIST)
      return Node<I>::b(q, s);
    else
      return Set{0, 0};
  }
#if W_LAZY
  // Whether the node's base was left unfiltered.
  static DEV bool loose(const State& s) {
    if constexpr (Node<I>::base_lazy)
      return s.lazy[Node<I>::base_slot / 32] >> (Node<I>::base_slot % 32) & 1;
    else
      return false;
  }
  static DEV bool has(const Graph& q, const State& s, u32 x) {
    if constexpr (op != LIST)
      return Node<I>::has(q, s, x);
    else
      return false;
  }
  static DEV void set_lazy(State& s, bool lazy) {
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
  static DEV bool accept(const Graph& q, const State& s, u32 l, u32 v) {
    return at_level<0, W_ENUM>(l, [&](auto L) {
      if constexpr (L.value == 0)
        return (bool)root_ok(q, v);
      else
        return (bool)Level<L.value>::accept(q, s, v);
    });
  }

  // Level l's list, l > 0. One lane.
  static DEV Set candidates(const Graph& q, const State& s, u32 l) {
    return at_level<0, W_ENUM>(l, [&](auto L) {
      if constexpr (L.value == 0)
        return Set{0, 0};
      else
        return Level<L.value>::candidates(Group<1>(), q, s);
    });
  }

  // Makes level l's nodes; false: one is empty.
  template <class G> static DEV bool sets(G g, const Graph& q, State& s, u32 l, u32* slots, u32 cap) {
    return at_level<0, W_ENUM>(l, [&](auto L) { return Level<L.value>::sets(g, q, s, slots, cap); });
  }

  // f(node) for each node that level l makes, in their order.
  template <class F> static DEV void nodes(const Graph&, u32 l, F f) {
    at_level<0, W_ENUM>(l, [&](auto L) {
      nodes_of<L.value, 0>(f);
      return 0;
    });
  }

#if W_ENUM < W_LEVELS
  template <class G> static DEV Count tail(G g, const Graph& q, State& s, u32* slots, u32 cap) {
    return ::tail(g, q, s, slots, cap);
  }
#endif

private:
  template <int L, int I, class F> static DEV void nodes_of(F f) {
    if constexpr (I < W_SETS) {
      if constexpr (Node<I>::made && Node<I>::at == L) f(CodeNode<I>());
      nodes_of<L, I + 1>(f);
    }
  }
};
#endif
