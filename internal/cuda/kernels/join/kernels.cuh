// The kernels of a join, as macros: a program has those that a plan needs, each compiled by itself, because all of them
// take a compiler ten times as long as the few of one plan. Package join has their names. A GOAL is JOIN_ROWS for rows of
// a table, JOIN_COUNT for a count and JOIN_LIST for a listing. Kernels need sizeof(JoinStep) + warps × sizeof(JoinWarp)
// bytes of shared memory, and are launched one after the other.
#ifndef JOIN_KERNELS
#define JOIN_KERNELS
#include "join/layers.cuh"
#include "join/merge.cuh"
#include "join/several.cuh"
#include "join/tail.cuh"

// A function of Joiner: the first phase (roots), phases of one vertex (rows), and their sizes and windows.
#define JOIN_KERNEL(name, GOAL, work) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<GOAL>(p, [](Joiner<GOAL>& j) { j.work(); }); }

// Phases of several vertices: behind the JoinWarps each warp has x.depth bytes for its loops, a JoinDepth each.
#define JOIN_SEVERAL_KERNEL(name, GOAL)                                                    \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) {                                   \
    join_with<GOAL>(p, [&](Joiner<GOAL>& j) {                                              \
      u8* loops = shared() + sizeof(JoinStep) + warps() * sizeof(JoinWarp);                \
      Several<GOAL>(j, (JoinDepth*)(loops + warp() * p.x.depth)).rows();                   \
    });                                                                                    \
  }

// Eliminations.
#define JOIN_KEEP_KERNEL(name, GOAL) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<GOAL>(p, [](Joiner<GOAL>& j) { join_keep(j); }); }

// Arithmetic over sizes in the last phase.
#define JOIN_TAIL_KERNEL(name) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<JOIN_COUNT>(p, [](Joiner<JOIN_COUNT>& j) { Tail(j).rows(); }); }

// The launches of a merge.
#define JOIN_MERGE_KERNEL(name) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { name##_of(p); }

// Duplicate removal: behind the JoinWarps each warp has a tile.
#define JOIN_SHARED_KERNEL(name, GOAL)                                                     \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) {                                   \
    join_with<GOAL>(p, [&](Joiner<GOAL>& j) {                                              \
      u32* tiles = (u32*)(shared() + sizeof(JoinStep) + warps() * sizeof(JoinWarp));       \
      Layers<GOAL>(j).shared_lists(tiles + warp() * JOIN_TILE);                            \
    });                                                                                    \
  }

// Four layers: a histogram of join_bounds' sizes, rows by layer, and the layers but the last, which is join_rows and so on.
#define JOIN_LAYER_KERNEL(name, GOAL, work) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<GOAL>(p, [](Joiner<GOAL>& j) { Layers<GOAL>(j).work(); }); }
#define JOIN_SORT_KERNEL(name) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<JOIN_SIZES>(p, [](Joiner<JOIN_SIZES>& j) { name##_of(j); }); }

#endif
