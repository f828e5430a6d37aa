// Prefix sums, compaction and a stable radix sort over the whole device. Each is
// a few launches with nothing but kernel boundaries between them; Go's session
// puts them together.
//
// Work is cut into tiles. Sums go in three launches: tile_sums adds up every tile,
// scan_sums makes prefix sums of those in one block, scan_tiles makes those inside
// the tiles. The sort takes 8 bits at a time, the low ones first: sort_count
// counts the digits of every tile, digit by digit over all tiles, prefix sums of
// these counts say where each tile's share of a digit goes, sort_move puts it
// there, in order.
//
// Requirements: blocks of BLOCK threads, one a tile unless said otherwise; fewer
// than 2^32 elements; shared memory as each function says. The host twins are a
// loop and slices.SortStableFunc.
#ifndef WEFT_SCAN
#define WEFT_SCAN
#include "base/group.cuh"

#define BLOCK 256
#define SCAN_TILE 4096u
#define SORT_TILE 8192u
#define DIGITS 256u

// The sum of x over the threads before this one; total: over all. Shared memory
// of 2 * 32 words of T, which may be used again after the next barrier.
template <class T> DEV T block_exclusive(T x, T* memory, T& total) {
  T in = Warp::inclusive(x);
  if (lane() == 31) memory[warp()] = in;
  sync_block();
  if (warp() == 0) {
    T s = lane() < warps() ? memory[lane()] : 0;
    T up = Warp::inclusive(s);
    memory[32 + lane()] = up;
  }
  sync_block();
  total = memory[32 + warps() - 1];
  return in - x + (warp() ? memory[32 + warp() - 1] : 0);
}

// sums[tile] = the sum of value(i) over the tile's elements i < n.
template <class T, class F> DEV void tile_sums(T* sums, u64 n, F value) {
  T s = 0, total;
  for (u32 k = thread(); k < SCAN_TILE; k += BLOCK) {
    u64 i = (u64)block() * SCAN_TILE + k;
    if (i < n) s += value(i);
  }
  block_exclusive(s, (T*)shared(), total);
  if (thread() == 0) sums[block()] = total;
}

// sums[i] becomes the sum of those before it, for i < n; sums[n] the sum of all.
// One block.
template <class T> DEV void scan_sums(T* sums, u64 n) {
  T before = 0, total;
  for (u64 at = 0; at < n; at += BLOCK) {
    u64 i = at + thread();
    T x = i < n ? sums[i] : 0;
    T e = block_exclusive(x, (T*)shared(), total);
    if (i < n) sums[i] = before + e;
    before += total;
    sync_block();
  }
  if (thread() == 0) sums[n] = before;
}

// Calls put(i, s) for every element of the tile, i < n: s is the sum of value over
// the elements before i. value is called once for each before any put of the tile,
// so put may write where value reads i.
template <class T, class F, class P> DEV void scan_tiles(const T* sums, u64 n, F value, P put) {
  const u32 per = SCAN_TILE / BLOCK;
  T before = sums[block()], total;
  // Rounds of BLOCK neighbours: loads and stores of a warp are whole lines.
  for (u32 k = 0; k < per; k++) {
    u64 i = (u64)block() * SCAN_TILE + k * BLOCK + thread();
    T x = i < n ? value(i) : 0;
    T e = block_exclusive(x, (T*)shared(), total);
    if (i < n) put(i, before + e);
    before += total;
    sync_block();
  }
}

DEV u32 digit(u32 key, u32 shift) { return key >> shift & (DIGITS - 1); }

// counts[d * tiles + tile] = the keys of the tile whose digit is d. Shared memory
// of DIGITS words.
DEV void sort_count(const u32* keys, u32* counts, u64 n, u32 shift) {
  u32* have = (u32*)shared();
  have[thread()] = 0;
  sync_block();
  for (u32 k = thread(); k < SORT_TILE; k += BLOCK) {
    u64 i = (u64)block() * SORT_TILE + k;
    if (i < n) atomic_add(&have[digit(keys[i], shift)], 1u);
  }
  sync_block();
  counts[(u64)thread() * blocks() + block()] = have[thread()];
}

// Moves the tile's keys and values to the places that counts, now prefix sums, gives. Each warp
// has a part of the tile; its keys follow those of the warps before. Shared memory of (BLOCK/32
// + 1) * DIGITS words.
DEV void sort_move(const u32* keys, const u32* values, u32* to_keys, u32* to_values, const u32* counts, u64 n, u32 shift) {
  const u32 part = SORT_TILE / (BLOCK / 32);
  u32* at = (u32*)shared(); // a row of DIGITS a warp
  for (u32 w = 0; w < BLOCK / 32; w++) at[w * DIGITS + thread()] = 0;
  sync_block();
  u32* mine = at + warp() * DIGITS;
  u64 begin = (u64)block() * SORT_TILE + warp() * part;
  for (u32 k = lane(); k < part; k += 32)
    if (begin + k < n) atomic_add(&mine[digit(keys[begin + k], shift)], 1u);
  sync_block();
  u32 sum = counts[(u64)thread() * blocks() + block()];
  for (u32 w = 0; w < BLOCK / 32; w++) {
    u32 c = at[w * DIGITS + thread()];
    at[w * DIGITS + thread()] = sum;
    sum += c;
  }
  sync_block();
  for (u32 k = lane(); k < part; k += 32) {
    bool live = begin + k < n;
    u32 key = live ? keys[begin + k] : 0;
    u32 d = live ? digit(key, shift) : DIGITS; // those past the end are by themselves
    u32 same = match_any(ALL, d);
    u32 base = live ? mine[d] : 0;
    sync_warp(ALL);
    u32 before = popc(same & Warp::below());
    if (live) {
      if (before == 0) mine[d] = base + popc(same);
      to_keys[base + before] = key;
      to_values[base + before] = values[begin + k];
    }
    sync_warp(ALL);
  }
}

#endif
