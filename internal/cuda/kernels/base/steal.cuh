// What warps without work do, and how they get work from others: inside a block
// over a board in shared memory, between blocks over a market in global memory
// (STMatch §1.5, gMatch §4.3). What the work is, and where it is put down, is the
// engine's; this file has the protocols.
//
// A warp of a block is busy or hungry (its bit of Board.hungry). Three things end
// hunger, and each of them begins by clearing that bit with an atomic, so that
// exactly one of them happens:
//   - a busy sibling claims the warp, writes work into the warp's place in shared
//     memory, and says so by Board.fed                             (push)
//   - the warp steals from a sibling's stack, and clears its bit while it holds
//     the lock of that stack, so that the victim is busy until then    (pull)
//   - the warp leaves by itself, to ask for tasks or because all is over.
//
// The warp whose bit completes the board (all warps hungry) stands for the block.
// It clears its own bit, so that there is one at a time, and offers the block on
// the market: a bit of the idle map, and one more in Market.idle. Again exactly
// one clears that bit: a busy warp anywhere, which then takes one off Market.idle,
// writes work into the block's mail and says so by Market.fed; or the block
// itself. Who got work feeds its siblings over the board.
//
// All is over when no tasks will come (take says so) and Market.idle counts all
// blocks that have started: who gives is in a block that is not counted, so then
// no one can give. The block that sees it marks Market.idle for the others, whose
// count now falls, and closes its board, which sends its warps home.
//
// No block waits for one that has not started: where others use the device, part
// of the grid may have to wait until blocks of the other part, or of another
// process, return. A block that starts after the end finds the mark and leaves;
// the tasks were the others' by then. A block is counted when its first warp seeks.
// Should a block be seen at work before it is seen counted, others may leave too
// early: they have no work of their own, so none is lost, only their help.
//
// Requirements: at most 32 warps a block; a Board of zeros before the first warp
// seeks (by board_clear and sync_block); a market from Go's Exec.Market. A warp
// never waits at a block barrier after that. Blocks beyond what is resident
// (Kernel.Resident) are of no use.
#ifndef WEFT_STEAL
#define WEFT_STEAL
#include "base/tasks.cuh"

struct Board {
  u32 hungry; // warps that want work
  u32 fed;    // warps whose work is put down
  u32 closed; // not 0: go home
  u32 begun;  // not 0: the block is counted as started
};

struct Market {
  u32* idle; // blocks that wait now, and FINISHED; then, blocks that have started
  u32* map;  // a bit a block that may be claimed
  u32* fed;  // a word a block: not 0: its mail is put down
  u8* mail;  // mail_bytes a block
  u32 mail_bytes;
  u32 blocks;
};

#define FINISHED 0x80000000u

// What a warp found.
enum Found : u32 {
  OVER,    // nothing, and nothing will come
  TASKS,   // a chunk of tasks
  SIBLING, // what a sibling put down for this warp
  STOLEN,  // what pull took
  MAIL,    // what another block put into this block's mail
  WAIT, PULL, ASK, // nothing yet: inside seek only
};

DEV u8* mail_of(const Market& m, u32 b) { return m.mail + (u64)b * m.mail_bytes; }

// One lane.
DEV void board_clear(Board* b) { *b = Board{0, 0, 0, 0}; }

// Clears the bit in *map; whether it was set: whether the caller owns what the bit
// stood for. What the one who set it wrote before is seen. One lane.
DEV bool claim(u32* map, u32 bit) {
  if (!(load_relaxed(map) & bit) || !(atomic_and(map, ~bit) & bit)) return false;
  fence();
  return true;
}

// Inside a pull, with the victim's lock held and something to steal: takes this
// warp off the board. False: a sibling is about to feed it; steal nothing.
DEV bool rise(Board* b) { return claim(&b->hungry, 1u << warp()); }

// Push: claims a hungry sibling, if there is one (~0u: none). The caller writes
// work for it and calls feed. Cheap where nobody is hungry. One lane.
DEV u32 hungry_sibling(Board* b) {
  for (u32 h = load_relaxed(&b->hungry); h; h &= h - 1)
    if (claim(&b->hungry, h & (0u - h))) return ctz(h);
  return ~0u;
}

// What the warp wrote for sibling w is complete. All lanes that wrote have passed
// a sync_warp since. One lane.
DEV void feed(Board* b, u32 w) {
  fence_block();
  atomic_or(&b->fed, 1u << w);
}

// Claims a block that is wholly idle, if there is one (~0u: none). The caller
// writes into its mail and calls send. One lane.
DEV u32 idle_block(const Market& m) {
  if (load_relaxed(m.idle) == 0) return ~0u;
  u32 words = (m.blocks + 31) / 32;
  for (u32 i = 0, w = block() % words; i < words; i++, w = w + 1 < words ? w + 1 : 0)
    for (u32 h = load_relaxed(&m.map[w]); h; h &= h - 1)
      if (claim(&m.map[w], h & (0u - h))) {
        atomic_sub(m.idle, 1u);
        fence(); // counted before this block can be idle itself
        return w * 32 + ctz(h);
      }
  return ~0u;
}

// The mail for block b is complete; as feed.
DEV void send(const Market& m, u32 b) {
  fence();
  atomic_exch(&m.fed[b], 1u);
}

// Counts the block, before any of its warps takes tasks or waits. One lane.
DEV void begin_seeking(Board* b, const Market& m) {
  if (!load_relaxed(&b->begun) && atomic_exch(&b->begun, 1u) == 0) atomic_add(m.idle + 1, 1u);
}

// A hungry warp, as its leader sees it.
struct Seeker {
  const Run& r;
  Board* b;
  const Market& m;
  bool hungry; // the warp's bit is set, or was claimed
  bool offers; // it stands for its block, which is on the market, or was claimed

  DEV Seeker(const Run& run, Board* board, const Market& market)
      : r(run), b(board), m(market), hungry(false), offers(false) {}

  DEV u32 bit() const { return 1u << warp(); }
  DEV u32 everyone() const { return warps() == 32 ? ALL : (1u << warps()) - 1; }
  DEV u32* map() const { return &m.map[block() >> 5]; }
  DEV u32 own() const { return 1u << (block() & 31); }

  // On the board; and on the market, if that completes the board.
  DEV void enter() {
    fence_block();
    hungry = true;
    if ((atomic_or(&b->hungry, bit()) | bit()) == everyone() && claim(&b->hungry, bit())) {
      hungry = false;
      offer();
    }
  }
  DEV void offer() {
    offers = true;
    atomic_add(m.idle, 1u);
    fence();
    atomic_or(map(), own());
  }
  // Off both. False: it was claimed, and what it gets is about to come.
  DEV bool leave() {
    if (hungry && !claim(&b->hungry, bit())) return false;
    if (offers) {
      if (!claim(map(), own())) return false;
      atomic_sub(m.idle, 1u);
    }
    hungry = offers = false;
    return true;
  }
  // Whether what was claimed has come.
  DEV Found arrived() {
    if (hungry && (load_relaxed(&b->fed) & bit())) {
      atomic_and(&b->fed, ~bit());
      fence_block();
      return SIBLING;
    }
    if (offers && load_relaxed(&m.fed[block()])) {
      atomic_exch(&m.fed[block()], 0u);
      fence();
      return MAIL;
    }
    return WAIT;
  }
  // Whether to go home: the block is closed, the run stopped, or all is over.
  DEV bool home() {
    if (load_relaxed(&b->closed) || load_relaxed(&r.counters->stop)) return true;
    if (!offers) return false;
    if (stopped(r)) return true;
    // In this order: no tasks are left, so no block begins to work by itself; so
    // many are idle; and no more than those had started then.
    bool finished = load_acquire(&r.counters->finished);
    u32 idle = load_acquire(m.idle);
    if (!finished || idle != load_acquire(m.idle + 1)) return idle & FINISHED;
    atomic_or(m.idle, FINISHED);
    return true;
  }
  // What to do now.
  DEV Found look(u32 turn) {
    Found f = arrived();
    if (f != WAIT) return f;
    if (home()) {
      if (!leave()) return WAIT; // for what was claimed
      store_relaxed(&b->closed, 1u);
      return OVER;
    }
    // Warps ask at different times, or two could forever miss that both are
    // hungry.
    if (turn % (16 + 3 * warp()) == 0 && !load_relaxed(&r.counters->finished) && leave()) return ASK;
    return hungry && turn % 2 == 0 ? PULL : WAIT;
  }
};

// Called by a warp that has nothing to do, all lanes together, until it returns
// OVER; then the warp ends. TASKS: t has a chunk. pull() tries to steal from a
// sibling: collective; true: it has called rise, got true, and taken something. A
// kernel that only pushes gives [] { return false; }.
template <class P> DEV Found seek(const Run& r, Board* b, const Market& m, Chunk& t, P pull) {
  Warp g;
  g.sync(); // what its lanes did to its stack is done before another warp may write there
  if (stopping(g, r)) return OVER;
  if (g.leader()) begin_seeking(b, m);
  Seeker s(r, b, m);
  u32 f = ASK;
  for (u32 turn = 1;; turn++) {
    if (f == ASK) {
      t = take(g, r);
      if (t.count) return TASKS;
      if (g.leader()) s.enter();
    }
    f = WAIT;
    if (g.leader()) f = s.look(turn);
    f = g.shfl(f, 0);
    if (f < WAIT) {
      g.sync();
      return (Found)f;
    }
    if (f == PULL && pull()) return STOLEN;
    spin();
  }
}

#endif
