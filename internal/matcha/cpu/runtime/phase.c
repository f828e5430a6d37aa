// The phases of a program: entry points over the functions of its text.

// struct extra of cpu.go.
typedef struct {
  u32 *shared;
  void *state;
  u64 items; // of a parallel phase
  u64 each;  // items of a unit
} Extra;

// A sequential phase: one worker calls it once.
#define W_RUN(name, function, State) \
  W_ENTRY void name(Run *run, u64 worker) { \
    Worker *w = &run->worker[worker]; \
    const Extra *x = run->extra; \
    function(run->graph, w, w->mem, x->shared, (State *)x->state); \
    w_flush(w); \
  }

// A parallel phase: workers take items.
#define W_ITEMS(name, function, State, Sums) \
  W_ENTRY void name(Run *run, u64 worker) { \
    Worker *w = &run->worker[worker]; \
    const Extra *x = run->extra; \
    for (u64 first, last; w_take(w, &first, &last);) { \
      const u64 end = last * x->each < x->items ? last * x->each : x->items; \
      for (u64 i = first * x->each; i < end && !w_stopped(w); ++i) \
        function(run->graph, w, w->mem, x->shared, (State *)x->state, (Sums *)w->sums, i); \
    } \
    w_flush(w); \
  }

// A parallel phase whose items have loops that workers share.
#define W_SHARED_ITEMS(name, function, State, Sums) \
  W_ENTRY void name(Run *run, u64 worker) { \
    Worker *w = &run->worker[worker]; \
    const Extra *x = run->extra; \
    while (w_next(w, x->items, x->each)) \
      function(run->graph, w, w->mem, x->shared, (State *)x->state, (Sums *)w->sums, w->turns.item, w->turns.depth); \
    w_flush(w); \
  }
