// The flat last level of the stack schedule. Part of stack/stack.cuh.
#include "stack/flat.cuh"

#if W_VISIT
// Lists the hits of flat_hits.
struct FlatRows {
  Search& w;
  const State& up;
  u32 level;
  static constexpr bool wanted = true;
  DEV void operator()(bool yes, u32 x, u32 v, u32) const {
    const State& s = up;
    u32 l = level;
    if (!w.quit) w.emit([&](u32 c) { return c < l ? s.m[c] : c == l ? v : x; }, yes, l + 1);
  }
};
#endif

// Finds the matches below level l's list; false: the sets above are not complete,
// and it cannot. Collective.
template <class F> DEV bool Search::flat(Last l) {
  const State& up = l == 0 ? s.state[0][0] : above(l);
  if (!F::ready(q, up)) return false;
  Sieve sv;
  bool sieved = false;
  for (;;) {
    if (poll()) break;
    u32 n, b = take_places(l, 32, n);
    if (n == 0) break;
    if (W_STEAL == 2 && l <= W_DETECT) give(); // a part of the rest of this batch
    if constexpr (F::op != LIST) {
      // A sieve is made at the cost of a few lists' walks.
      if (!sieved && x.sieve_room && n >= 8) {
        Set fixed = F::fixed(q, up);
        if (fixed.n >= 32) {
          sv = sieve(Warp(), table, x.sieve_room, fixed);
          sieved = true;
          note(USED_SIEVE);
        }
      }
    }
    u32 v = lane() < n ? at_place(l, b + lane()) : 0;
    bool ok = lane() < n && accept(l, v);
    u32 votes = ballot(ALL, ok);
    if (votes == 0) continue;
    visit(l, popc(votes));
    note(USED_FLAT);
    u32 work = 0, turned = 0, hits;
#if W_VISIT
    if (run.ring) {
      flat_hits<F>(q, up, ok, v, sieved ? &sv : 0, FlatRows{*this, up, l}, work, turned);
      lanes(work);
      continue;
    }
    hits = flat_hits<F>(q, up, ok, v, sieved ? &sv : 0, NoVisit(), work, turned);
    if (hits) credit(l == 0 ? v : up.m[0], hits);
    visit_lanes(l + 1, hits);
#else
    hits = flat_hits<F>(q, up, ok, v, sieved ? &sv : 0, NoVisit(), work, turned);
    if (ok) credit(l == 0 ? v : up.m[0], F::count(q, up, v, hits));
#endif
    note(USED_TURNED, turned);
    lanes(work);
  }
  if (sieved) clear(Warp(), sv);
  return true;
}
