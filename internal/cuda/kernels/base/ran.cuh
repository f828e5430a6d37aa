// The kernels before the search note that they ran. A device that leaves one out would leave
// empty lists, and a search through them would end at once with a wrong count.
#ifndef WEFT_RAN
#define WEFT_RAN
#include "base/control.cuh"

#define USER_RAN 0 // in Counters.user: launches; Counter in package gpu

// The first statement of a kernel.
DEV void ran(const Run& r) {
  if (block() == 0 && thread() == 0) atomic_add(&r.counters->user[USER_RAN], (u64)1);
}

#endif
