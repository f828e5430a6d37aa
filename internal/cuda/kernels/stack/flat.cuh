// The last walked level all at once: one candidate for each lane. The warp goes over the lists
// that the tail needs end to end, so it is busy however short they are. It serves plans in
// which one neighbour list of the candidate decides (Flat<0>, made by package lower): the size
// of that list combined with a set that is fixed for the level's whole list. If the fixed set
// is in a sieve, an element costs one or two reads of shared memory. In a list much longer than
// the fixed set, the elements of the fixed set are searched instead.
//
// Flat<0> has, with s the state above level `at`, v a candidate of that level, and x a vertex
// of the last level:
//   at          the level
//   op          LIST: over(q, s, v) alone; AND, MINUS: with fixed(q, s)
//   rests       1: rest(q, s, v, x) tests the other conditions on x
//   ready(q,s)  whether the sets that it reads are complete, not lazy
//   over, base  the list, and the fixed set, within all bounds of x
//   count(q,s,v,n)  the matches below v when n of the x pass; in programs with a tail
// All are called by one lane.
#ifndef WEFT_FLAT
#define WEFT_FLAT
#include "base/sieve.cuh"
#include "base/stream.cuh"

#define FLAT_TURN 8 // this many probes of a sieve cost as much as one search of a list

// Visitor of hits if matches are only counted.
struct NoVisit {
  static constexpr bool wanted = false;
  DEV void operator()(bool, u32, u32, u32) const {}
};

// The number of elements of the lane's list for which test(x, v's rank) holds;
// see(yes, x, v, from) sees each, v being the candidate and `from` its lane.
template <class TEST, class SEE> DEV u32 flat_walk(const Stream& t, Set a, u32 v, TEST test, SEE see) {
  if (t.total == 0) return 0;
  if constexpr (!SEE::wanted) {
    return count_each(a, t, test);
  } else {
    u32 n = 0;
    each(t, [&](Window w) {
      bool yes = test(w.x, w.of) && w.live;
      u32 from = shfl(ALL, t.from, w.of);
      see(yes, w.x, shfl(ALL, v, from), from);
    });
    return n;
  }
}

// How many x pass below each lane's candidate v. ok: the lane has one. work: adds
// up elements gone over; turned: lists that were searched. Collective.
template <class F, class SEE>
DEV u32 flat_hits(const Graph& q, const State& s, bool ok, u32 v, const Sieve* sieve, SEE see, u32& work, u32& turned) {
  Set list = {0, 0};
  if (ok) list = F::over(q, s, v);
  // The candidate of list k.
  auto rest = [&](const Stream& t, u32 x, u32 k) {
    if constexpr (F::rests) {
      u32 c = shfl(ALL, v, shfl(ALL, t.from, k));
      return x != ~0u && F::rest(q, s, c, x);
    } else {
      return true;
    }
  };
  if constexpr (F::op == LIST) {
    if constexpr (!F::rests && !SEE::wanted) return list.n;
    Stream t = stream(list);
    work += t.total;
    return flat_walk(t, list, v, [&](u32 x, u32 k) { return rest(t, x, k); }, see);
  } else {
    // a − b where elements matter; else |a| − |a ∩ b|.
    constexpr bool minus = F::op == MINUS, each_one = minus && (F::rests || SEE::wanted);
    Set fixed = F::fixed(q, s), base = {0, 0};
    bool turn = each_one || list.n > (u64)fixed.n * (sieve ? FLAT_TURN : 1);
    if (ok && (turn || minus)) base = F::base(q, s, v);
    u32 all = base.n, n = 0;
    turned += popc(ballot(ALL, turn && ok));
    if constexpr (!each_one) {
      Set a = {list.p, turn ? 0 : list.n};
      Stream t = stream(a);
      work += t.total;
      n = flat_walk(t, a, v, [&](u32 x, u32 k) {
        bool r = rest(t, x, k);
        return (sieve ? has(*sieve, x) : contains(fixed, x)) && r;
      }, see);
      if (!turn) base.n = 0;
    }
    if (!any(ALL, base.n > 0)) return minus && !each_one ? all - n : n;
    Stream t = stream(base);
    Set in = {shfl(ALL, list.p, t.from), shfl(ALL, list.n, t.from)};
    work += t.total;
    n += flat_walk(t, base, v, [&](u32 x, u32 k) {
      Set l = {shfl(ALL, in.p, k), shfl(ALL, in.n, k)};
      bool r = rest(t, x, k);
      return contains(l, x) != each_one && r;
    }, see);
    return minus && !each_one ? all - n : n;
  }
}

#endif
