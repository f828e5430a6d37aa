// Thread groups: 1, 2, 4, 8, 16 or 32 neighbouring lanes of one warp that work
// on one thing. Small lists leave most of a warp idle; smaller groups work on
// several lists at once.
//
// Every member but size, rank, base, mask, leader, below and tally is collective: all
// lanes of the group call it together, with the same control flow since the
// last collective call. Other groups of the warp may be anywhere else.
#ifndef WEFT_GROUP
#define WEFT_GROUP
#include "base/device.cuh"

template <int N> struct Group {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a group is 1, 2, 4 … 32 lanes");

  static DEV constexpr u32 size() { return N; }
  // This lane's number in the group.
  static DEV u32 rank() { return lane() & (N - 1); }
  // The lane of the group's first member.
  static DEV u32 base() { return lane() & (32 - N); }
  // The group's lanes in the warp.
  static DEV u32 mask() { return N == 32 ? ALL : ((1u << (N & 31)) - 1) << base(); }
  static DEV bool leader() { return rank() == 0; }
  // The bits of a vote that belong to members before this lane.
  static DEV u32 below() { return (1u << rank()) - 1; }

  // Bit i is member i's p.
  static DEV u32 ballot(bool p) {
    if (N == 1) return p;
    if (N == 32) return ::ballot(ALL, p);
    return (::ballot(mask(), p) >> base()) & ((1u << (N & 31)) - 1);
  }
  static DEV bool any(bool p) { return N == 1 ? p : ::any(mask(), p); }
  static DEV bool all(bool p) { return N == 1 ? p : ::all(mask(), p); }

  // Member src's x; src < size().
  template <class T> static DEV T shfl(T x, u32 src) { return N == 1 ? x : ::shfl(mask(), x, base() + src); }

  // A step of a set operation, in which this lane has an element or only waits: a
  // group that counts such steps has a tally of its own.
  static DEV void tally(bool) {}

  // Memory written by members before is seen by members after.
  static DEV void sync() {
    if (N > 1) sync_warp(mask());
  }

  // The sum over members, on each of them.
  static DEV u32 sum(u32 x) {
    if (N == 1) return x;
    if (N == 32) return reduce_add(ALL, x);
    return butterfly(x);
  }
  static DEV u64 sum(u64 x) {
    if (N == 32) return reduce_add(ALL, x);
    return butterfly(x);
  }

  // The bits that any member has.
  static DEV u32 either(u32 x) { return N == 1 ? x : reduce_or(mask(), x); }

  // The sum over members up to and with this one.
  template <class T> static DEV T inclusive(T x) {
    for (u32 d = 1; d < N; d *= 2) {
      T y = shfl_up(mask(), x, d, N);
      if (rank() >= d) x += y;
    }
    return x;
  }
  // The sum over members before this one.
  template <class T> static DEV T exclusive(T x) { return inclusive(x) - x; }

private:
  template <class T> static DEV T butterfly(T x) {
    for (u32 d = N / 2; d > 0; d /= 2) x += ::shfl_xor(mask(), x, d);
    return x;
  }
};

using Warp = Group<32>;

#endif
