// The device memory of a multi-version graph, in blocks of 2^k and 3 * 2^k units.
//
// The updater's first warp alone takes and gives blocks. So the pool needs no locks, and lies in that block's shared memory
// while the kernel runs. What the collector frees reaches it by way of the updates' slots. A lane takes or gives one block, and
// lanes that want the same class share its free blocks by their ranks. So 32 blocks cost about as much as one.
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

// Makes a free block the first trunk of its class, with all that the pool holds.
DEV void close_trunk(const Store& s, Pool* pool, u32 at, u32 c) {
  u32* trunk = at_unit(s, at);
  trunk[0] = pool->next[c];
  for (u32 i = 0; i < POOL_HELD; i++) trunk[1 + i] = pool->held[c][i];
  pool->next[c] = at;
}

// Takes the first trunk of a class; the pool holds its blocks then.
DEV void open_trunk(const Store& s, Pool* pool, u32 at, u32 c) {
  const u32* trunk = at_unit(s, at);
  u32 x[1 + POOL_HELD]; // read together: memory is far
  for (u32 i = 0; i <= POOL_HELD; i++) x[i] = trunk[i];
  pool->next[c] = x[0];
  for (u32 i = 0; i < POOL_HELD; i++) pool->held[c][i] = x[1 + i];
}

DEV void push_block(const Store& s, Pool* pool, u32 at, u32 c) {
  u32 n = pool->count[c];
  if (n < POOL_HELD) {
    pool->held[c][n] = at;
    pool->count[c] = n + 1;
  } else {
    close_trunk(s, pool, at, c);
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
    open_trunk(s, pool, at, c);
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

#define NO_CLASS 63u // of a lane that wants nothing; no block has it

// Each lane gives a block of its class c back. One warp.
DEV void give_blocks(const Store& s, Pool* pool, u32 at, u32 c) {
  const u32 same = match_any(ALL, c), rank = popc(same & Warp::below());
  const bool mine = c != NO_CLASS;
  // The class's held blocks and these are one sequence, and each eighth one becomes the trunk of the seven before it.
  const u32 before = mine ? pool->count[c] : 0, place = before + rank, last = before + popc(same) - 1;
  sync_warp(ALL);
  if (mine && rank == 0) {
    pool->count[c] = (last + 1) % (POOL_HELD + 1);
    atomic_or(&pool->some, 1ull << c);
  }
  const u32 rounds = reduce_max(ALL, mine ? last / (POOL_HELD + 1) + 1 : 0);
  for (u32 r = 0; r < rounds; r++) {
    bool now = mine && place / (POOL_HELD + 1) == r;
    u32 i = place % (POOL_HELD + 1);
    if (now && i < POOL_HELD) pool->held[c][i] = at;
    sync_warp(ALL);
    if (now && i == POOL_HELD) close_trunk(s, pool, at, c);
    sync_warp(ALL);
  }
  u64 units = reduce_add(ALL, mine ? class_units(c) : 0);
  if (lane() == 0) pool->used -= units;
  sync_warp(ALL);
}

// Takes a block of a class where free blocks of the class, and memory that was never in use, are too few: cuts one of a larger class. 0: there is
// none. One lane.
DEV u32 take_any(const Store& s, Pool* pool, u32 c) {
  const u64 size = class_units(c), from = pool->some >> c;
  u64 at = 0;
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
  return (u32)at;
}

// Each lane takes a block of its class c. Returns its unit; 0: there is none, or c is NO_CLASS. One warp.
DEV u32 take_blocks(const Store& s, Pool* pool, u32 c) {
  const u32 same = match_any(ALL, c), rank = popc(same & Warp::below()), want = popc(same);
  const bool mine = c != NO_CLASS;
  u32 at = 0, before = 0; // blocks of the class that lower ranks took
  for (bool more = mine;;) {
    u32 n = mine ? pool->count[c] : 0, next = mine ? pool->next[c] : 0;
    if (more && rank - before < n) at = pool->held[c][n - 1 - (rank - before)];
    sync_warp(ALL);
    // The class's first lane that has none yet takes the trunk itself, and what it holds is for the others.
    const u32 held = min(n, want - before);
    before += held;
    more = more && before < want && next != 0;
    if (more && rank == before) {
      at = next;
      open_trunk(s, pool, at, c);
      pool->count[c] = POOL_HELD;
    } else if (mine && !more && held > 0 && rank == 0) {
      pool->count[c] = n - held;
    }
    before += more;
    sync_warp(ALL);
    if (!any(ALL, more)) break;
  }
  if (mine && rank == 0 && pool->count[c] == 0 && pool->next[c] == 0) atomic_and(&pool->some, ~(1ull << c));
  // Memory that was never in use, for the lanes that have no block. Those whose blocks end within it are the first ones.
  const u64 size = mine ? class_units(c) : 0;
  bool none = mine && at == 0;
  u64 end = Warp::inclusive(none ? size : 0);
  const u64 bump = pool->bump, room = pool->end - bump;
  bool fits = none && end <= room;
  if (fits) at = (u32)(bump + end - size);
  sync_warp(ALL);
  u64 taken = reduce_add(ALL, fits ? size : 0);
  if (lane() == 0) pool->bump = bump + taken;
  sync_warp(ALL);
  for (u32 left = ballot(ALL, none && !fits); left; left &= left - 1) {
    u32 of = shfl(ALL, c, ctz(left)), x = 0;
    if (lane() == 0) x = take_any(s, pool, of);
    x = shfl(ALL, x, 0);
    if (lane() == ctz(left)) at = x;
    if (x == 0) break;
  }
  u64 units = reduce_add(ALL, at ? size : 0);
  if (lane() == 0) {
    pool->used += units;
    pool->most = max(pool->most, pool->used);
  }
  sync_warp(ALL);
  return at;
}

#endif
