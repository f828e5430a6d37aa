// The kernels of a join: join_roots… for its first phase, and join_… for a later phase of one vertex; each makes rows of a
// table, counts, or lists. They need sizeof(JoinStep) + warps × sizeof(JoinWarp) bytes of shared memory, and are launched
// one after the other.
#ifndef JOIN_KERNELS
#define JOIN_KERNELS
#include "join/search.cuh"

WEFT_KERNEL(join_roots_rows, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_first<JOIN_ROWS>(p); }
WEFT_KERNEL(join_roots_count, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_first<JOIN_COUNT>(p); }
WEFT_KERNEL(join_roots_list, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_first<JOIN_LIST>(p); }

WEFT_KERNEL(join_rows, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_phase<JOIN_ROWS>(p); }
WEFT_KERNEL(join_count, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_phase<JOIN_COUNT>(p); }
WEFT_KERNEL(join_list, JoinParams, LAUNCH_BOUNDS(256, 4)) { join_phase<JOIN_LIST>(p); }

#endif
