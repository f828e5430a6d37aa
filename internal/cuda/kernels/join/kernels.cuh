// The kernels of a join: join_roots… for its first phase, and the others for a later phase. …_rows makes rows of a table,
// …_count counts, …_list lists. They need sizeof(JoinStep) + warps × sizeof(JoinWarp) bytes of shared memory, and are
// launched one after the other.
#ifndef JOIN_KERNELS
#define JOIN_KERNELS
#include "join/layers.cuh"
#include "join/several.cuh"
#include "join/tail.cuh"

#define JOIN_KERNEL(name, GOAL, work) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<GOAL>(p, [](Joiner<GOAL>& j) { j.work(); }); }

JOIN_KERNEL(join_roots_rows, JOIN_ROWS, roots)
JOIN_KERNEL(join_roots_count, JOIN_COUNT, roots)
JOIN_KERNEL(join_roots_list, JOIN_LIST, roots)

JOIN_KERNEL(join_rows, JOIN_ROWS, rows)
JOIN_KERNEL(join_count, JOIN_COUNT, rows)
JOIN_KERNEL(join_list, JOIN_LIST, rows)

// Phases of several vertices: behind the JoinWarps each warp has x.depth bytes for its loops, a JoinDepth each.
#define JOIN_SEVERAL_KERNEL(name, GOAL)                                                    \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) {                                   \
    join_with<GOAL>(p, [&](Joiner<GOAL>& j) {                                              \
      u8* loops = shared() + sizeof(JoinStep) + warps() * sizeof(JoinWarp);                \
      Several<GOAL>(j, (JoinDepth*)(loops + warp() * p.x.depth)).rows();                   \
    });                                                                                    \
  }
JOIN_SEVERAL_KERNEL(join_several_rows, JOIN_ROWS)
JOIN_SEVERAL_KERNEL(join_several_count, JOIN_COUNT)
JOIN_SEVERAL_KERNEL(join_several_list, JOIN_LIST)

// Eliminations.
#define JOIN_KEEP_KERNEL(name, GOAL) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<GOAL>(p, [](Joiner<GOAL>& j) { join_keep(j); }); }
JOIN_KEEP_KERNEL(join_keep_rows, JOIN_ROWS)
JOIN_KEEP_KERNEL(join_keep_count, JOIN_COUNT)
JOIN_KEEP_KERNEL(join_keep_list, JOIN_LIST)

// Arithmetic over sizes in the last phase.
WEFT_KERNEL(join_tail_count, JoinParams, LAUNCH_BOUNDS(256, 4)) {
  join_with<JOIN_COUNT>(p, [](Joiner<JOIN_COUNT>& j) { Tail(j).rows(); });
}

// Duplicate removal: behind the JoinWarps each warp has a tile.
#define JOIN_SHARED_KERNEL(name, GOAL)                                                     \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) {                                   \
    join_with<GOAL>(p, [&](Joiner<GOAL>& j) {                                              \
      u32* tiles = (u32*)(shared() + sizeof(JoinStep) + warps() * sizeof(JoinWarp));       \
      Layers<GOAL>(j).shared_lists(tiles + warp() * JOIN_TILE);                            \
    });                                                                                    \
  }
JOIN_SHARED_KERNEL(join_shared_rows, JOIN_ROWS)
JOIN_SHARED_KERNEL(join_shared_count, JOIN_COUNT)
JOIN_SHARED_KERNEL(join_shared_list, JOIN_LIST)

// Four layers: a histogram of join_bounds' sizes, rows by layer, and the layers but the last, which is join_rows and so on.
#define JOIN_LAYER_KERNEL(name, GOAL, work) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<GOAL>(p, [](Joiner<GOAL>& j) { Layers<GOAL>(j).work(); }); }
JOIN_LAYER_KERNEL(join_grid_rows, JOIN_ROWS, grid)
JOIN_LAYER_KERNEL(join_grid_count, JOIN_COUNT, grid)
JOIN_LAYER_KERNEL(join_grid_list, JOIN_LIST, grid)
JOIN_LAYER_KERNEL(join_block_rows, JOIN_ROWS, blockwise)
JOIN_LAYER_KERNEL(join_block_count, JOIN_COUNT, blockwise)
JOIN_LAYER_KERNEL(join_block_list, JOIN_LIST, blockwise)
JOIN_LAYER_KERNEL(join_pool_rows, JOIN_ROWS, pool)
JOIN_LAYER_KERNEL(join_pool_count, JOIN_COUNT, pool)
JOIN_LAYER_KERNEL(join_pool_list, JOIN_LIST, pool)

#define JOIN_SORT_KERNEL(name) \
  WEFT_KERNEL(name, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_with<JOIN_SIZES>(p, [](Joiner<JOIN_SIZES>& j) { name##_of(j); }); }
JOIN_SORT_KERNEL(join_histogram)
JOIN_SORT_KERNEL(join_deal)

// Two passes: sizes of all rows of a table, and then windows of new rows.
JOIN_KERNEL(join_sizes, JOIN_SIZES, sizes)
JOIN_KERNEL(join_placed, JOIN_PLACED, placed)

// Prealloc-Combine: upper bounds of all rows of a table, and then windows of survivors, linked to new rows.
JOIN_KERNEL(join_bounds, JOIN_SIZES, bounds)
JOIN_KERNEL(join_fill, JOIN_FILL, placed)
JOIN_KERNEL(join_link, JOIN_PLACED, link)

#endif
