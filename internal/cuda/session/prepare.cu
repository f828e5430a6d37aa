// Kernels that a session runs by itself.
#include "prepare.cuh"

struct First {
  Adj adj;
  u64* first;
  u64 n;
};

WEFT_KERNEL(first, First) { first_offsets(p.adj, p.first, (u32)p.n); }
