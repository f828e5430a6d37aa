// Many short lists as one long one: up to 32 lists, one a lane, laid end to end
// and walked by the whole warp, 32 elements at a time. So a warp has all its lanes
// busy however short the lists are (STMatch §1.6, Fig. 8, with as many sets as
// there are lanes: a prefix sum of the sizes says which list an element is of,
// ballot and popc say where in its list's result it goes).
//
// The host twin is the loop over the lists, one after the other.
#ifndef WEFT_STREAM
#define WEFT_STREAM
#include "setops.cuh"

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

// Lists laid end to end. Lane k has the k-th list that is not empty.
struct Stream {
  u64 base;       // element i of the sequence is at base + 4*i while it is in this list
  u32 start, end; // the list's place in the sequence; ~0: there is no k-th list
  u32 from;       // the lane that gave the list
  u32 total;      // elements of the sequence
  u32 rank;       // which k this lane's own list became, if it is not empty
};

// Lays the lanes' lists end to end. Collective for the warp; the sizes add up to
// less than 2^32 - 32.
DEV Stream stream(Set a) {
  u32 end = Warp::inclusive(a.n), start = end - a.n;
  u32 full = ballot(ALL, a.n > 0), n = popc(full);
  Stream s = {(u64)a.p - 4ull * start, start, end, lane(), shfl(ALL, end, 31), popc(full & Warp::below())};
  if (n > 0 && full != ALL >> (32 - n)) {
    u32 from = nth_bit(full, min(lane(), n - 1));
    s.base = shfl(ALL, s.base, from);
    s.start = shfl(ALL, start, from);
    s.end = shfl(ALL, end, from);
    s.from = from;
  }
  if (lane() >= n) s.start = s.end = ~0u;
  return s;
}

// The lanes of the window at `at` whose elements are of this lane's list.
DEV u32 part(const Stream& s, u32 at) {
  if (s.start >= at + 32 || s.end <= at) return 0;
  u32 lo = s.start > at ? s.start - at : 0, hi = min(s.end - at, 32u);
  return (ALL << lo) & (ALL >> (32 - hi));
}

// One step of a walk: lane i has element at+i.
struct Window {
  u32 at;
  u32 x;    // the element; ~0 behind the last
  u32 of;   // the list that it is in, a rank of the stream
  bool live;
};

// Calls f(Window) for every 32 elements. Collective; f is called by all lanes
// together and may use collectives of the warp. The next window's elements are on
// their way while f looks at this one's.
template <class F> DEV void each(const Stream& s, F f) {
  u32 begun = 0; // lists that began before the window to be loaded
  auto load = [&](u32 at) {
    u32 d = s.start - at;
    u32 marks = reduce_or(ALL, d < 32 ? 1u << d : 0);
    u32 of = begun + popc(marks & ((2u << lane()) - 1)) - 1;
    begun += popc(marks);
    u64 base = shfl(ALL, s.base, of);
    bool live = at + lane() < s.total;
    return Window{at, live ? *(const u32*)(base + 4ull * (at + lane())) : ~0u, of, live};
  };
  if (s.total == 0) return;
  Window next = load(0);
  for (u32 at = 0; at < s.total; at += 32) {
    Window now = next;
    if (at + 32 < s.total) next = load(at + 32);
    f(now);
  }
}

// For each lane the number of its list's elements x for which test(x, k) holds,
// k being the rank of the list that x is in. Collective; test is called by all
// lanes together, dead ones with x = ~0, and may use collectives of the warp.
template <class F> DEV u32 count_each(Set a, const Stream& s, F test) {
  u32 mine = 0;
  each(s, [&](Window w) {
    u32 votes = ballot(ALL, test(w.x, w.of) && w.live);
    mine += popc(votes & part(s, w.at));
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
    u32 begin = shfl(ALL, s.start, w.of), at = shfl(ALL, done, w.of);
    u32* to = shfl(ALL, out, w.of);
    u32 before = begin > w.at ? ALL << (begin - w.at) : ALL; // of the same list
    if (yes) to[at + popc(votes & before & Warp::below())] = w.x;
    done += popc(votes & part(s, w.at));
  });
  sync_warp(ALL);
  u32 n = shfl(ALL, done, s.rank & 31);
  return a.n > 0 ? n : 0;
}

#endif
