// The kernels of the census, of which a run needs a few. CENSUS_LARGE is the number of threads of a large team, which is a
// block.
#ifndef WEFT_CENSUS_KERNELS
#define WEFT_CENSUS_KERNELS
#include "census/cliques.cuh"
#include "census/cycles.cuh"
#include "census/degrees.cuh"
#include "census/pairs.cuh"
#include "census/triangles.cuh"

// Blocks of THREADS, of which a multiprocessor has registers for BLOCKS.
#define CENSUS_KERNEL(name, THREADS, BLOCKS, ...) \
  WEFT_KERNEL(name, CensusParams, LAUNCH_BOUNDS(THREADS, BLOCKS)) { __VA_ARGS__(p); }

typedef Team<CENSUS_LARGE> LargeTeam;
typedef Team<32> SmallTeam;

#endif
