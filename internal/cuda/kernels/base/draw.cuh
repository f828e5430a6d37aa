// Weighted random choice (Efraimidis and Spirakis 2006): of all candidates, the one with the
// largest lot wins. The chance of each is in proportion to its weight.
#ifndef WEFT_DRAW
#define WEFT_DRAW
#include "base/device.cuh"

// A number of 32 bits that looks like a random one.
DEV u32 mix(u32 x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// About -65536 log2 of (x+1)/2^32: distributed exponentially where x is evenly. At
// least 1.
DEV u32 exponential(u32 x) {
  u32 n = x == ~0u ? 0 : clz(x + 1);
  return (n + 1) * 65536 - ((x + 1) << n << 1 >> 16);
}

// x in 32 bits, of which the first are its logarithm: the order stays, about.
DEV u32 in_order(u64 x) {
  u32 n = clz(x | 1);
  return (63 - n) << 26 | (u32)(x << n << 1 >> 38);
}

// The lot of something of weight n > 0 for a random x. Weights above 2^44 are equal.
DEV u32 lot(u64 n, u32 x) { return in_order((min(n, ~(u64)0 >> 20) << 20) / exponential(x)); }

#endif
