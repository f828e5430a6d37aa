// The device memory of a multi-version graph, in blocks of 2^k and 3 * 2^k units.
//
// One lane, the updater's first, takes and gives blocks; so there are no locks, and the pool is in that block's shared memory
// while the kernel runs. What the collector frees reaches it by way of the updates' slots. A block that is not in use holds the unit of the next free one of its size in its
// first word. Unit 0 is never given out.
//
// Go's pipeline.pool has the same layout. The host twin is the test's own list of blocks.
#ifndef WEFT_PIPELINE_POOL
#define WEFT_PIPELINE_POOL
#include "pipeline/store.cuh"

#define POOL_CLASSES 63u

struct Pool {
  u32 free[64]; // the first free block of a class; 0: none
  u64 some;     // bit c: class c has free blocks
  u64 used;     // units in use
  u64 most;     // the most so far
  u64 bump;     // units from here on were never in use
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
  *at_unit(s, at) = pool->free[c];
  pool->free[c] = at;
  pool->some |= 1ull << c;
}

// Frees x units, of which the classes make several blocks.
DEV void push_units(const Store& s, Pool* pool, u64 at, u64 x) {
  while (x > 0) {
    u32 c = class_below(x);
    push_block(s, pool, (u32)at, c);
    at += class_units(c), x -= class_units(c);
  }
}

// Gives a block back that was taken for x units.
DEV void give_units(const Store& s, Pool* pool, u32 at, u64 x) {
  u32 c = class_above(x);
  pool->used -= class_units(c);
  push_block(s, pool, at, c);
}

// Takes a block of at least x units; 0: there is none.
DEV u32 take_units(const Store& s, Pool* pool, u64 x) {
  u32 c = class_above(x);
  u64 size = class_units(c), at = 0;
  if (!pool->free[c] && pool->end - pool->bump >= size) {
    at = pool->bump;
    pool->bump += size;
  } else {
    u64 from = pool->some >> c;
    if (!from) return 0;
    u32 d = c + ctz(from);
    at = pool->free[d];
    if (!(pool->free[d] = *at_unit(s, (u32)at))) pool->some &= ~(1ull << d);
    push_units(s, pool, at + size, class_units(d) - size);
  }
  pool->used += size;
  pool->most = max(pool->most, pool->used);
  return (u32)at;
}

#endif
