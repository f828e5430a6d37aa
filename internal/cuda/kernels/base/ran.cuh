// The kernels before the search say that they ran: what they make may as well be
// nothing, and a search through nothing is soon done.
#ifndef WEFT_RAN
#define WEFT_RAN
#include "base/control.cuh"

#define USER_RAN 0 // in Counters.user: launches; Counter in package gpu

// The first statement of a kernel.
DEV void ran(const Run& r) {
  if (block() == 0 && thread() == 0) atomic_add(&r.counters->user[USER_RAN], (u64)1);
}

#endif
