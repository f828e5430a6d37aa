// The checks of a plan over the data graph, as generated: Level<l>::pivot and
// valid, Block<b>, combine (package lower, the checks view).
#ifndef FINE_PLAN
#define FINE_PLAN
#include "fine/steal.cuh"

// A pattern of one vertex has neither.
template <int> struct Level;
template <int> struct Block;

#ifdef W_CHOICES
typedef u128 Total;
#elif W_BLOCKS
typedef Count Total;
#else
typedef u64 Total;
#endif

struct Checks {
#ifdef FINE_PRUNE
  Graph q; // with lists of its own
#else
  const Graph& q;
#endif

  static DEV constexpr u32 levels() { return W_ENUM; }
  static DEV constexpr u32 blocks() { return W_BLOCKS; }

  // Candidate i of level 0, over all root ranges.
  DEV u32 root(u64 i) const {
    for (u32 r = 0; r < W_ROOT_RANGES; r++) {
      u32 first = root_first(q, r), end = root_end(q, r), n = end > first ? end - first : 0;
      if (i < n) return first + (u32)i;
      i -= n;
    }
    return 0;
  }
  // Always called with a candidate that root gave.
  DEV bool root_ok(u32 v) const { return ::root_ok(q, v); }

  DEV Set pivot(u32 l, Match m, u32& which) const { return pivot_at<1>(l, m, which); }
  DEV bool valid(u32 l, Match m, u32 which, u32 v) const { return valid_at<1>(l, m, which, v); }
#ifdef FINE_SIBLINGS
  static constexpr bool siblings = true;
  DEV Set parent_pivot(Match m, u32& which) const { return Siblings<W_ENUM - 1>::pivot(q, Vertices<W_ENUM - 2>(m).m, which); }
  DEV bool parent_valid(Match m, u32 which, u32 v) const {
    return Siblings<W_ENUM - 1>::valid(q, Vertices<W_ENUM - 2>(m).m, which, v);
  }
  DEV bool together(u32 u, u32 v) const { return Siblings<W_ENUM - 1>::together(q, u, v); }
#else
  static constexpr bool siblings = false;
#endif
  static DEV u32 name(u32 v) { return v; }
  static DEV u32 column(u32 l) { return l; }

#ifdef W_CHOICES
  // The number of matches that vertices make which are bound up to the last level
  // walked: one for each way to choose the data edges. v: that level's vertex, if it
  // is not in m yet.
  DEV u64 choices(Match m) const { return ::choices(q, Vertices<W_ENUM>(m).m); }
  DEV u64 choices(Match m, u32 v) const {
    u32 all[W_ENUM];
    UNROLL
    for (u32 j = 0; j + 1 < W_ENUM; j++) all[j] = m[j];
    all[W_ENUM - 1] = v;
    return ::choices(q, all);
  }
#endif

#if W_BLOCKS
  static DEV bool sized(u32 b) { return sized_at<0>(b); }
  // A block of a single group, of which the tail needs a vertex. They come first.
  static DEV bool needed(u32 b) { return b < W_TAIL_GROUPS; }
  DEV Set block_pivot(u32 b, Match m, u32& which) const { return block_pivot_at<0>(b, m, which); }
  DEV bool block_valid(u32 b, Match m, u32 which, u32 v) const { return block_valid_at<0>(b, m, which, v); }
  DEV Total combine(const Run&, Match sizes) const { return ::combine(q, Vertices<W_BLOCKS>(sizes).m); }
#else
  static DEV bool sized(u32) { return false; }
  static DEV bool needed(u32) { return false; }
  DEV Set block_pivot(u32, Match, u32&) const { return Set{0, 0}; }
  DEV bool block_valid(u32, Match, u32, u32) const { return false; }
  DEV Total combine(const Run&, Match) const { return 0; }
#endif

#ifdef FINE_PARTS
  // Candidate k of level l, or of block b, by the backward neighbour `which`, whose list pivot
  // has given as if it lay at address 0. ~0: the place is empty.
  DEV u32 place(u32 l, Match m, u32 which, u32 k) const { return place_at<1>(l, m, which, k); }
#if W_BLOCKS
  DEV u32 block_place(u32 b, Match m, u32 which, u32 k) const { return block_place_at<0>(b, m, which, k); }
#else
  DEV u32 block_place(u32, Match, u32, u32) const { return ~0u; }
#endif
#endif

private:
#ifdef FINE_PARTS
  // Where lists are stored in parts, a pivot is a number of places.
  template <class L, u32 N> DEV Set pivot_of(Match m, u32& which) const {
    return Set{0, L::places(q, Vertices<N>(m).m, which)};
  }
  template <u32 L> DEV u32 place_at(u32 l, Match m, u32 which, u32 k) const {
    if constexpr (L < W_ENUM) {
      if (l == L || L + 1 == W_ENUM) return Level<L>::place(q, Vertices<L>(m).m, which, k);
      return place_at<L + 1>(l, m, which, k);
    }
    return ~0u;
  }
#if W_BLOCKS
  template <u32 B> DEV u32 block_place_at(u32 b, Match m, u32 which, u32 k) const {
    if constexpr (B < W_BLOCKS) {
      if (b == B || B + 1 == W_BLOCKS) return Block<B>::place(q, Vertices<W_ENUM>(m).m, which, k);
      return block_place_at<B + 1>(b, m, which, k);
    }
    return ~0u;
  }
#endif
#else
  template <class L, u32 N> DEV Set pivot_of(Match m, u32& which) const { return L::pivot(q, Vertices<N>(m).m, which); }
#endif

  // A level is a number at run time, and code of its own: the vertices before it
  // are registers there.
  template <u32 N> struct Vertices {
    u32 m[N];
    DEV Vertices(Match from) {
      UNROLL
      for (u32 j = 0; j < N; j++) m[j] = from[j];
    }
  };
  template <u32 L> DEV Set pivot_at(u32 l, Match m, u32& which) const {
    if constexpr (L < W_ENUM) {
      if (l == L || L + 1 == W_ENUM) return pivot_of<Level<L>, L>(m, which);
      return pivot_at<L + 1>(l, m, which);
    }
    return Set{0, 0};
  }
  template <u32 L> DEV bool valid_at(u32 l, Match m, u32 which, u32 v) const {
    if constexpr (L < W_ENUM) {
      if (l == L || L + 1 == W_ENUM) return Level<L>::valid(q, Vertices<L>(m).m, which, v);
      return valid_at<L + 1>(l, m, which, v);
    }
    return false;
  }
#if W_BLOCKS
  template <u32 B> static DEV bool sized_at(u32 b) {
    if constexpr (B < W_BLOCKS) return b == B ? Block<B>::sized != 0 : sized_at<B + 1>(b);
    return false;
  }
  template <u32 B> DEV Set block_pivot_at(u32 b, Match m, u32& which) const {
    if constexpr (B < W_BLOCKS) {
      if (b == B || B + 1 == W_BLOCKS) return pivot_of<Block<B>, W_ENUM>(m, which);
      return block_pivot_at<B + 1>(b, m, which);
    }
    return Set{0, 0};
  }
  template <u32 B> DEV bool block_valid_at(u32 b, Match m, u32 which, u32 v) const {
    if constexpr (B < W_BLOCKS) {
      if (b == B || B + 1 == W_BLOCKS) return Block<B>::valid(q, Vertices<W_ENUM>(m).m, which, v);
      return block_valid_at<B + 1>(b, m, which, v);
    }
    return false;
  }
#endif
};

#endif
