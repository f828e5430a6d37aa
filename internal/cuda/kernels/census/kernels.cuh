// The kernels of the census, of which a run needs a few. CENSUS_TEAM is the number of threads of a block, which is a team.
#ifndef WEFT_CENSUS_KERNELS
#define WEFT_CENSUS_KERNELS
#include "census/cliques.cuh"
#include "census/cycles.cuh"
#include "census/degrees.cuh"
#include "census/pairs.cuh"
#include "census/triangles.cuh"

// BLOCKS of a multiprocessor have registers.
#define CENSUS_KERNEL(name, BLOCKS, ...) \
  WEFT_KERNEL(name, CensusParams, LAUNCH_BOUNDS(CENSUS_TEAM, BLOCKS)) { __VA_ARGS__(p); }

typedef Team<CENSUS_TEAM> CensusTeam;

#endif
