// Operations on sets: ascending lists of u32 without repeats.
//
// A group of lanes works on one pair of lists. The walk takes the list a in chunks of one
// element for each lane. Both lists ascend, so the elements of b that a chunk can meet are one
// window. The window begins where the previous chunk ended, and all lanes together find its end
// by one round of probes at doubling distances. Each lane then bisects the window alone.
//
// For lists of similar length a window has about the size of a chunk, which is a merge with all
// loads in few cache lines. For lists of very different length there are few chunks with wide
// windows, which is a binary search of the shorter list in the longer one with shared first
// steps.
//
// Requirements for all functions with a group: all its lanes call with equal arguments. Lists
// are sorted, without repeats, in memory that all lanes read. out has the room that the
// function's comment states. Results are equal on all lanes, and written elements are visible
// to the group on return. The last element of a list is below 2^32 - 1 (no vertex has that id).
//
// The host twin is session's Go test: the same operations over sorted slices.
#ifndef WEFT_SETOPS
#define WEFT_SETOPS
#include "base/group.cuh"

// A list, or a slice of one.
struct Set {
  const u32* p;
  u32 n;
};

// The bit of v in a bitmap of 64-bit words.
DEV bool bit(const u64* words, u32 v) { return words[v >> 6] >> (v & 63) & 1; }

// Where in p[lo … hi) the first element that is at least x stands; hi: none is.
// All lanes with windows of one width take the same number of steps.
DEV u32 bisect(const u32* p, u32 lo, u32 hi, u32 x) {
  u32 n = hi - lo;
  while (n > 0) {
    u32 half = (n + 1) >> 1;
    lo = p[lo + half - 1] < x ? lo + half : lo;
    n -= half;
  }
  return lo;
}

// The number of elements of p[0 … n) below x. One lane.
DEV u32 lower_bound(const u32* p, u32 n, u32 x) { return bisect(p, 0, n, x); }

// Whether x is in s. One lane.
DEV bool contains(Set s, u32 x) {
  u32 i = lower_bound(s.p, s.n, x);
  return i < s.n && s.p[i] == x;
}

// The elements x of s with lo <= x < hi. One lane's work; a uniform call gives
// every lane the same.
DEV Set slice(Set s, u32 lo, u32 hi) {
  u32 b = lo == 0 ? 0 : lower_bound(s.p, s.n, lo);
  u32 e = hi <= lo ? b : hi == ~0u ? s.n : bisect(s.p, b, s.n, hi);
  return Set{s.p + b, e - b};
}

// The number of elements of p[0 … n) below x, found by all lanes of the group:
// each round splits what remains into size()+1 parts.
template <class G> DEV u32 lower_bound(G g, const u32* p, u32 n, u32 x) {
  if (G::size() < 4) return lower_bound(p, n, x);
  u32 lo = 0;
  while (n > 0) {
    u32 step = (n + G::size()) / (G::size() + 1);
    u32 at = (g.rank() + 1) * step; // this lane's part ends here
    u32 c = popc(g.ballot(at <= n && p[lo + min(at, n) - 1] < x));
    lo += c * step;
    n = c < G::size() ? min(step - 1, n - c * step) : n - c * step;
  }
  return lo;
}

// slice by all lanes of a group: 2 to 4 rounds of loads whatever the length.
template <class G> DEV Set slice(G g, Set s, u32 lo, u32 hi) {
  u32 b = lo == 0 ? 0 : lower_bound(g, s.p, s.n, lo);
  u32 e = hi <= lo ? b : hi == ~0u ? s.n : b + lower_bound(g, s.p + b, s.n - b, hi);
  return Set{s.p + b, e - b};
}

// The end of the window of b that begins at lo and holds every element up to
// last: elements from there on are above last. Lane i looks size() << i further.
template <class G> DEV u32 window(G g, Set b, u32 lo, u32 last) {
  u32 left = b.n - lo;
  for (u64 w = G::size(); w < left; w <<= G::size()) {
    u64 far = min(w << g.rank(), (u64)left);
    u32 c = popc(g.ballot(far < left && b.p[lo + far - 1] < last));
    if (c < G::size()) return lo + (u32)min(w << c, (u64)left);
    if (G::size() == 32) break;
  }
  return b.n;
}

// Walks over a and looks its elements up in b. It takes the elements that are in b (KEEP), or
// those that are not, and writes them to out (WRITE), or only counts. Returns their number.
template <bool KEEP, bool WRITE, class G> DEV u32 walk(G g, u32* out, Set a, Set b) {
  u32 n = 0, mine = 0, lo = 0;
  u32 k = g.rank();
  u32 x = k < a.n ? a.p[k] : ~0u;
  for (u32 i = 0; i < a.n; i += G::size()) {
    // Load the next chunk before this one is looked for: the walk is a chain
    // of dependent loads otherwise.
    u32 now = x;
    bool live = k < a.n;
    g.tally(live);
    k += G::size();
    x = k < a.n ? a.p[k] : ~0u;
    u32 hi = window(g, b, lo, g.shfl(now, min(G::size(), a.n - i) - 1));
    u32 at = bisect(b.p, lo, hi, now);
    bool in = at < b.n && b.p[at] == now;
    bool yes = live && in == KEEP;
    if (WRITE) {
      u32 votes = g.ballot(yes);
      if (yes) out[n + popc(votes & g.below())] = now;
      n += popc(votes);
    } else {
      mine += yes;
    }
    lo = g.shfl(at, min(G::size(), a.n - i) - 1);
    if (KEEP && lo == b.n) break;
  }
  if (!WRITE) return g.sum(mine);
  g.sync();
  return n;
}

// out = a ∩ b; returns the size. out has room for the shorter list; it may be
// a.p or b.p, but not otherwise meet them.
template <class G> DEV u32 intersect(G g, u32* out, Set a, Set b) {
  return a.n <= b.n ? walk<true, true>(g, out, a, b) : walk<true, true>(g, out, b, a);
}

// |a ∩ b|. Writes nothing.
template <class G> DEV u32 intersect_count(G g, Set a, Set b) {
  return a.n <= b.n ? walk<true, false>(g, (u32*)0, a, b) : walk<true, false>(g, (u32*)0, b, a);
}

// out = a − b; returns the size. out has room for a.n; it may be a.p.
template <class G> DEV u32 subtract(G g, u32* out, Set a, Set b) { return walk<false, true>(g, out, a, b); }

// |a − b|. Writes nothing.
template <class G> DEV u32 subtract_count(G g, Set a, Set b) { return a.n - intersect_count(g, a, b); }

// out = the elements of a that keep(x) accepts; returns the size. keep is called
// by each lane alone, and not on all lanes: it must not be collective. out has
// room for a.n; it may be a.p.
template <class G, class F> DEV u32 filter(G g, u32* out, Set a, F keep) {
  u32 n = 0, k = g.rank();
  u32 next = k < a.n ? a.p[k] : 0;
  for (u32 i = 0; i < a.n; i += G::size()) {
    u32 x = next; // the next chunk is loaded before this one is looked at
    bool live = k < a.n;
    k += G::size();
    next = k < a.n ? a.p[k] : 0;
    g.tally(live);
    bool yes = live && keep(x);
    u32 votes = g.ballot(yes);
    if (yes) out[n + popc(votes & g.below())] = x;
    n += popc(votes);
  }
  g.sync();
  return n;
}

// The sum of value(x), a u64, over the elements of a; value is called by single
// lanes. Collective.
template <class G, class F> DEV u64 sum_each(G g, Set a, F value) {
  u64 mine = 0;
  for (u32 k = g.rank(); k < a.n; k += G::size()) {
    g.tally(true);
    mine += value(a.p[k]);
  }
  return g.sum(mine);
}

// The number of elements of a that keep(x) accepts; keep as for filter. Four
// loads are under way before the first element is looked at.
template <class G, class F> DEV u32 count_if(G g, Set a, F keep) {
  const u32 step = G::size();
  u32 mine = 0, k = g.rank();
  for (; k + 3 * step < a.n && a.n > 3 * step; k += 4 * step) {
    u32 x[4];
    UNROLL for (u32 j = 0; j < 4; j++) x[j] = a.p[k + j * step];
    UNROLL for (u32 j = 0; j < 4; j++) {
      g.tally(true);
      mine += keep(x[j]) ? 1 : 0;
    }
  }
  for (; k < a.n; k += step) {
    g.tally(true);
    mine += keep(a.p[k]) ? 1 : 0;
  }
  return g.sum(mine);
}

// a and a bitmap, in shared or global memory: filter and count_if state the requirements. The
// bitmap has a bit for every id in a.
template <class G> DEV u32 intersect(G g, u32* out, Set a, const u64* words) {
  return filter(g, out, a, [=](u32 x) { return bit(words, x); });
}
template <class G> DEV u32 subtract(G g, u32* out, Set a, const u64* words) {
  return filter(g, out, a, [=](u32 x) { return !bit(words, x); });
}
template <class G> DEV u32 intersect_count(G g, Set a, const u64* words) {
  return count_if(g, a, [=](u32 x) { return bit(words, x); });
}
template <class G> DEV u32 subtract_count(G g, Set a, const u64* words) {
  return a.n - intersect_count(g, a, words);
}

// out = a; returns a.n. out has room for a.n.
template <class G> DEV u32 copy(G g, u32* out, Set a) {
  for (u32 k = g.rank(); k < a.n; k += G::size()) out[k] = a.p[k];
  g.sync();
  return a.n;
}

// A set without some of its own elements.
struct Piece {
  Set run;
  Set gone; // a part of run
};

// out = the union of the remaining elements of the pieces; returns its size. No two pieces have
// an element in common. The place of an element is the number of remaining elements before it
// in all pieces. out has room for all of them, and does not overlap a piece.
template <class G, u32 N> DEV u32 merge(G g, u32* out, const Piece (&pieces)[N]) {
  u32 n = 0;
  UNROLL for (u32 k = 0; k < N; k++) {
    const Set run = pieces[k].run, gone = pieces[k].gone;
    n += run.n - gone.n;
    for (u32 i = g.rank(); i < run.n; i += G::size()) {
      g.tally(true);
      u32 x = run.p[i], lost = lower_bound(gone.p, gone.n, x);
      if (lost < gone.n && gone.p[lost] == x) continue;
      u32 at = i - lost;
      UNROLL for (u32 j = 0; j < N; j++)
        if (j != k) at += lower_bound(pieces[j].run.p, pieces[j].run.n, x) - lower_bound(pieces[j].gone.p, pieces[j].gone.n, x);
      out[at] = x;
    }
  }
  g.sync();
  return n;
}

#endif
