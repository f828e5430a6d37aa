// A warp's stack: 32 partial matches for each level, in shared memory.
//
// Frame l has two sides. Its entries are partial matches that bind levels 0 … l. An entry is
// the vertex of level l and its parent, an entry of frame l-1, so a walk from entry to parent
// reads a partial match. Its pool is the tasks that extend entries of the frame by level l+1.
// It is the candidate lists of up to 32 entries, one after the other, as if they were one list;
// `at` is the warp's place in it. Entries without candidates get no slot of the pool.
//
// So the memory of a warp is levels × 32 entries whatever the degrees are. The candidates after
// `at` wait in the graph's own lists (gMatch, PVLDB 2026, §4).
//
// Arrays have one element for each lane, in words or bytes of consecutive lanes: no access
// meets a bank twice.
#ifndef FINE_STACK
#define FINE_STACK
#include "base/group.cuh"
#include "base/setops.cuh"

struct Frame {
  u64 list[32];   // of a slot: its candidate list's address, less 4 × start
  u32 start[32];  // of a slot: its first task; ~0u: no such slot
  u32 vertex[32]; // of an entry
  u8 parent[32];  // of an entry: its entry of the frame before
  u8 entry[32];   // of a slot: its entry
  u8 which[32];   // of a slot: the backward neighbour whose list it is
  u32 unpooled;       // entries not yet in a pool
  u32 at, end;    // the pool's tasks that are left
  u32 count;      // entries
};
static_assert(sizeof(Frame) == 624, "Go has this size too");

// The vertices of one partial match, an entry's column of the levels × 32 that
// bind() lays out.
struct Match {
  const u32* p;
  DEV u32 operator[](u32 level) const { return p[32 * level]; }
};

// What a warp has in shared memory: frames, the bound columns, and the sizes of
// the tail's blocks by entry; without a tail, a queue of candidates in their place
// where siblings share the last level's (fine/siblings.cuh).
struct Stack {
  Frame* frames;
  u32* bound; // [frames][32]
  u32* sizes; // [blocks][32]
};

// Bytes of a stack; Go's stackBytes is the same.
DEV u32 stack_bytes(u32 frames, u32 blocks) { return frames * ((u32)sizeof(Frame) + 128) + blocks * 128; }

DEV Stack stack_at(u8* p, u32 frames) {
  Stack s;
  s.frames = (Frame*)p;
  s.bound = (u32*)(p + frames * sizeof(Frame));
  s.sizes = s.bound + 32 * frames;
  return s;
}

// Lanes before this one, and with it.
DEV u32 lanes_before() { return (1u << lane()) - 1; }
DEV u32 lanes_upto() { return (2u << lane()) - 1; }

#endif
