// The phases of a Matcha program on a device: one kernel a phase, one after the other in a
// stream. A sequential phase stores its values in State, where the next ones read them. The
// workers of a parallel phase add their sums to State when they end.
//
// A worker is a group of W_GROUP lanes. It takes items a few at a time from one counter. With
// W_STATIC the items are dealt to the workers at the start. With W_STEAL it also steals
// remaining iterations from other groups of its block (matcha/crew.cuh).
//
// Before it stand the text of the program with its loops watched, and
//   W_GROUP    1, 2, 4, 8, 16 or 32
//   W_STATIC   0, 1
//   W_STEAL    0, 1; W_LEVELS, the loops in an item that are shared; W_CREW and W_MAN,
//              bytes that the host has made room for
//   W_FAST     words of shared memory a group
//   W_STATS    0, 1: lanes and busy times are counted
// Requires: full warps; shared memory for block_bytes(); State zeroed, and a word a phase of
// cursor. Compared with the interpreter by the package's tests.
#include "base/ring.cuh"

struct Extra {
  State* state;
  u32* mem;    // words a group of the grid
  u32* shared; // of all
  u64* cursor; // a word a phase: items that were taken
  u64 words;   // even
};
struct Params {
  Run run;
  Graph graph;
  Extra x;
};

// The state of a group besides its lanes' numbers. It is the same in all of its lanes, except
// for the measures.
struct Local {
  const Params& p;
  u32 turns; // of loops
  bool stop;
  u64 rows;  // emitted and not listed
  u32 stolen; // the level of the current work: see matcha/crew.cuh
#if W_STATS
  u64 busy, all; // lanes with work in the steps of set operations, and all lanes
  u64 since, time;
#endif

  DEV Local(const Params& params) : p(params), turns(0), stop(false), rows(0), stolen(0) {
#if W_STATS
    busy = all = time = 0;
    since = nanotime();
#endif
  }
};

#define LOOK_TURNS 256 // between two looks at the stop flag; a power of two

template <int N> struct Worker : Group<N> {
  Local* l;
  struct Man* man; // with W_STEAL
  DEV Worker(Local* local, struct Man* own) : l(local), man(own) {}

  // Whether a loop may begin another turn. Collective.
  DEV bool turn() {
    if ((++l->turns & (LOOK_TURNS - 1)) == 0 && stopped(*this, l->p.run)) l->stop = true;
    return !l->stop;
  }
#if W_STATS
  // A step of a set operation, in which the lane works or only waits. A warp takes a step for
  // those of its lanes that are together; the others idle.
  DEV void tally(bool live) {
    l->busy += live;
    if (lane() == ctz(active())) l->all += 32;
  }
#endif
};

// The bits of a value that is emitted.
DEV u64 word(i64 x) { return (u64)x; }
DEV u64 word(bool x) { return x; }
DEV u64 word(f64 x) {
  union { f64 x; u64 bits; } u;
  u.x = x;
  return u.bits;
}

// Hands a row to the host, or counts it. Collective.
template <class G, class... T> DEV void emit(G g, T... row) {
  if (g.l->stop) return;
  const Run& r = g.l->p.run;
  if (!r.ring) {
    g.l->rows++;
    return;
  }
  const u64 words[] = {word(row)...};
  if (emit_rows(g, r, g.leader(), [&](u32 c) { return (u32)(words[c / 2] >> (c % 2 * 32)); }) == ~0u) g.l->stop = true;
}

// Ends the run. Collective.
template <class G> DEV void fail(G g, u32 code) {
  if (g.leader()) fail(g.l->p.run, code, 0);
  g.l->stop = true;
}

// Adds up the values of the leaders of a warp's groups. All lanes of the warp.
DEV void collect(u64* to, u64 x, bool leads) {
  u64 sum = reduce_add(ALL, leads ? x : 0);
  if (lane() == 0 && sum) atomic_add(to, sum);
}

DEV void finish(Local& l, bool leads) {
  u64 rows = reduce_add(ALL, leads ? l.rows : 0);
  Counters* c = l.p.run.counters;
  if (lane() == 0 && rows) add128(c, rows);
  if (block() == 0 && thread() == 0) atomic_add(&c->cursor, 1ull); // a phase is a task, and done
#if W_STATS
  collect(&c->lanes_busy, l.busy, true);
  collect(&c->lanes_all, l.all, true);
  u64 time = l.time; // of the warp: as long as any of its groups has work
  for (u32 d = 16; d > 0; d /= 2) time = max(time, shfl_xor(ALL, time, d));
  if (lane() == 0) atomic_add(&c->user[0], time);
#endif
}

// Chunks: so large that the counter is not a bottleneck, and so small that all groups end
// together.
DEV u32 chunk_of(u64 items, u64 groups) { return (u32)min(max(items / (groups * 32), 1ull), 64ull); }

// Takes items; at: the first; returns how many. Collective.
template <class G> DEV u32 take_items(G g, u64* cursor, u64 n, u32 chunk, u64& at) {
  at = 0;
  if (g.leader() && load_relaxed(cursor) < n) at = atomic_add(cursor, (u64)chunk);
  else at = n;
  at = g.shfl(at, 0);
  return at < n ? (u32)min((u64)chunk, n - at) : 0;
}

#if W_STEAL
#include "matcha/crew.cuh"
#else
DEV u32 crew_bytes() { return 0; }
#endif

// A parallel phase. P has the phase's constants, and run.
template <class P> DEV void parallel(const Params& p) {
  Local l(p);
  const u64 n = ((const u64*)p.x.state)[P::items];
  const u64 id = ((u64)block() * threads() + thread()) / W_GROUP, groups = (u64)blocks() * threads() / W_GROUP;
  u32* mem = p.x.mem + id * p.x.words;
  u32* fast = (u32*)(shared() + crew_bytes()) + thread() / W_GROUP * W_FAST;
  typename P::Sums sums{};
#if W_STEAL
  Man* man = crew_begin();
  Worker<W_GROUP> g(&l, man);
  crew_work(g, n, id, groups, p.x.cursor + P::number, [&](u64 at, u32 stolen) {
    P::run(g, p, mem, fast, sums, at, stolen);
  });
#else
  Worker<W_GROUP> g(&l, 0);
#if W_STATIC
  for (u64 at = id; at < n && g.turn(); at += groups) P::run(g, p, mem, fast, sums, at, 0);
#else
  const u32 chunk = chunk_of(n, groups);
  u64 at = 0;
  for (u32 k; !l.stop && (k = take_items(g, p.x.cursor + P::number, n, chunk, at)) != 0;)
    for (u32 i = 0; i < k && g.turn(); i++) P::run(g, p, mem, fast, sums, at + i, 0);
#endif
#if W_STATS
  l.time = nanotime() - l.since;
#endif
#endif
  sync_warp(ALL);
  const u64* mine = (const u64*)&sums;
  UNROLL for (u32 k = 0; k < P::sums; k++) collect((u64*)p.x.state + P::into(k), mine[k], g.leader());
  finish(l, g.leader());
}

// A sequential phase, by one warp.
template <class P> DEV void sequential(const Params& p) {
  Local l(p);
  Warp w;
  Worker<32> g(&l, 0);
  State s = *p.x.state;
  if (!stopped(w, p.run)) P::run(g, p, p.x.mem, s);
  w.sync();
  if (w.leader()) *p.x.state = s;
  finish(l, w.leader());
}
