// The arguments of this engine's kernels besides Run and Graph. Go's type args is the same.
#ifndef FINE_ARGS
#define FINE_ARGS
#include "membership/membership.cuh"
#include "base/steal.cuh"

// How far the making of a pool is.
struct Grown {
  u64 rows;  // appended so far; above the room: they do not fit
  u64 taken; // tasks that were handed out
  u64 roots; // valid candidates of level 0 among them
  u64 unused;
};

enum Steal { STEAL_OFF, STEAL_BLOCK, STEAL_GRID };

struct Fine {
  Market market; // not looked at with STEAL_OFF
  // The initial pool: partial matches that bind depth levels, row i's vertex of
  // level j at rows[j * room + i]. depth 0: there is none.
  const u32* rows;
  u32* next; // where the next pool grows, with the same room
  Grown* grown;
  u32* sizes;         // while a pool grows, of each row of the one before: its candidates,
  const u64* starts; // their number for the rows before each; count + 1
  u64 room;
  u64 count; // rows; with depth 0, candidates of level 0
  u32 depth;
  u32 batch;  // whether partial matches share a pool
  u32 steal;
  u32 often; // whether counts are needed while the search runs
  u32 frames; // of a stack
  u32 stack_bytes;
  Lists pruned;             // with FINE_PRUNE: instead of Graph's adjacency, whose bitmaps sparse ones have
  u32* tables[MEMBER_TABLES]; // of an adjacency; null: lists are searched
};

#endif
