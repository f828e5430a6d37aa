// A bit matrix of the edges among a root's neighbours: a row of words for each, by its place in the root's list.
#ifndef WEFT_CENSUS_ROWS
#define WEFT_CENSUS_ROWS
#include "census/census.cuh"

struct Rows {
  u32* p;
  u32 words; // of a row

  DEV u32* row(u32 i) const { return p + (u64)i * words; }
  DEV bool has(u32 i, u32 k) const { return row(i)[k >> 5] >> (k & 31) & 1; }
  DEV void set(u32 i, u32 k) const { atomic_or(&row(i)[k >> 5], 1u << (k & 31)); }
};

// The bits below bit n of a word, n < 32.
DEV u32 low_bits(u32 n) { return (1u << n) - 1; }

// Clears n words. Collective for the team, which synchronises afterwards.
template <class T> DEV void clear_words(u32* p, u64 n) {
  for (u64 i = T::rank(); i < n; i += T::size()) p[i] = 0;
}

#endif
