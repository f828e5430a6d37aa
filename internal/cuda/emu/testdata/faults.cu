// Kernels that break the rules of base/device.cuh, one each.
#include "base/device.cuh"

struct Params { u32* cells; i64 n; };

WEFT_KERNEL(outside_mask, Params) {
  if (lane() < 16) p.cells[lane()] = shfl(0xffffu, lane(), 20);
}
WEFT_KERNEL(not_in_own_mask, Params) { p.cells[lane()] = ballot(0x7fffffffu, true); }
WEFT_KERNEL(returned_before, Params) {
  if (lane() == 5) return;
  p.cells[lane()] = ballot(ALL, true);
}
WEFT_KERNEL(no_such_lanes, Params) { p.cells[thread()] = ballot(ALL, true); }
WEFT_KERNEL(two_kinds, Params) {
  if (lane() & 1) p.cells[lane()] = ballot(ALL, true);
  else p.cells[lane()] = any(ALL, true);
}
WEFT_KERNEL(crossed_masks, Params) {
  sync_warp(lane() < 16 ? ALL : 0xffff8000u);
  p.cells[lane()] = 1;
}
WEFT_KERNEL(barrier_and_collective, Params) {
  if (lane() == 3) sync_block();
  else p.cells[lane()] = ballot(ALL, true);
}
WEFT_KERNEL(two_barriers, Params) {
  if (warp()) p.cells[0] = sync_block_or(true);
  else p.cells[1] = sync_block_count(true);
}
WEFT_KERNEL(waits_for_all, Params) {
  if (lane() == 0) {
    atomic_add(p.cells, 1u);
    while (load_relaxed(p.cells) < p.n) spin();
  }
  sync_warp(ALL);
}
WEFT_KERNEL(never_set, Params) {
  for (;;) {
    u32 set = lane() == 0 ? load_acquire(p.cells) : 0;
    if (shfl(ALL, set, 0)) break;
    spin();
  }
}
WEFT_KERNEL(never_set_block, Params) {
  u32* s = (u32*)(p.cells + 1 + block());
  for (;;) {
    if (thread() == 0) {
      store_relaxed(s, load_relaxed(p.cells));
      spin();
    }
    sync_block();
    if (load_relaxed(s)) break;
    sync_block();
  }
}
WEFT_KERNEL(runs_on, Params) {
  while (*(volatile u32*)p.cells == 0) {
  }
}
WEFT_KERNEL(writes_at, Params) {
  if (thread() == 0) ((volatile u32*)p.cells)[p.n] = 7;
}
WEFT_KERNEL(reads_null, Params) {
  const volatile u32* at = (const volatile u32*)p.n;
  if (thread() == 3) p.cells[0] = *at;
}
WEFT_KERNEL(shared_at, Params) {
  if (thread() == 0) ((volatile u32*)shared())[p.n] = 7;
}
WEFT_KERNEL(misaligned, Params) { p.cells[thread()] = (u32)ldg((const u64*)(p.cells + 1)); }
WEFT_KERNEL(traps, Params) {
#ifdef __CUDACC_RTC__
  if (thread() == 9) __trap();
#else
  if (thread() == 9) __builtin_trap();
#endif
}
WEFT_KERNEL(divides, Params) {
  volatile u32 zero = (u32)p.n;
  p.cells[thread()] = 7 / zero;
}
static DEV_NOINLINE u32 deep(i64 n) {
  volatile u32 room[64];
  room[n & 63] = (u32)n;
  return n ? deep(n - 1) + room[n & 63] : 0;
}
WEFT_KERNEL(overflows_stack, Params) {
  if (thread() == 0) p.cells[0] = deep(p.n);
}
WEFT_KERNEL(asserts, Params) { W_ASSERT(block() == 0 || thread() != p.n); }
WEFT_KERNEL(copies_to_global, Params) { copy_async4(p.cells, p.cells + 50); }
WEFT_KERNEL(odd_width, Params) { p.cells[lane()] = shfl(ALL, lane(), 0, 12); }

WEFT_KERNEL(forgets_barrier, Params) {
  volatile u32* s = (volatile u32*)shared();
  s[thread()] = thread();
  // sync_block() belongs here.
  u32 next = s[thread() ? thread() - 1 : 0];
  if (sync_block_count(next == (thread() ? thread() - 1 : 0)) == threads()) p.cells[0] = 1;
}
WEFT_KERNEL(forgets_sync_warp, Params) {
  volatile u32* s = (volatile u32*)shared();
  s[thread()] = thread();
  // sync_warp(ALL) belongs here.
  u32 next = s[lane() ? thread() - 1 : thread()];
  bool good = all(ALL, next == (lane() ? thread() - 1 : thread()));
  if (sync_block_count(good) == threads()) p.cells[0] = 1;
}
// A vote brings lanes together, and orders none of their memory.
WEFT_KERNEL(votes_instead, Params) {
  u32* s = (u32*)shared();
  if (lane() == 0) s[0] = 1;
  ballot(ALL, true);
  if (lane() == 1) p.cells[0] = s[0];
}
WEFT_KERNEL(forgets_copy_wait, Params) {
  u32* s = (u32*)shared();
  copy_async4(s + thread(), p.cells + 36 + thread());
  copy_commit();
  // copy_wait<0>() belongs here.
  sync_block();
  if (sync_block_count(s[thread()] == 0) == threads()) p.cells[0] = 1;
}
WEFT_KERNEL(order, Params) { p.cells[1 + atomic_add(p.cells, 1u)] = block() * threads() + thread(); }
WEFT_KERNEL(fresh, Params) {
  if (thread() == 0) p.cells[0] = *(u32*)shared();
}

WEFT_KERNEL(shifts, Params) { p.cells[thread()] = 1 << p.n; }
WEFT_KERNEL(adds_plainly, Params) {
  if (lane() == 0) p.cells[0] += block();
}
// Right: each hand-over has a barrier, a collective, or a release and an acquire.
WEFT_KERNEL(passes_right, Params) {
  u32* s = (u32*)shared();
  s[thread()] = thread();
  sync_block();
  u32 x = s[threads() - 1 - thread()];
  sync_block();
  s[thread()] = x;
  sync_warp(ALL);
  x += s[thread() ^ 1];
  sync_warp(ALL);
  if (thread() == 0) {
    if (block() == 0) {
      p.cells[1] = x;
      store_release(p.cells, 1u);
    } else {
      while (load_acquire(p.cells) == 0) spin();
      p.cells[2] = p.cells[1];
    }
  }
  sync_block();
  s[thread()] = ballot(ALL, x & 1);
}
