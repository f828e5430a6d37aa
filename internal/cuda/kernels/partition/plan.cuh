// One search order of PBE as data (Guo et al., SIGMOD 2020): one text of kernels serves all of them. Go's types in package
// partition are the same.
#ifndef PARTITION_PLAN
#define PARTITION_PLAN
#include "base/control.cuh"

// The most relations whose lists one level reads.
#define PARTITION_SOURCES 16

// What candidates of a level are asked. Sets of levels are masks: bit j is level j, which is matched before.
struct PartitionLevel {
  const u64* bits; // a bit for each vertex that is allowed; null: all are
  u32 above, below; // candidates are above, or below, the vertices of these levels
  u32 distinct;     // and differ from those of these
  u32 backs;
  // source << 8 | level << 3 | LATER | PAIR | NEGATIVE
  u32 back[32];
};

#define NEGATIVE 1u // the candidate must not be in the list
#define PAIR 2u     // the two are ends of an edge of the pattern, which may cross between parts
#define LATER 4u    // that edge stands behind the prime edge in the pattern, and may be the same data edge

// A row whose candidates were searched up to a position.
struct PartitionPiece {
  u32 row, from;
};

// What the launches for one table tell the host. The counters only grow; a launch is told where they were.
struct PartitionState {
  u64 turned; // the last launch that ran
  u64 taken;  // pieces and rows that warps have taken
  u64 made;   // places in the next table that warps have asked for
  u64 left;   // pieces that warps have left
};

struct PartitionArgs {
  const PartitionLevel* level;
  const u16* part;       // of each vertex
  const u32* rows;       // the table: `count` rows of `width` ids
  u32* out;              // the next table, of rows that are one id longer, with room for `room`
  // Gathered lists: those of vertex key[i] are list[at[i]] … list[at[i+1]-1]. Keys of a source ascend.
  const u32* key;
  const u32* at;
  const u32* list;
  PartitionPiece* pieces; // a ring of mask + 1 places
  PartitionState* state;
  const u8* maps;         // for a listing: `levels` columns of a row for each of `copies` matches that a row stands for
  u64* need;              // for marks: the last launch that ran, and a bitmap of `words` words for each source
  u64 words;
  u64 taken, made, left, turn; // the counters before the launch
  u64 head, tail;              // the pieces that wait: from head to before tail
  u32 width, base, count;      // rows base … count-1 are searched
  u32 room, mask, copies, levels;
  u32 together; // levels from `level` on that the rows are searched for at once: 1, or 2 by partition_pairs
  u32 pairs;    // how these two count, as PartitionPairs says
  u32 source[PARTITION_SOURCES + 1]; // where the keys of each source begin
  u32 unused[3];
};

// The last two levels, of which none is a neighbour of the other, counted together.
enum PartitionPairs {
  PAIRS_ANY,     // the two vertices may be equal
  PAIRS_DIFFER,  // they differ
  PAIRS_SAME,    // they differ, and have the same candidates
  PAIRS_ORDERED, // and each two candidates count once
};

struct PartitionParams {
  Run run;
  PartitionArgs x;
};

// Faults.
#define PARTITION_NO_LIST 1u // a list that a row needs was not gathered

// Whether all launches before this one ran; notes that this one does. The first statement of a kernel.
DEV bool partition_turn(u64* turned, u64 turn) {
  u64 last = load_relaxed(turned);
  if (last + 1 != turn && last != turn) return false; // another block may have noted it
  if (block() == 0 && thread() == 0) store_relaxed(turned, turn);
  return true;
}

// Cross edges are ordered by their larger ends and then by their smaller ones; the prime edge is the greatest. Large ids
// are of vertices with few neighbours. Host twin: keyOf.
DEV u64 partition_key(u32 u, u32 v) { return (u64)max(u, v) << 32 | min(u, v); }

#endif
