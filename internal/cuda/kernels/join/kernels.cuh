// The kernels of a join: join_roots… for its first phase, and the others for a later phase. …_rows makes rows of a table,
// …_count counts, …_list lists. They need sizeof(JoinStep) + warps × sizeof(JoinWarp) bytes of shared memory, and are
// launched one after the other.
#ifndef JOIN_KERNELS
#define JOIN_KERNELS
#include "join/several.cuh"

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

// Two passes: sizes of all rows of a table, and then windows of new rows.
JOIN_KERNEL(join_sizes, JOIN_SIZES, sizes)
JOIN_KERNEL(join_placed, JOIN_PLACED, placed)

// Prealloc-Combine: upper bounds of all rows of a table, and then windows of survivors, linked to new rows.
JOIN_KERNEL(join_bounds, JOIN_SIZES, bounds)
JOIN_KERNEL(join_fill, JOIN_FILL, placed)
JOIN_KERNEL(join_link, JOIN_PLACED, link)

#endif
