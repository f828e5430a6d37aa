// The kernels that make a candidate graph. Each takes struct { Run; Graph; Candidates; Index }
// and is launched once in this order, except fine_refine, which is launched FINE_ROUNDS times.
// Between fine_alive and fine_number ranks become prefix sums of alive. Between fine_weigh and
// fine_size_rows the host chooses an order. After that off becomes prefix sums of sizes.
#ifndef FINE_INDEX_KERNELS
#define FINE_INDEX_KERNELS
#include "base/ran.cuh"
#include "fine/rows.cuh"

struct Making {
  Run run;
  Graph graph;
  Candidates c;
  Index x;
};

WEFT_KERNEL(fine_mark, Making) { ran(p.run); mark_all(p.c, p.graph, p.run.vertices); }
WEFT_KERNEL(fine_refine, Making) { ran(p.run); refine(p.run, p.c, p.graph); }
WEFT_KERNEL(fine_alive, Making) { ran(p.run); note_alive(p.c, p.run.vertices); }
WEFT_KERNEL(fine_number, Making) { ran(p.run); number(p.c, p.run.vertices); }
WEFT_KERNEL(fine_weigh, Making) { ran(p.run); weigh(p.run, p.c, p.graph); }
WEFT_KERNEL(fine_size_rows, Making) { ran(p.run); size_rows(p.run, p.c, p.x, p.graph); }
WEFT_KERNEL(fine_fill_rows, Making) { ran(p.run); fill_rows(p.run, p.c, p.x, p.graph); }

#endif
