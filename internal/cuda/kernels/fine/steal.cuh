// Light stealing (gMatch, PVLDB 2026, §4.3): before a busy warp descends, it checks for hungry
// warps, and gives one half of the waiting tasks at its shallowest frame. base/steal.cuh has
// the protocol for hungry warps and for the end. This file moves frames, directly into the
// stack of a warp of the same block, or into another block's mail.
#ifndef FINE_STEAL
#define FINE_STEAL
#include "fine/args.cuh"
#include "fine/pool.cuh"

// The head of a block's shared memory; the warps' stacks follow.
struct Head {
  Board board;
  u32 from[32]; // by warp: the first frame with work of the stack that was given to it
  const u32* tables[MEMBER_TABLES]; // of Fine, where every check finds them
};
static_assert(sizeof(Head) == 176, "Go has this size too");

// Mail: the first frame with work, 16 bytes in all, and then frames.
#define FINE_MAIL_HEAD 16

// Tasks of a pool that leads to the last level that are worth giving away: each
// is one test.
#define FINE_WORTH 128

// The number of waiting tasks in a frame.
DEV u32 waiting(const Frame& f) { return f.end - f.at + popc(f.unpooled); }

// Moves half of the waiting tasks in `from` to its copy `to`, another warp's. deeper: the warp
// has work below this frame, and can give the only task that waits here. Collective.
DEV void split(Frame& from, Frame& to, bool deeper) {
  u32 unpooled = from.unpooled, many = popc(unpooled), left = from.end - from.at;
  sync_warp(ALL);
  if (many >= (deeper ? 1u : 2u)) {
    u32 keep = deeper ? many / 2 : many - many / 2;
    u32 gone = ballot(ALL, (unpooled >> lane() & 1) && popc(unpooled & lanes_before()) >= keep);
    if (lane() == 0) {
      from.unpooled = unpooled & ~gone;
      store_held(&to.unpooled, gone);
      store_held(&to.at, 0u);
      store_held(&to.end, 0u);
    }
  } else if (lane() == 0) {
    store_held(&to.unpooled, 0u);
    store_held(&to.end, from.end);
    from.end -= deeper ? (left + 1) / 2 : left / 2;
    store_held(&to.at, from.end);
  }
  sync_warp(ALL);
}

DEV void copy_frames(Frame* to, const Frame* from, u32 n) {
  u32 *t = (u32*)to, words = n * (u32)(sizeof(Frame) / 4);
  const u32* f = (const u32*)from;
  for (u32 i = lane(); i < words; i += 32) store_held(&t[i], f[i]);
  sync_warp(ALL);
}

#endif
