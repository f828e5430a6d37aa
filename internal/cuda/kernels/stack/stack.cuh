// The stack schedule: STMatch's search in one persistent kernel. Each warp runs the plan's loop
// nest depth first over an explicit stack in shared memory. Each level has a list, a cursor and
// an end (C, iter and Csize in the paper).
//
// Up to W_UNROLL neighbouring candidates of a level, siblings, are bound together, and their
// set operations are one operation of the whole warp (§1.6). Each sibling has a state, and a
// list for the level below. The walk goes through the siblings one after the other (uiter is
// `sibling`).
//
// Included after a program (stack/code.cuh: `Program`), with
//   W_UNROLL        siblings, 1 … 16
//   W_STEAL         0 no, 1 inside the block, 2 also across blocks
//   W_STOP          the deepest level from whose list siblings may steal
//   W_DETECT        the deepest level whose list is shared with idle blocks
//   W_STATS         visits, lanes and techniques are counted
//   W_EDGES         tasks are places in the lists of W_FIRST_ADJ, not vertices
//   W_FLAT          the program has Flat<0>: see stack/flat.cuh
//
// Levels 0 … WALK-1 have lists on the stack. With a tail these are all levels that are walked.
// Without one, the warp goes over the last level's candidates where they are made, all
// siblings' together, and they are never on the stack.
//
// Requires: all warps full; shared memory for one Stack (and a sieve) for each warp; roots and
// all else as base/control.cuh says. The host twin is engine/host's nest.
#ifndef WEFT_STACK
#define WEFT_STACK
#include "base/ring.cuh"
#include "base/sieve.cuh"
#include "base/steal.cuh"
#include "stack/combine.cuh"

#define W_VISIT (W_ENUM == W_LEVELS) // every match is visited, the last level's too
#define WALK (W_VISIT ? W_ENUM - 1 : W_ENUM)
#define SHARED_LEVELS (W_STEAL == 0 ? 0 : W_STEAL == 1 || W_STOP > W_DETECT ? W_STOP + 1 : W_DETECT + 1)

// Levels whose lists have another above them, the one whose list has none, and
// those whose nodes are made again where work comes from elsewhere.
using Root = Among<0, 1>;
using Inner = Among<0, (WALK > 1 ? WALK - 1 : 1)>;
using Last = Among<(WALK > 0 ? WALK - 1 : 0), (WALK > 0 ? WALK : 1)>;
using Moved = Among<0, (SHARED_LEVELS < 2 || WALK < 2 ? 1 : SHARED_LEVELS < WALK ? SHARED_LEVELS - 1 : WALK - 1)>;

// The engine's counters in Counters.user, with W_STATS.
enum {
  USED_COMBINED, // steps that made nodes for several siblings at once
  USED_LAZY,     // sets that were left unfiltered
  USED_FLAT,     // batches of the flat last level
  USED_SIEVE,    // sieves built
  USED_TURNED,   // lists of the flat last level that were searched, not streamed
  USED_EDGES,    // edge tasks
  USED_KINDS,
};

// A part of the search: places begin … end-1 of a level's list below the vertices
// matched above it. At level 0 places are tasks, counted from `task`.
struct Loot {
  u64 task;
  u32 level, begin, end;
  u32 m[W_LEVELS];
};

enum { FAULT_LAYOUT = 1 };

struct StackX {
  u32* slots;         // memory of nodes: W_UNROLL*W_SLOTS*cap words a warp
  Market market;      // of Loot; with W_STEAL
  u64* cycles;        // a word a level; with W_STATS
  const u32* vertices; // with W_EDGES and W_FIRST_SPARSE, those that have the lists
  u32 lists;           // their number
  u32 cap;            // elements a node
  u32 sieve_room;     // log2 of the bits of a warp's sieve
  u32 stack_bytes;    // sizeof(Stack), as the host made room for it
  u32 often;          // not 0: matches are added up at each look, for a limit
  u32 unused;
};

struct StackParams {
  Run run;
  Graph graph;
  StackX x;
};

struct Stack {
  u32 lock;
  u32 alive[WALK > 0 ? WALK : 1];   // siblings whose lists wait, and the one that is walked: a bit each
  u32 sibling[WALK > 0 ? WALK : 1]; // the one that is walked
  u32 next[WALK > 0 ? WALK : 1], end[WALK > 0 ? WALK : 1];
  u64 task;                         // level 0's list is tasks from here on
  Loot loot;                        // work that comes from elsewhere
  Set list[WALK > 0 ? WALK : 1][W_UNROLL]; // [l][u]: level l's list below sibling u of level l-1
  State state[WALK > 0 ? WALK : 1][W_UNROLL];
#if W_STATS
  u64 visits[W_LEVELS];
#endif
};

// The vertex of root number t, for vertex tasks. One lane.
DEV u32 root_at(const Graph& q, u64 t) {
  u32 i = 0;
  for (; i + 1 < Program::root_ranges(q); i++) {
    u32 b = Program::root_first(q, i), e = Program::root_end(q, i);
    u32 n = e > b ? e - b : 0;
    if (t < n) break;
    t -= n;
  }
  return Program::root_first(q, i) + (u32)t;
}

// Rare work has functions of its own: inlined at every call it would be a third of the compiled
// code. Arguments are copies, so that a Search may stay in registers.

// Adds a warp's matches to the run's. Collective.
DEV_NOINLINE void add_found(Counters* c, u128 found) {
  u128 sum = sum128(Warp(), found);
  if (lane() == 0 && sum) add128(c, sum);
}

// stopped, for the places that ask it once in a while.
DEV_NOINLINE bool seldom_stopped(Run run) { return stopped(Warp(), run); }

// A warp's search.
struct Search {
  const Run& run;
  const Graph& q;
  const StackX& x;
  Stack* stacks; // the block's
  Stack& s;      // this warp's
  Board* board;  // the block's
  u32* slots;    // this warp's memory of nodes
  u32* table;    // this warp's sieve, zero while nothing is in it
  u64 edge, edge_end; // the rest of an edge task
  u128 found;    // this lane's matches, not yet added up
  u32 turns;
  bool quit;
#if W_STATS
  u64 busy, all, tick;
  u32 used[8];
#endif

  DEV u64 stride() const { return (u64)W_SLOTS * x.cap; }
  DEV u32* slots_of(u32 sibling) const { return slots + sibling * stride(); }
  // The state that level l's list belongs to; l > 0.
  DEV State& above(u32 l) const { return s.state[l - 1][s.sibling[l - 1]]; }
  DEV void note(u32 what, u32 n = 1) {
#if W_STATS
    used[what] += n;
#endif
  }

  // The candidate at a place of level l's list. One lane.
  DEV u32 at_place(u32 l, u32 i) const {
    return l == 0 ? root_at(q, s.task + i) : s.list[l][s.sibling[l - 1]].p[i];
  }

  template <class L> DEV bool accept(L l, u32 v) const {
    return Program::accept(q, l == 0 ? s.state[0][0] : above(l), l, v);
  }

  // Once in a while asks whether to leave, and adds up. Collective.
  DEV bool poll() {
    if (!quit && (++turns & 63) == 0) {
      if (x.often) flush();
      quit = seldom_stopped(run);
    }
    return quit;
  }

  // Adds this warp's matches to the run's. Collective.
  DEV void flush() {
    add_found(run.counters, found);
    found = 0;
  }

  // Counts n matches below root v. One lane.
  DEV void credit(u32 v, u128 n) {
    found += n;
    if (run.roots && n) add_root(run, v, n);
  }

  // Binds up to W_UNROLL candidates of level l and makes their nodes, and their
  // lists for the level below. False: the level's list is used up. Collective.
  template <class L> DEV bool siblings(L l) {
    for (u32 want = W_UNROLL;;) {
      if (poll()) return false;
      u32 n, b = take_places(l, want, n);
      if (n == 0) return false;
      if (W_STEAL == 2 && l <= W_DETECT) give(); // a part of the rest of these
      u32 v = lane() < n ? at_place(l, b + lane()) : 0;
      u32 votes = ballot(ALL, lane() < n && accept(l, v));
      if (popc(votes) < n) want = min(2 * want, 32u);
      if (votes == 0) continue;
      if (popc(votes) > W_UNROLL) { // those behind the last sibling go back
        u32 last = nth_bit(votes, W_UNROLL - 1);
        votes &= (2u << last) - 1;
        if (lane() == 0) store_relaxed(&s.next[l], b + last + 1);
      }
      u32 u = popc(votes & Warp::below());
      if (votes >> lane() & 1) {
        State& t = s.state[l][u];
        if (l > 0) t = above(l);
        t.m[l] = v;
      }
      sync_warp(ALL);
      visit(l, popc(votes));
      u32 alive = make(l, popc(votes));
      if constexpr (L::end < WALK) {
        Set c = {0, 0};
        if (alive >> lane() & 1) s.list[l + 1][lane()] = c = Program::candidates(q, s.state[l][lane()], below(l));
        alive = ballot(ALL, c.n > 0);
      }
      if (alive == 0) continue;
      if (lane() == 0) s.alive[l] = alive;
      sync_warp(ALL);
      return true;
    }
  }

  // Makes level l's nodes for its first n siblings; returns those for which none
  // is empty, a bit each. Collective.
  template <class L> DEV u32 make(L l, u32 n) {
    u32 alive = (1u << n) - 1;
    // Where lanes are counted, a single sibling's sets are made as several siblings' are, one after the other. Lists in parts have no
    // nodes that could be made so.
    if constexpr (W_UNROLL == 1 && !(W_STATS && W_NODES)) {
      State mine = s.state[l][0]; // all lanes write their results
      alive = Program::sets(Warp(), q, mine, l, slots, x.cap);
      sync_warp(ALL);
      if (lane() == 0) s.state[l][0] = mine;
      sync_warp(ALL);
    } else {
      if (n > 1) note(USED_COMBINED);
      Program::nodes(q, l, [&](auto node) {
        u32 total = 0;
        if (alive) alive &= make_node(node, q, s.state[l], alive, slots, stride(), x.cap, total);
        lanes(total);
      });
    }
#if W_STATS && W_LAZY
    if (lane() == 0)
      for (u32 u = 0; u < n; u++)
        for (u32 i = 0; i < (W_SLOTS + 31) / 32; i++) note(USED_LAZY, popc(s.state[l][u].lazy[i]));
#endif
    return alive;
  }

  // Goes to the list below the first waiting sibling of level l. Collective.
  DEV void descend(u32 l) {
    u32 u = ctz(s.alive[l]);
    if (lane() == 0) s.sibling[l] = u;
    sync_warp(ALL);
    put_places(l + 1, 0, s.list[l + 1][u].n);
  }

  // Searches below level l's list, which is on the stack. Collective.
  DEV void walk(u32 l) {
    const u32 bottom = l;
    for (;;) {
      bool down = l + 1 < WALK && siblings(Inner{l});
      if (!down) {
        if (l + 1 == WALK) leaf();
        if (l == bottom || quit) return;
        l--;
        u32 rest = s.alive[l] & (s.alive[l] - 1); // the lowest bit's is done
        sync_warp(ALL);
        if (lane() == 0) s.alive[l] = rest;
        sync_warp(ALL);
        down = rest != 0;
      }
      if (down) descend(l++);
    }
  }

  // Finds the matches below the last list.
  DEV void leaf() {
    const Last l{(u32)WALK - 1};
#if W_FLAT
    if (flat<Flat<0>>(l)) return;
#endif
#if !W_FLAT || W_LAZY
    while (siblings(l)) {
#if W_VISIT
      visit_last(l);
#else
      close(l);
#endif
    }
#endif
  }

#if WALK == 0
  // The search for patterns of one vertex, which is its last level.
  DEV void roots() {
    while (!quit && !(quit = stopped(Warp(), run))) {
      Chunk c = take(Warp(), run);
      if (c.over) return;
      if (c.count == 0) spin();
      for (u32 i = 0; i < c.count; i += 32) {
        u32 v = i + lane() < c.count ? root_at(q, c.first + i + lane()) : 0;
        bool yes = i + lane() < c.count && Program::accept(q, s.state[0][0], Root{0}, v);
        if (run.ring) {
          if (!quit) emit([&](u32) { return v; }, yes, 0);
        } else if (yes) {
          credit(v, 1);
        }
        if (!run.ring) visit_lanes(0, yes);
      }
      if (poll()) return;
    }
  }
#endif

#if !W_VISIT
  // Adds the tails of level l's siblings: several siblings share the warp's lanes.
  DEV void close(u32 l) {
    u32 alive = s.alive[l];
    if (W_UNROLL == 1 || (alive & (alive - 1)) == 0) {
      u32 u = ctz(alive);
      Count n = Program::tail(Warp(), q, s.state[l][u], slots_of(u), x.cap);
      if (lane() == 0) credit(s.state[l][u].m[0], n);
    } else {
      Group<32 / W_UNROLL> g;
      u32 u = lane() / g.size();
      if (alive >> u & 1) {
        Count n = Program::tail(g, q, s.state[l][u], slots_of(u), x.cap);
        if (g.leader()) credit(s.state[l][u].m[0], n);
      }
    }
    sync_warp(ALL);
  }
#else
  // Goes over the last level's candidates below all siblings of level l.
  DEV void visit_last(Last l) {
    u32 alive = s.alive[l];
    bool mine = alive >> lane() & 1;
    Set c = {0, 0};
    if (mine) c = Program::candidates(q, s.state[l][lane()], below(l));
    Stream t = stream(c);
    auto good = [&](u32 v, u32 k) {
      u32 u = shfl(ALL, t.from, k);
      return v != ~0u && Program::accept(q, s.state[l][u], below(l), v);
    };
    lanes(t.total);
    if (run.ring) {
      each(t, [&](Window w) {
        State& a = s.state[l][shfl(ALL, t.from, w.of)];
        bool yes = good(w.x, w.of) && w.live;
        if (!quit) emit([&](u32 c) { return c <= l ? a.m[c] : w.x; }, yes, l + 1);
      });
      return;
    }
    u32 n = count_each(c, t, good);
    if (n) credit(s.state[l][lane()].m[0], n);
    visit_lanes(l + 1, n);
  }

  // Lists a match for each lane that has one.
  template <class F> DEV void emit(F id, bool mine, u32 level) {
    u32 n = emit_rows(Warp(), run, mine, id);
    if (n == ~0u) quit = true;
    else visit(level, n);
  }
#endif

#if W_FLAT
  template <class F> DEV bool flat(Last l);
#endif

  // Counts partial matches of level l: n by the warp, or by each lane.
  DEV void visit(u32 l, u32 n) {
#if W_STATS
    if (lane() == 0) s.visits[l] += n;
    u64 now = clock64_();
    if (lane() == 0 && x.cycles) atomic_add(&x.cycles[l], now - tick);
    tick = now;
#endif
  }
  DEV void visit_lanes(u32 l, u32 n) {
#if W_STATS
    visit(l, reduce_add(ALL, n));
#endif
  }
  // Counts lane-steps: a walk over total elements.
  DEV void lanes(u32 total) {
#if W_STATS
    busy += total;
    all += (total + 31) / 32 * 32;
#endif
  }

  // Adds this warp's counts to the run's counters. Collective.
  DEV void finish() {
    flush();
#if W_STATS
    if (lane() != 0) return;
    for (u32 l = 0; l < W_LEVELS; l++) atomic_add(&run.counters->visits[l], s.visits[l]);
    atomic_add(&run.counters->lanes_busy, busy);
    atomic_add(&run.counters->lanes_all, all);
    for (u32 i = 0; i < USED_KINDS; i++)
      if (used[i]) atomic_add(&run.counters->user[i], (u64)used[i]);
#endif
  }

  // Where work comes from and goes to: stack/idle.cuh.
  DEV u32 take_places(u32 l, u32 want, u32& n);
  DEV void put_places(u32 l, u32 b, u32 e);
  DEV void give();
  DEV u32 begin();
  DEV bool open_edge();
  DEV u32 find();
};

#include "stack/idle.cuh"
#if W_FLAT
#include "stack/flatleaf.cuh"
#endif

// The shared memory of a block: the board, a stack a warp, a sieve a warp.
DEV Stack* block_stacks() { return (Stack*)(shared() + sizeof(Board)); }
DEV u32* block_sieves() { return (u32*)(block_stacks() + warps()); }

DEV void search(const StackParams& p) {
  if (sizeof(Stack) != p.x.stack_bytes) {
    fail(p.run, FAULT_LAYOUT, sizeof(Stack));
    return;
  }
  Stack* stacks = block_stacks();
  Search w = {p.run, p.graph, p.x, stacks, stacks[warp()], (Board*)shared()};
  w.slots = p.x.slots + ((u64)block() * warps() + warp()) * W_UNROLL * W_SLOTS * p.x.cap;
  u32* words = (u32*)&w.s;
  for (u32 i = lane(); i < sizeof(Stack) / 4; i += 32) words[i] = 0;
  if (p.x.sieve_room) {
    w.table = block_sieves() + ((u64)warp() << (p.x.sieve_room - 5));
    for (u32 i = lane(); i < 1u << (p.x.sieve_room - 5); i += 32) w.table[i] = 0;
  }
#if W_STATS
  w.tick = clock64_();
#endif
  if (thread() == 0) board_clear(w.board);
  sync_block(); // no stack is looked at before it is empty
#if WALK > 0
  for (u32 l; (l = w.find()) != ~0u && !w.quit;) w.walk(l);
#else
  w.roots();
#endif
  w.finish();
}

#endif
