// Kernels that use each name of base/device.cuh, for the tests of package kernels.
#include "base/device.cuh"

struct Where { u32 thread, threads, block, blocks, lane, warp, warps, shared_bytes; };
struct WhereParams { Where* out; };
WEFT_KERNEL(where, WhereParams) {
  Where w = {thread(), threads(), block(), blocks(), lane(), warp(), warps(), shared_bytes()};
  p.out[block() * threads() + thread()] = w;
}

// What a lane is told, and what it found. Every lane gets its mask from the host.
struct Ask { u64 wide; u32 mask, x, by, width; };
struct Votes { u32 ballot, any, all, match, match_wide; };
struct VotesParams { const Ask* in; Votes* out; u32 rounds; };
WEFT_KERNEL(votes, VotesParams) {
  u32 n = threads() * blocks(), i = block() * threads() + thread();
  for (u32 r = 0; r < p.rounds; r++, i += n) {
    Ask a = p.in[i];
    Votes v;
    v.ballot = ballot(a.mask, a.x & 1);
    v.any = any(a.mask, a.x & 1);
    v.all = all(a.mask, a.x & 1);
    v.match = match_any(a.mask, a.x);
    v.match_wide = match_any(a.mask, a.wide);
    p.out[i] = v;
  }
}

struct Sums { u64 add_wide; u32 add, min, max, or_, and_, active; };
struct SumsParams { const Ask* in; Sums* out; u32 rounds; };
WEFT_KERNEL(sums, SumsParams) {
  u32 n = threads() * blocks(), i = block() * threads() + thread();
  for (u32 r = 0; r < p.rounds; r++, i += n) {
    Ask a = p.in[i];
    Sums s;
    s.add_wide = reduce_add(a.mask, a.wide);
    s.add = reduce_add(a.mask, a.x);
    s.min = reduce_min(a.mask, a.x);
    s.max = reduce_max(a.mask, a.x);
    s.or_ = reduce_or(a.mask, a.x);
    s.and_ = reduce_and(a.mask, a.x);
    s.active = active();
    p.out[i] = s;
  }
}

struct Shuffled { u64 wide, pointer; i64 wide_signed; f64 wide_float; u32 x, up, down, cross; i32 x_signed; f32 x_float; };
struct ShuffleParams { const Ask* in; Shuffled* out; u32 rounds; };
WEFT_KERNEL(shuffles, ShuffleParams) {
  u32 n = threads() * blocks(), i = block() * threads() + thread();
  for (u32 r = 0; r < p.rounds; r++, i += n) {
    Ask a = p.in[i];
    Shuffled s;
    // by is a lane of the mask; in segments, every lane of the segment is.
    s.x = shfl(a.mask, a.x, a.by);
    s.wide = shfl(a.mask, a.wide, a.by);
    s.x_signed = shfl(a.mask, (i32)a.x, a.by);
    s.wide_signed = shfl(a.mask, (i64)a.wide, a.by);
    s.x_float = shfl(a.mask, (f32)a.x, a.by);
    s.wide_float = shfl(a.mask, (f64)a.x / 3, a.by);
    s.pointer = (u64)shfl(a.mask, (const u32*)a.wide, a.by);
    u32 segment = a.width == 32 ? ALL : ((1u << a.width) - 1) << (lane() & ~(a.width - 1));
    s.up = shfl_up(segment, a.x, r % 5, a.width);
    s.down = shfl_down(segment, a.x, r % 5, a.width);
    s.cross = shfl_xor(segment, a.x, r % a.width, a.width);
    p.out[i] = s;
  }
}

// Lanes go different ways, and the ways have collectives of their own.
struct BranchParams { u32* out; };
WEFT_KERNEL(branches, BranchParams) {
  u32 x = 0, l = lane();
  if (l % 3 == 0) {
    u32 mask = 0x49249249u;
    for (u32 i = 0; i < 10; i++) x += popc(ballot(mask, l > i));
  } else if (l % 3 == 1) {
    u32 mask = 0x92492492u;
    for (u32 i = 0; i < l; i++) sync_warp(1u << l);
    for (u32 i = 0; i < 7; i++) x += shfl(mask, l * i, 1 + 3 * (i % 10));
    if (l > 15) x += 1000 * popc(ballot(mask & 0xffff0000u, true));
  } else {
    u32 mask = 0x24924924u;
    for (u32 i = 0; i < 5 + l; i++) {
      if (i < 5) x += reduce_add(mask, l);
    }
  }
  sync_warp(ALL);
  p.out[block() * threads() + thread()] = x + 100000 * reduce_max(ALL, l);
}

struct BarrierParams { const u32* in; u32* out; u32 rounds; };
WEFT_KERNEL(barriers, BarrierParams) {
  u32* s = (u32*)shared();
  u32 t = thread(), n = threads(), x = 0;
  // The last warp has nothing to do, and says so by leaving.
  if (t >= n - 32) return;
  n -= 32;
  for (u32 r = 0; r < p.rounds; r++) {
    u32 v = p.in[(block() * p.rounds + r) * n + t];
    s[t] = v;
    sync_block();
    x = x * 31 + s[n - 1 - t] + s[(t + 1) % n];
    x = x * 31 + sync_block_or(v % 97 == 0);
    x = x * 31 + sync_block_count(v & 1);
  }
  p.out[block() * n + t] = x;
}

struct Bits { u64 mulhi, square_hi, square_lo, quotient; u32 popc, popc_wide, clz, clz_wide, ctz, ctz_wide, ffs, ffs_wide; };
struct BitsParams { const Ask* in; Bits* out; u32 n; };
WEFT_KERNEL(bits, BitsParams) {
  for (u32 i = block() * threads() + thread(); i < p.n; i += threads() * blocks()) {
    u32 x = p.in[i].x;
    u64 w = p.in[i].wide;
    u128 q = (u128)w * w + x;
    Bits b;
    b.mulhi = mulhi(w, ~w);
    b.square_hi = (u64)(q >> 64);
    b.square_lo = (u64)q;
    b.quotient = (u64)(q / ((u128)x + 3));
    b.popc = popc(x), b.popc_wide = popc(w);
    b.clz = clz(x), b.clz_wide = clz(w);
    b.ctz = x ? ctz(x) : 99, b.ctz_wide = w ? ctz(w) : 99;
    b.ffs = x ? ffs(x) : 99, b.ffs_wide = w ? ffs(w) : 99;
    p.out[i] = b;
  }
}

// Every thread changes the same cells; the last block adds up those in shared memory.
struct AtomicParams { u32* narrow; u64* wide; u32* seen; u32 rounds; };
WEFT_KERNEL(atomics, AtomicParams) {
  u32 i = block() * threads() + thread(), n = blocks() * threads();
  u64* s = (u64*)shared();
  if (thread() == 0) s[0] = s[1] = 0;
  sync_block();
  for (u32 r = 0; r < p.rounds; r++) {
    u32 x = r * n + i + 1;
    u64 y = (u64)x << 20;
    p.seen[atomic_add(p.narrow + 0, 1u)] += 1;
    atomic_sub(p.narrow + 1, x);
    atomic_min(p.narrow + 2, x);
    atomic_max(p.narrow + 3, x);
    atomic_or(p.narrow + 4, x & 0xff0u);
    atomic_and(p.narrow + 5, ~(x & 0xff0u));
    atomic_add(p.narrow + 7, atomic_exch(p.narrow + 6, x));
    for (u32 old = load_relaxed(p.narrow + 8);;) {
      u32 now = atomic_cas(p.narrow + 8, old, old + 2);
      if (now == old) break;
      old = now;
    }
    atomic_add(p.wide + 0, y);
    atomic_sub(p.wide + 1, y);
    atomic_min(p.wide + 2, y);
    atomic_max(p.wide + 3, y);
    atomic_or(p.wide + 4, y);
    atomic_and(p.wide + 5, ~y);
    atomic_add(p.wide + 7, atomic_exch(p.wide + 6, y));
    for (u64 old = load_relaxed(p.wide + 8);;) {
      u64 now = atomic_cas(p.wide + 8, old, old + (1ull << 33));
      if (now == old) break;
      old = now;
    }
    atomic_add(s, y);
    atomic_add((u32*)(s + 1), 1u);
  }
  sync_block();
  if (thread() == 0) {
    atomic_add(p.wide + 9, s[0]);
    atomic_add(p.wide + 10, s[1]);
  }
}

// The same on memory that the host sees.
struct SystemParams { u32* narrow; u64* wide; };
WEFT_KERNEL(systems, SystemParams) {
  u32 x = block() * threads() + thread() + 1;
  u64 y = (u64)x << 32;
  atomic_add_system(p.narrow + 0, x), atomic_add_system(p.wide + 0, y);
  atomic_sub_system(p.narrow + 1, x), atomic_sub_system(p.wide + 1, y);
  atomic_min_system(p.narrow + 2, x), atomic_min_system(p.wide + 2, y);
  atomic_max_system(p.narrow + 3, x), atomic_max_system(p.wide + 3, y);
  atomic_or_system(p.narrow + 4, x), atomic_or_system(p.wide + 4, y);
  atomic_and_system(p.narrow + 5, ~x), atomic_and_system(p.wide + 5, ~y);
  atomic_add_system(p.narrow + 7, atomic_exch_system(p.narrow + 6, x));
  atomic_add_system(p.wide + 7, atomic_exch_system(p.wide + 6, y));
  atomic_cas_system(p.narrow + 8, x - 1, x), atomic_cas_system(p.wide + 8, (u64)x - 1, (u64)x);
  fence_system();
}

// A value goes round all blocks, each of which waits for the one before it.
struct RingParams { u64* data; u32* flag; u64* sum; };
WEFT_KERNEL(passing, RingParams) {
  u32 b = block();
  if (b > 0) {
    if (lane() == 0)
      while (load_acquire(p.flag + b) == 0) spin();
    sync_warp(ALL);
  }
  u64 x = b ? p.data[(b - 1) * 32 + lane()] : lane();
  p.data[b * 32 + lane()] = x * 3 + 1;
  sync_warp(ALL);
  if (lane() == 0) {
    if (b & 1) {
      store_release(p.flag + b + 1, 1u);
    } else {
      fence();
      store_relaxed(p.flag + b + 1, 1u);
    }
  }
  if (b + 1 == blocks()) atomic_add(p.sum, p.data[b * 32 + lane()]);
}

// Tasks by ticket, with a lock around a count that is not atomic.
struct TaskParams { u64* next; u32* lock; u64* guarded; u64* done; u64 tasks; };
WEFT_KERNEL(tasks, TaskParams) {
  u64 mine = 0;
  for (;;) {
    u64 t = 0;
    if (lane() == 0) t = atomic_add(p.next, 1ull);
    t = shfl(ALL, t, 0);
    if (t >= p.tasks) break;
    mine += t * (lane() + 1);
    if (lane() == 0) {
      while (atomic_cas(p.lock, 0u, 1u) != 0) spin();
      fence();
      *(volatile u64*)p.guarded = *(volatile u64*)p.guarded + t;
      fence();
      atomic_exch(p.lock, 0u);
    }
    sync_warp(ALL);
  }
  atomic_add(p.done, mine);
}

// Runs until the host says stop, and says how far it has come.
struct HostParams { u32* stop; u64* progress; };
WEFT_KERNEL(until_stopped, HostParams) {
  while (load_relaxed_system(p.stop) == 0) {
    if (lane() == 0) atomic_add_system(p.progress, 1ull);
    spin();
  }
}

// The host asks by a number, the device answers with its square.
struct TalkParams { u64* ask; u64* tell; u32 rounds; };
WEFT_KERNEL(talk, TalkParams) {
  if (thread() != 0 || block() != 0) return;
  for (u32 r = 1; r <= p.rounds; r++) {
    u64 x;
    while ((x = load_acquire_system(p.ask)) < r) spin();
    store_release_system(p.tell, x * x);
  }
}

struct LoadParams { const u32* in; u32* out; u32 n; };
WEFT_KERNEL(loads, LoadParams) {
  u32 i = block() * threads() + thread();
  if (i >= p.n / 4) return;
  prefetch_l2(p.in + 4 * i);
  u32x4 q = ldg((const u32x4*)p.in + i);
  u64 w = ldg((const u64*)p.in + i);
  u32 x = ldg(p.in + i);
  p.out[i] = q.x + 3 * q.y + 5 * q.z + 7 * q.w + 11 * (u32)w + 13 * (u32)(w >> 32) + 17 * x;
}

// Two stages in shared memory: one is copied into while the other is added up.
struct CopyParams { const u32* in; u64* out; u32 tiles; };
WEFT_KERNEL(copies, CopyParams) {
  u32 t = thread(), n = threads();
  u8* s = shared();
  u32 stage = n * 28;  // 16, 8 and 4 bytes a thread
  auto fetch = [&](u32 tile, u8* to) {
    const u8* from = (const u8*)p.in + (u64)tile * stage;
    copy_async16(to + 16 * t, from + 16 * t);
    copy_async8(to + 16 * n + 8 * t, from + 16 * n + 8 * t);
    copy_async4(to + 24 * n + 4 * t, from + 24 * n + 4 * t);
    copy_commit();
  };
  u64 sum = 0;
  fetch(0, s);
  for (u32 tile = 0; tile < p.tiles; tile++) {
    if (tile + 1 < p.tiles) {
      fetch(tile + 1, s + (tile + 1) % 2 * stage);
      copy_wait<1>();
    } else {
      copy_wait<0>();
    }
    sync_block();
    const u32* now = (const u32*)(s + tile % 2 * stage);
    for (u32 k = 0; k < 7; k++) sum = sum * 31 + now[(t * 7 + k * 13) % (n * 7)];
    sync_block();
  }
  p.out[t] = sum;
}

struct TimeParams { u64* out; };
WEFT_KERNEL(times, TimeParams) {
  u64 a = nanotime(), c = clock64_();
  for (u32 i = 0; i < 1000 || nanotime() == a; i++) spin();
  p.out[0] = nanotime() - a;
  p.out[1] = clock64_() - c;
}

struct FloatParams { const f64* in; f64* out; f32* narrow; u32 n; };
WEFT_KERNEL(floats, FloatParams) {
  u32 i = block() * threads() + thread();
  if (i >= p.n) return;
  f64 x = p.in[i];
  p.out[i] = (x - 1) / 3 + (f64)(u64)x;
  p.narrow[i] = (f32)x / 3;
}

struct BoundedParams { u32* out; };
WEFT_KERNEL(bounded, BoundedParams, LAUNCH_BOUNDS(128, 2)) {
  if (likely(thread() == 0)) p.out[block()] = threads();
  if (unlikely(threads() > 128)) p.out[block()] = 0;
}
