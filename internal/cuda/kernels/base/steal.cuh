// How warps without work get work: from warps of their block over a board in shared memory, and
// from other blocks over a market in global memory (STMatch §1.5, gMatch §4.3). The engine
// defines the work and where it is stored; this file has the protocols.
//
// A warp of a block is busy or hungry (its bit of Board.hungry). Three events end hunger. Each
// begins by clearing that bit with an atomic, so that exactly one of them happens:
//   - push: a busy sibling claims the warp, writes work into the warp's place in shared memory,
//     and announces it by Board.fed;
//   - pull: the warp steals from a sibling's stack, and clears its bit while it holds the lock
//     of that stack, so that the victim is busy until then;
//   - the warp leaves by itself, to ask for tasks or because the search is over.
//
// The warp whose bit completes the board (all warps hungry) represents the block. It clears its
// own bit, so that there is one such warp at a time, and offers the block on the market: it
// sets a bit of the idle map, and adds one to Market.idle. Again exactly one warp clears that
// bit. It is a busy warp of any block, or the block's own. A busy warp then subtracts one from
// Market.idle, writes work into the block's mail and announces it by Market.fed. The warp that
// got work feeds its siblings over the board.
//
// The search is over when no tasks will come (take says so) and Market.idle counts all blocks
// that have started. A giver is in a block that is not counted, so then there is no giver. The
// block that sees this marks Market.idle for the others, whose count now falls, and closes its
// board, which ends its warps.
//
// No block waits for one that has not started. If other programs use the device, part of the
// grid may start only after blocks of the other part, or of another process, have returned. A
// block that starts after the end finds the mark and leaves; other blocks have done its tasks
// by then. A block is counted when its first warp seeks. If a block is seen at work before it
// is seen counted, others may leave too early. They have no work, so none is lost, only their
// help.
//
// Requirements: at most 32 warps in a block; a Board of zeros before the first warp seeks (by
// board_clear and sync_block); a market from Go's Exec.Market. A warp never waits at a block
// barrier after that. Blocks beyond the resident ones (Kernel.Resident) have no use.
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

// The source of a warp's new work.
enum Found : u32 {
  OVER,    // nothing, and nothing will come
  TASKS,   // a chunk of tasks
  SIBLING, // work that a sibling stored for this warp
  STOLEN, // work that pull took
  MAIL, // work that another block put into this block's mail
  WAIT, PULL, ASK, // nothing yet: inside seek only
};

DEV u8* mail_of(const Market& m, u32 b) { return m.mail + (u64)b * m.mail_bytes; }

// One lane.
DEV void board_clear(Board* b) { *b = Board{0, 0, 0, 0}; }

// Clears the bit in *map. Returns whether it was set, so whether the caller now owns the bit.
// Earlier writes of the lane that set it are visible. One lane.
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

// Announces that the warp's work for sibling w is complete. All lanes that wrote it have passed
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
  bool offers; // it represents its block, which is on the market or was claimed

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
  // Takes the warp off the board and the market. False: it was claimed, and its work is about
  // to come.
  DEV bool leave() {
    if (hungry && !claim(&b->hungry, bit())) return false;
    if (offers) {
      if (!claim(map(), own())) return false;
      atomic_sub(m.idle, 1u);
    }
    hungry = offers = false;
    return true;
  }
  // Whether the claimed work has come.
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
    // The order matters. First: no tasks are left, so no block begins to work by itself. Then
    // the number of idle blocks. Then: no more blocks than that had started.
    bool finished = load_acquire(&r.counters->finished);
    u32 idle = load_acquire(m.idle);
    if (!finished || idle != load_acquire(m.idle + 1)) return idle & FINISHED;
    atomic_or(m.idle, FINISHED);
    return true;
  }
  // The next action.
  DEV Found look(u32 turn) {
    Found f = arrived();
    if (f != WAIT) return f;
    if (home()) {
      if (!leave()) return WAIT; // for the work of the claimer
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
  g.sync(); // its lanes have finished with the stack before another warp may write there
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
