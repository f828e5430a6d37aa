// The kernels of PBE's search across parts, as macros: package partition has their names. They need 128 bytes of shared
// memory for each warp. Those for one table are launched one after the other.
#ifndef PARTITION_KERNELS
#define PARTITION_KERNELS
#include "partition/search.cuh"

#define PARTITION_KERNEL(name, GOAL, work)                                   \
  WEFT_KERNEL(name, PartitionParams, LAUNCH_BOUNDS(256, 4)) {                \
    if (!partition_turn(&p.x.state->turned, p.x.turn)) return;               \
    Extender<GOAL>(p, (u32*)(shared() + warp() * 128)).work();               \
  }

#define PARTITION_PAIRS_KERNEL(name)                           \
  WEFT_KERNEL(name, PartitionParams, LAUNCH_BOUNDS(256, 4)) {  \
    if (!partition_turn(&p.x.state->turned, p.x.turn)) return; \
    count_pairs(p);                                            \
  }

#define PARTITION_MARK_KERNEL(name) \
  WEFT_KERNEL(name, PartitionParams, LAUNCH_BOUNDS(256, 4)) { mark_rows(p); }

#endif
