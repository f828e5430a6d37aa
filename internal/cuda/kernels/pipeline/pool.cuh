// The device memory of a multi-version graph, in blocks of 2^k and 3 * 2^k units.
//
// One lane, the updater's first, takes and gives blocks; so there are no locks, and the pool is in that block's shared memory
// while the kernel runs. What the collector frees reaches it by way of the updates' slots.
//
// The free blocks of a class are the few that the pool holds itself, and trunks: a trunk is a free block whose eight words are the unit of the
// next trunk and the units of seven more free blocks. So memory is read or written once for eight blocks. Unit 0 is never given out.
//
// Go's pipeline.pool has the same layout. The host twin is the test's own list of blocks.
#ifndef WEFT_PIPELINE_POOL
#define WEFT_PIPELINE_POOL
#include "pipeline/store.cuh"

#define POOL_CLASSES 63u

#define POOL_HELD 7u

struct Pool {
  u32 next[64];            // the first trunk of a class; 0: none
  u32 count[64];           // blocks in held
  u32 held[64][POOL_HELD];
  u64 some;                // bit c: class c has free blocks
  u64 used;                // units in use
  u64 most;                // the most so far
  u64 bump;                // units from here on were never in use
  u64 end;
  u64 pad;
};

// Units of a class: 1, 2, 3, 4, 6, 8, 12, 16 …
DEV u64 class_units(u32 c) {
  return c == 0 ? 1 : c & 1 ? 1ull << ((c + 1) / 2) : 3ull << (c / 2 - 1);
}

// The smallest class of at least x units; x is at least 1 and at most 2^31.
DEV u32 class_above(u64 x) {
  if (x == 1) return 0;
  u32 k = 64 - clz(x - 1);
  return k >= 2 && 3ull << (k - 2) >= x ? 2 * (k - 1) : 2 * k - 1;
}

// The largest class of at most x units.
DEV u32 class_below(u64 x) {
  u32 c = class_above(x);
  return class_units(c) == x ? c : c - 1;
}

DEV void push_block(const Store& s, Pool* pool, u32 at, u32 c) {
  u32 n = pool->count[c];
  if (n < POOL_HELD) {
    pool->held[c][n] = at;
    pool->count[c] = n + 1;
  } else {
    u32* trunk = at_unit(s, at);
    trunk[0] = pool->next[c];
    for (u32 i = 0; i < POOL_HELD; i++) trunk[1 + i] = pool->held[c][i];
    pool->next[c] = at;
    pool->count[c] = 0;
  }
  pool->some |= 1ull << c;
}

// Takes a free block of a class that has some.
DEV u32 pop_block(const Store& s, Pool* pool, u32 c) {
  u32 n = pool->count[c], at;
  if (n > 0) {
    at = pool->held[c][--n];
  } else {
    at = pool->next[c];
    const u32* trunk = at_unit(s, at);
    pool->next[c] = trunk[0];
    for (u32 i = 0; i < POOL_HELD; i++) pool->held[c][i] = trunk[1 + i];
    n = POOL_HELD;
  }
  pool->count[c] = n;
  if (n == 0 && pool->next[c] == 0) pool->some &= ~(1ull << c);
  return at;
}

// Frees x units, of which the classes make several blocks.
DEV void push_units(const Store& s, Pool* pool, u64 at, u64 x) {
  while (x > 0) {
    u32 c = class_below(x);
    push_block(s, pool, (u32)at, c);
    at += class_units(c), x -= class_units(c);
  }
}

// Gives a block of a class back.
DEV void give_block(const Store& s, Pool* pool, u32 at, u32 c) {
  pool->used -= class_units(c);
  push_block(s, pool, at, c);
}

// Takes a block of a class; 0: there is none.
DEV u32 take_block(const Store& s, Pool* pool, u32 c) {
  u64 size = class_units(c), at = 0, from = pool->some >> c;
  if (from & 1) {
    at = pop_block(s, pool, c);
  } else if (pool->end - pool->bump >= size) {
    at = pool->bump;
    pool->bump += size;
  } else {
    if (!from) return 0;
    u32 d = c + ctz(from);
    at = pop_block(s, pool, d);
    push_units(s, pool, at + size, class_units(d) - size);
  }
  pool->used += size;
  pool->most = max(pool->most, pool->used);
  return (u32)at;
}

#endif
