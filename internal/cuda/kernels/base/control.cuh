// The shared state of a running kernel and the host: stop, faults, progress, and counts.
//
// Control lies in mapped host memory, so reading it crosses the bus. Counters lies in device
// memory, so reading it is a hit in L2. All lanes read Counters only. Once every POLL_NS, one
// lane of the whole device carries the stop flag from Control to Counters, and the progress the
// other way.
//
// Go's session.control and session.counters have the same layouts.
#ifndef WEFT_CONTROL
#define WEFT_CONTROL
#include "base/group.cuh"

#define POLL_NS 1000000ull // between two looks at Control
#define MAX_LEVELS 32
#define GRANTS 1024 // the most grants of a run, a device

// Tasks first … first+count-1; before: tasks of all earlier grants.
struct Grant {
  u64 first, count, before;
};

struct Control {
  // Written by the host.
  u32 stop;   // not 0: leave as soon as it is seen
  u32 posted; // grants posted so far
  u32 closed; // not 0: no grant will follow those posted
  u32 unused;
  u64 drained; // rows of the ring that the host has taken
  u64 spare[5];
  // Written by the device.
  u32 fault; // the first fault: a code of the kernel's; 0: none
  u32 taken; // grants taken over so far
  u64 fault_at; // the subject of the fault: a task, a vertex, a size
  u64 done;  // tasks handed out to warps
  u64 found; // matches added up so far; 2^64-1: or more
  u64 spare2[4];
  // Written by the host.
  Grant grant[GRANTS];
};

struct Counters {
  u64 matches[2]; // low and high half
  u64 visits[MAX_LEVELS]; // partial matches that reached the level
  u64 lanes_busy;  // lane-steps with work, and
  u64 lanes_all;   // all lane-steps: their quotient is 1 − idle rate
  u64 steals_block, steals_grid;
  u64 user[8]; // an engine's own
  u64 turn; // the last of the kernels that prepare for the search: see base/prepare.cu
  u64 pad0;
  // Looked at by all warps all the time.
  u64 poll_at; // when to look at Control next, in nanotime
  u32 stop;
  u32 fault;
  u32 overflow; // not 0: a total passed 128 bits
  u32 pad1[27];
  // The task counter: see base/tasks.cuh.
  u64 cursor;
  u32 installing;
  u32 finished;
  u64 pad2[14];
  // The match ring: see base/ring.cuh.
  u64 reserved; // rows reserved so far
  u64 drained;  // a recent value of Control.drained
  u64 pad3[14];
  Grant grant[GRANTS]; // those taken over
};

// The argument of every kernel that a session runs. It is struct { Run run; Graph graph; X x;
// }, where X is the engine's own plain struct.
struct Run {
  Control* control;
  Counters* counters;
  u64* roots;      // two words a vertex: 128-bit matches per root; null: not wanted
  u32* ring;       // null: matches are only counted
  u64 tasks;       // tasks of the whole run: 0 … tasks-1
  u32 ring_rows;   // the ring's room: a power of two, at least 32
  u32 ring_width;  // ids a row
  u32 chunk;       // tasks taken at a time
  u32 vertices;
};

#define CURSOR_BITS 40 // see base/tasks.cuh; a grant has less than 2^39 tasks

// Tasks handed out so far. One lane.
DEV u64 handed_out(const Counters* c) {
  u64 at = load_acquire(&c->cursor);
  const Grant* g = &c->grant[(at >> CURSOR_BITS) - 1];
  u64 count = load_relaxed(&g->count);
  return load_relaxed(&g->before) + min(at & ((1ull << CURSOR_BITS) - 1), count);
}

// Whether to leave: the user, a limit, a timeout or a fault on any device wants
// it. One lane's work; cheap enough for every few hundred steps of a warp, and
// to be called at least every few milliseconds of work. Lanes that call it at
// different times may get different answers: let one ask for all.
DEV bool stopped(const Run& r) {
  Counters* c = r.counters;
  if (load_relaxed(&c->stop)) return true;
  u64 now = nanotime(), due = load_relaxed(&c->poll_at);
  if (now < due || atomic_cas(&c->poll_at, due, now + POLL_NS) != due) return false;
  if (due == 0) return false; // the first look of a run only sets the time of the next
  store_relaxed_system(&r.control->done, handed_out(c));
  store_relaxed_system(&r.control->found, load_relaxed(&c->matches[1]) ? ~0ull : load_relaxed(&c->matches[0]));
  if (!load_relaxed_system(&r.control->stop)) return false;
  store_relaxed(&c->stop, 1u);
  return true;
}

// stopped, asked by one lane for the group.
template <class G> DEV bool stopped(G g, const Run& r) {
  u32 s = 0;
  if (g.leader()) s = stopped(r);
  return g.shfl(s, 0);
}

// Whether the run is to stop as far as the device knows, the same for the whole
// group: cheaper than stopped, since it never looks at the host. The flag may be
// set at any time, so that lanes that read it for themselves would part.
template <class G> DEV bool stopping(G g, const Run& r) {
  u32 s = 0;
  if (g.leader()) s = load_relaxed(&r.counters->stop);
  return g.shfl(s, 0) != 0;
}

// Ends the run with an error: the host reports the first code, and no number.
// Codes are the kernel's own, from 1. One lane.
DEV void fail(const Run& r, u32 code, u64 about) {
  if (atomic_cas(&r.counters->fault, 0u, code) == 0) {
    store_relaxed_system(&r.control->fault_at, about);
    fence_system();
    store_relaxed_system(&r.control->fault, code);
  }
  store_relaxed(&r.counters->stop, 1u);
}

// Adds x to the 128-bit number at cell[0] (low), cell[1] (high), for any order of additions:
// only the addition that wraps the low half sees the wrap. False: the sum passed 2^128.
DEV bool add128(u64* cell, u128 x) {
  u64 lo = (u64)x, hi = (u64)(x >> 64);
  bool carry = lo && atomic_add(&cell[0], lo) > ~lo;
  bool over = carry && hi == ~0ull;
  hi += carry;
  if (hi) over |= atomic_add(&cell[1], hi) > ~hi;
  return !over;
}

// Adds to the matches of the run. Lanes and warps add up their own first: one
// call a warp and chunk of tasks is plenty.
DEV void add128(Counters* c, u128 x) {
  if (!add128(c->matches, x)) store_relaxed(&c->overflow, 1u);
}

// Adds to the matches of root v, where they are wanted.
DEV void add_root(const Run& r, u32 v, u128 x) {
  if (r.roots && !add128(r.roots + 2 * (u64)v, x)) store_relaxed(&r.counters->overflow, 1u);
}

// The sum of 128-bit numbers over a group, on its leader only.
template <class G> DEV u128 sum128(G g, u128 x) {
  for (u32 d = G::size() / 2; d > 0; d /= 2) {
    u64 lo = ::shfl_xor(g.mask(), (u64)x, d), hi = ::shfl_xor(g.mask(), (u64)(x >> 64), d);
    x += ((u128)hi << 64) | lo;
  }
  return x;
}

#endif
