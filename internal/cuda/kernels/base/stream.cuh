// Many short lists as one long one: up to 32 lists, one for each lane, laid end to end. The
// whole warp walks them, 32 elements at a time, so all its lanes are busy however short the
// lists are (STMatch §1.6, Fig. 8, with as many sets as lanes). A prefix sum of the sizes gives
// an element's list, and ballot and popc give its place in that list's result.
//
// The host twin is the loop over the lists, one after the other.
#ifndef WEFT_STREAM
#define WEFT_STREAM
#include "base/setops.cuh"

// The k-th bit from below, k from 0, that is set in bits, which has more than k.
DEV u32 nth_bit(u32 bits, u32 k) {
  u32 at = 0;
  for (u32 s = 16; s > 0; s /= 2) {
    u32 c = popc(bits & ((1u << s) - 1));
    if (c <= k) {
      k -= c;
      bits >>= s;
      at += s;
    }
  }
  return at;
}

// 32 lists of at most this many elements have places below 2^32 - 32 in their sequence.
#define STREAM_MOST ((1u << 27) - 2)
#define WIDE ~0u // the total of lists of which one is longer

// Lists laid end to end. Lane k has the k-th list that is not empty.
struct Stream {
  u64 base;       // element i of the sequence is at base + 4*i while it is in this list
  u32 start, end; // the list's place in the sequence; ~0, 0: there is no k-th list
  u32 from;       // the lane that gave the list
  u32 total;      // elements of the sequence; WIDE: each list is a sequence by itself
  u32 rank;       // which k this lane's own list became, if it is not empty
};

// Lays the lanes' lists end to end. Collective for the warp. Where one has more
// than MOST elements, places in the sequence might not fit 32 bits: such lists are
// walked one after the other.
template <u32 MOST = STREAM_MOST> DEV Stream stream(Set a) {
  bool wide = any(ALL, a.n > MOST);
  u32 end = Warp::inclusive(a.n), start = end - a.n, total = shfl(ALL, end, 31);
  if (unlikely(wide)) {
    start = 0;
    end = a.n;
    total = WIDE;
  }
  u32 full = ballot(ALL, a.n > 0), n = popc(full);
  Stream s = {(u64)a.p - 4ull * start, start, end, lane(), total, popc(full & Warp::below())};
  if (n > 0 && full != ALL >> (32 - n)) {
    u32 from = nth_bit(full, min(lane(), n - 1));
    s.base = shfl(ALL, s.base, from);
    s.start = shfl(ALL, start, from);
    s.end = shfl(ALL, end, from);
    s.from = from;
  }
  if (lane() >= n) {
    s.start = ~0u;
    s.end = 0;
  }
  return s;
}

// The lanes of the window at `at` whose elements are of this lane's list.
DEV u32 part(const Stream& s, u32 at) {
  if (s.start > at + 31 || s.end <= at) return 0;
  u32 lo = s.start > at ? s.start - at : 0, hi = min(s.end - at, 32u);
  return (ALL << lo) & (ALL >> (32 - hi));
}

// One step of a walk: a lane has an element.
struct Window {
  u32 x;    // the element; ~0 behind the last
  u32 of;   // the list that it is in, a rank of the stream
  u32 part; // the lanes whose elements are in the list of rank lane()
  bool live;
  const u32* p; // where the element is
};

// Calls f(Window) for every 32 elements. Collective; f is called by all lanes
// together and may use collectives of the warp. The next window's elements are on
// their way while f looks at this one's.
template <class F> DEV void each(const Stream& lists, F f) {
  if (lists.total == 0) return;
  Stream s = lists;
  u32 k = s.total == WIDE ? 0 : 32; // the list that is a sequence by itself
  do {
    if (unlikely(k < 32)) {
      s.start = lane() == k ? 0 : ~0u;
      s.total = shfl(ALL, s.end, k);
    }
    u32 begun = k & 31; // lists that began before the window to be loaded
    auto load = [&](u32 at) {
      u32 d = s.start - at;
      u32 marks = reduce_or(ALL, d < 32 ? 1u << d : 0);
      u32 of = begun + popc(marks & ((2u << lane()) - 1)) - 1;
      begun += popc(marks);
      u64 base = shfl(ALL, s.base, of);
      bool live = lane() < s.total - at;
      const u32* p = (const u32*)(base + 4ull * (at + lane()));
      return Window{live ? *p : ~0u, of, 0, live, p};
    };
    Window next = load(0);
    for (u32 at = 0, left = s.total; left > 0; at += 32) {
      Window now = next;
      now.part = part(s, at);
      left -= min(left, 32u);
      if (left > 0) next = load(at + 32);
      f(now);
    }
  } while (k < 31 && shfl(ALL, s.end, ++k) > 0);
}

// For each lane the number of its list's elements x for which test(x, k) holds,
// k being the rank of the list that x is in. Collective; test is called by all
// lanes together, dead ones with x = ~0, and may use collectives of the warp.
template <class F> DEV u32 count_each(Set a, const Stream& s, F test) {
  u32 mine = 0;
  each(s, [&](Window w) {
    u32 votes = ballot(ALL, test(w.x, w.of) && w.live);
    mine += popc(votes & w.part);
  });
  u32 n = shfl(ALL, mine, s.rank & 31);
  return a.n > 0 ? n : 0;
}

// out = the elements of the lane's list for which test(x, k) holds, as
// count_each; returns how many. Each lane has an out of its own, which has room
// for a.n and may be a.p.
template <class F> DEV u32 filter_each(u32* out, Set a, const Stream& s, F test) {
  u32 done = 0; // written for the list of rank lane()
  out = shfl(ALL, out, s.from);
  each(s, [&](Window w) {
    bool yes = test(w.x, w.of) && w.live;
    u32 votes = ballot(ALL, yes);
    u32 list = shfl(ALL, w.part, w.of), at = shfl(ALL, done, w.of);
    u32* to = shfl(ALL, out, w.of);
    if (yes) to[at + popc(votes & list & Warp::below())] = w.x;
    done += popc(votes & w.part);
  });
  sync_warp(ALL);
  u32 n = shfl(ALL, done, s.rank & 31);
  return a.n > 0 ? n : 0;
}

#endif
