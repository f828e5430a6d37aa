// Workers over a plan's loop nest. A unit of work is a vertex of level 0, or a
// run of ARCS places in the neighbour lists that level 1 is taken from, so that
// a vertex with many neighbours is shared by many workers.
//
// Requires the text of a plan's nest before it.

// Struct cpuExtra of cpu.go.
typedef struct {
  u64 first;   // vertex, or place, of unit 0
  u64 end;     // behind the last
  const u32 *vertex_of; // the vertices that have a list, if lists are sparse; null: a list's number is its vertex
  u32 arc_adj; // the adjacency that level 1's list is in
  u32 vertices;
  u32 lists; // their number
} Extra;

static bool is_root(const Graph *q, Worker *w, u32 v) {
  for (u32 i = 0; i < W_ROOT_RANGES; ++i)
    if (f_root_first(q, w, i) <= v && v < f_root_end(q, w, i)) return true;
  return false;
}

#if ARCS > 0
// The part of root's candidates of level 1 that lies in places [from, to).
static void arcs(const Graph *q, Worker *w, State *s, u32 root, u64 from, u64 to) {
  s->m[0] = root;
  if (!f_root_ok(q, w, root) || !Level0_sets(q, w, s, w->mem, w->cap)) return;
  Set c = Level1_candidates(q, w, s);
  const u64 at = (u64)(c.p - q->adj[((const Extra *)w->run->extra)->arc_adj].adj);
  const u64 begin = at > from ? at : from, end = at + c.n < to ? at + c.n : to;
  if (begin >= end) return;
  c.p += begin - at;
  c.n = (u32)(end - begin);
  w_count(w, root, f_part(q, w, s, w->mem, w->cap, c));
}

// Where list i begins among all lists.
static inline u64 place(const Adj *a, u32 i) { return a->levels ? a->rows[i] : a->off[i]; }

static void units(const Graph *q, Worker *w, State *s, u64 first, u64 last) {
  const Extra *x = w->run->extra;
  const Adj *a = &q->adj[x->arc_adj];
  const u64 from = x->first + first * ARCS, to = x->first + last * ARCS < x->end ? x->first + last * ARCS : x->end;
  // The last list that begins at from or before.
  u32 lo = 0, hi = x->lists;
  while (hi - lo > 1) {
    const u32 mid = lo + (hi - lo) / 2;
    if (place(a, mid) <= from) lo = mid;
    else hi = mid;
  }
  for (u32 i = lo; i < x->lists && place(a, i) < to && !w_stopped(w); ++i) {
    const u32 v = x->vertex_of ? x->vertex_of[i] : i;
    if (place(a, i + 1) > from && is_root(q, w, v)) arcs(q, w, s, v, from, to);
  }
}
#else
static void units(const Graph *q, Worker *w, State *s, u64 first, u64 last) {
  const Extra *x = w->run->extra;
  for (u64 i = first; i < last && !w_stopped(w); ++i) {
    const u32 v = (u32)(x->first + i);
    if (is_root(q, w, v)) w_count(w, v, f_nest(q, w, s, w->mem, w->cap, v));
  }
}
#endif

W_ENTRY void weft_nest(Run *run, u64 worker) {
  Worker *w = &run->worker[worker];
  State s = {0};
  for (u64 first, last; w_take(w, &first, &last);) units(run->graph, w, &s, first, last);
  w_flush(w);
}
