// Filtering by signatures (GSI, section 3.1): the vertices that can stand for a pattern vertex, as bits. A thread has a
// vertex, and a warp 32 vertices with consecutive ids: it reads 128 bytes of a column of the signature table at once,
// and only the columns that the pattern vertex asks something of.
//
// Host twin: layout.Signatures.Filter.
#ifndef JOIN_FILTER
#define JOIN_FILTER
#include "base/prepare.cuh"
#include "base/ran.cuh"
#include "join/plan.cuh"

struct JoinFilter {
  const u32* table;        // word c of the signature of vertex v is table[c * vertices + v]
  const u32* ids;          // the graph's id of each id of the lists; null: the same
  const u64* bits;         // a bit for each vertex that passes predicates, by the graph's ids; null: all pass
  const JoinRange* ranges; // of the label, by the graph's ids; none: all
  const JoinLists* lists;  // of the least degree
  const u32* want;         // for each query `columns` words; a vertex passes one of the queries
  u32* out;                // a bit for each id of the lists, in whole words of 64 bits
  u64* counts;             // vertices that pass ranges and bits; signatures as well; and the least degree as well
  u32 ranges_n, min_degree;
  u32 columns, queries;
};

struct JoinFilterParams {
  Run run;
  JoinFilter x;
};

// Whether v's signature has all that a query asks for. One lane.
DEV bool join_signed(const JoinFilter& x, const u32* want, u64 vertices, u32 v) {
  for (u32 c = 0; c < x.columns; c++)
    if (u32 w = want[c])
      if ((ldg(x.table + c * vertices + v) & w) != w) return false;
  return true;
}

// All threads of a grid of any size.
DEV void join_filter_all(const JoinFilter& x, u32 n) {
  u64 counts[3] = {0, 0, 0};
  u64 rounded = ((u64)n + 63) / 64 * 64;
  for (u64 i = grid_rank(); i < rounded; i += grid_size()) {
    u32 v = i >= n ? 0 : x.ids ? x.ids[i] : (u32)i;
    bool in = i < n && join_within(x.ranges, x.ranges_n, v) && (!x.bits || bit(x.bits, v));
    counts[0] += popc(ballot(ALL, in));
    bool has = false;
    for (u32 q = 0; in && !has && q < x.queries; q++) has = join_signed(x, x.want + q * x.columns, n, v);
    counts[1] += popc(ballot(ALL, has));
    has = has && (!x.min_degree || join_degree(*x.lists, (u32)i) >= x.min_degree);
    u32 votes = ballot(ALL, has);
    counts[2] += popc(votes);
    if (lane() == 0) x.out[i / 32] = votes;
  }
  if (lane() == 0)
    for (u32 k = 0; k < 3; k++) atomic_add(&x.counts[k], counts[k]);
}

WEFT_KERNEL(join_filter, JoinFilterParams) {
  ran(p.run);
  join_filter_all(p.x, p.run.vertices);
}

#endif
