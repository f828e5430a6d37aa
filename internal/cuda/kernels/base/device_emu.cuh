// The names of base/device.cuh on the emulated device: C++ of the host over the run-time system
// of package emu. Behaviour that a device leaves undefined is an error here if it can be
// detected: a mask without the caller, a shuffle from a lane outside the mask, an address that
// is not aligned.
#pragma once

#include "base/emu_abi.cuh"

#define DEV inline
#define DEV_NOINLINE __attribute__((noinline)) inline
#define UNROLL
#define ROLLED
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

// A kernel is three symbols: its body behind an untyped entry, and the size of
// its argument with its launch bounds.
#define LAUNCH_BOUNDS(threads, blocks) (threads), (blocks)
#define WEFT_EXPORT __attribute__((visibility("default")))
#define WEFT_KERNEL(name, Params, ...)                                                       \
  static void weft_body_##name(const Params p);                                              \
  extern "C" {                                                                               \
  WEFT_EXPORT void weft_run_##name(const void* p) { weft_body_##name(*(const Params*)p); }   \
  extern WEFT_EXPORT const u32 weft_info_##name[3];                                          \
  const u32 weft_info_##name[3] = {(u32)sizeof(Params), ##__VA_ARGS__};                      \
  }                                                                                          \
  static void weft_body_##name(const Params p)

// Where a collective was called, for messages.
#define WEFT_AT const char *file = __builtin_FILE(), u32 line = __builtin_LINE()

DEV u32 lane() { return emu_lane(); }
DEV u32 thread() { return emu_warp()->first + emu_lane(); }
DEV u32 threads() { return emu_warp()->threads; }
DEV u32 block() { return emu_warp()->block; }
DEV u32 blocks() { return emu_warp()->blocks; }
DEV u32 warp() { return emu_warp()->first >> 5; }
DEV u32 warps() { return (emu_warp()->threads + 31) >> 5; }
DEV u8* shared() { return emu_warp()->shared; }
DEV u32 shared_bytes() { return emu_warp()->shared_bytes; }

DEV u64 weft_collective(u32 kind, u32 mask, u64 x, u32 by, const char* file, u32 line) {
  return emu_warp()->runtime->collective(kind, mask, x, by, file, line);
}
DEV u32 ballot(u32 mask, bool p, WEFT_AT) { return (u32)weft_collective(EMU_BALLOT, mask, p, 0, file, line); }
DEV bool any(u32 mask, bool p, WEFT_AT) { return weft_collective(EMU_ANY, mask, p, 0, file, line) != 0; }
DEV bool all(u32 mask, bool p, WEFT_AT) { return weft_collective(EMU_ALL, mask, p, 0, file, line) != 0; }
DEV u32 active() { return emu_warp()->runtime->active(); }
DEV void sync_warp(u32 mask, WEFT_AT) { weft_collective(EMU_SYNC, mask, 0, 0, file, line); }

// Shuffles carry 8 bytes.
template <class T> DEV T weft_shuffle(u32 kind, u32 mask, T x, u32 by, u32 width, const char* file, u32 line) {
  if (unlikely(width == 0 || width > 32 || (width & (width - 1))))
    emu_warp()->runtime->fail("the width of a shuffle is not a power of 2 up to 32", file, line);
  u64 bits = 0;
  __builtin_memcpy(&bits, &x, sizeof(T));
  bits = weft_collective(kind, mask, bits, (by & 0xffff) | width << 16, file, line);
  __builtin_memcpy(&x, &bits, sizeof(T));
  return x;
}
#define WEFT_SHUFFLE_OF(name, kind, T)                               \
  DEV T name(u32 mask, T x, u32 by, u32 width = 32, WEFT_AT) {       \
    return weft_shuffle(kind, mask, x, by, width, file, line);       \
  }
#define WEFT_SHUFFLE(name, kind)                                                                      \
  WEFT_SHUFFLE_OF(name, kind, u32) WEFT_SHUFFLE_OF(name, kind, i32) WEFT_SHUFFLE_OF(name, kind, u64)  \
  WEFT_SHUFFLE_OF(name, kind, i64) WEFT_SHUFFLE_OF(name, kind, f32) WEFT_SHUFFLE_OF(name, kind, f64)  \
  template <class T> WEFT_SHUFFLE_OF(name, kind, T*)
WEFT_SHUFFLE(shfl, EMU_SHFL)
WEFT_SHUFFLE(shfl_up, EMU_SHFL_UP)
WEFT_SHUFFLE(shfl_down, EMU_SHFL_DOWN)
WEFT_SHUFFLE(shfl_xor, EMU_SHFL_XOR)
#undef WEFT_SHUFFLE
#undef WEFT_SHUFFLE_OF

#define WEFT_REDUCE(name, kind, T) \
  DEV T name(u32 mask, T x, WEFT_AT) { return (T)weft_collective(kind, mask, x, 0, file, line); }
WEFT_REDUCE(reduce_add, EMU_ADD, u32)
WEFT_REDUCE(reduce_add, EMU_ADD, u64)
WEFT_REDUCE(reduce_min, EMU_MIN, u32)
WEFT_REDUCE(reduce_max, EMU_MAX, u32)
WEFT_REDUCE(reduce_or, EMU_OR, u32)
WEFT_REDUCE(reduce_and, EMU_AND, u32)
#undef WEFT_REDUCE
DEV u32 match_any(u32 mask, u32 x, WEFT_AT) { return (u32)weft_collective(EMU_MATCH, mask, x, 0, file, line); }
DEV u32 match_any(u32 mask, u64 x, WEFT_AT) { return (u32)weft_collective(EMU_MATCH, mask, x, 0, file, line); }

DEV void sync_block(WEFT_AT) { emu_warp()->runtime->barrier(EMU_BARRIER, false, file, line); }
DEV bool sync_block_or(bool p, WEFT_AT) { return emu_warp()->runtime->barrier(EMU_BARRIER_OR, p, file, line) != 0; }
DEV u32 sync_block_count(bool p, WEFT_AT) { return (u32)emu_warp()->runtime->barrier(EMU_BARRIER_COUNT, p, file, line); }

DEV u32 popc(u32 x) { return (u32)__builtin_popcount(x); }
DEV u32 popc(u64 x) { return (u32)__builtin_popcountll(x); }
DEV u32 clz(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
DEV u32 clz(u64 x) { return x ? (u32)__builtin_clzll(x) : 64; }
DEV u32 ctz(u32 x) { return (u32)__builtin_ctz(x); }
DEV u32 ctz(u64 x) { return (u32)__builtin_ctzll(x); }
DEV u64 mulhi(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }

// The thread sanitizer does not know fences. For it every atomic access orders the accesses
// around it, as the fences next to relaxed accesses do on a device.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_WATCHED
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(WEFT_WATCHED)
#define WEFT_UNWATCHED __attribute__((no_sanitize("thread")))
#define WEFT_LOAD __ATOMIC_ACQUIRE
#define WEFT_STORE __ATOMIC_RELEASE
#define WEFT_CHANGE __ATOMIC_ACQ_REL
#else
#define WEFT_UNWATCHED
#define WEFT_LOAD __ATOMIC_RELAXED
#define WEFT_STORE __ATOMIC_RELAXED
#define WEFT_CHANGE __ATOMIC_RELAXED
#endif

// An access that a device refuses when its address is not a multiple of its size.
template <class T> DEV void weft_aligned(const T* p, u64 bytes) {
  if (unlikely((u64)p & (bytes - 1))) emu_warp()->runtime->fail("an address is not aligned to the size of the access", 0, 0);
}
// After an atomic operation; other lanes may run here. The warp's record is the
// business of its lanes in turn, which the thread sanitizer cannot know.
WEFT_UNWATCHED DEV void weft_changed(bool changed) {
  EmuWarp* w = emu_warp();
  w->changes += changed;
  if (unlikely(--w->credit == 0)) w->runtime->give_way();
}

template <class T, class F> DEV T weft_update(T* p, F f) {
  weft_aligned(p, sizeof(T));
  T old = __atomic_load_n(p, __ATOMIC_RELAXED), x;
  do x = f(old);
  while (x != old && !__atomic_compare_exchange_n(p, &old, x, true, WEFT_CHANGE, WEFT_LOAD));
  weft_changed(x != old);
  return old;
}
template <class T> DEV T weft_add(T* p, T x) {
  weft_aligned(p, sizeof(T));
  T old = __atomic_fetch_add(p, x, WEFT_CHANGE);
  weft_changed(x != 0);
  return old;
}
template <class T> DEV T weft_exch(T* p, T x) {
  weft_aligned(p, sizeof(T));
  T old = __atomic_exchange_n(p, x, WEFT_CHANGE);
  weft_changed(x != old);
  return old;
}
template <class T> DEV T weft_cas(T* p, T compare, T x) {
  weft_aligned(p, sizeof(T));
  bool done = __atomic_compare_exchange_n(p, &compare, x, false, WEFT_CHANGE, WEFT_LOAD);
  weft_changed(done);
  return compare;
}
#define WEFT_ATOMIC(name, T, expression)           \
  DEV T name(T* p, T x) { return expression; }     \
  DEV T name##_system(T* p, T x) { return name(p, x); }
#define WEFT_ATOMICS(T)                                                                         \
  WEFT_ATOMIC(atomic_add, T, weft_add(p, x))                                                    \
  WEFT_ATOMIC(atomic_sub, T, weft_add(p, (T)(0 - x)))                                           \
  WEFT_ATOMIC(atomic_exch, T, weft_exch(p, x))                                                  \
  WEFT_ATOMIC(atomic_min, T, weft_update(p, [x](T old) { return x < old ? x : old; }))          \
  WEFT_ATOMIC(atomic_max, T, weft_update(p, [x](T old) { return x < old ? old : x; }))          \
  WEFT_ATOMIC(atomic_or, T, weft_update(p, [x](T old) { return old | x; }))                     \
  WEFT_ATOMIC(atomic_and, T, weft_update(p, [x](T old) { return old & x; }))                    \
  DEV T atomic_cas(T* p, T compare, T x) { return weft_cas(p, compare, x); }                    \
  DEV T atomic_cas_system(T* p, T compare, T x) { return weft_cas(p, compare, x); }
WEFT_ATOMICS(u32)
WEFT_ATOMICS(u64)
#undef WEFT_ATOMICS
#undef WEFT_ATOMIC

// The lanes of a block share a thread of the host: order within the block is
// the compiler's matter.
DEV void fence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
DEV void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
DEV void fence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class T> DEV T weft_load(const T* p, int order) {
  weft_aligned(p, sizeof(T));
  return order == __ATOMIC_ACQUIRE ? __atomic_load_n(p, __ATOMIC_ACQUIRE) : __atomic_load_n(p, WEFT_LOAD);
}
template <class T> DEV void weft_store(T* p, T x, int order) {
  weft_aligned(p, sizeof(T));
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  if (order == __ATOMIC_RELEASE) __atomic_store_n(p, x, __ATOMIC_RELEASE);
  else __atomic_store_n(p, x, WEFT_STORE);
  weft_changed(old != x);
}
#define WEFT_ORDERED(suffix, T)                                                              \
  DEV T load_relaxed##suffix(const T* p) { return weft_load(p, __ATOMIC_RELAXED); }          \
  DEV T load_acquire##suffix(const T* p) { return weft_load(p, __ATOMIC_ACQUIRE); }          \
  DEV void store_relaxed##suffix(T* p, T x) { weft_store(p, x, __ATOMIC_RELAXED); }          \
  DEV void store_release##suffix(T* p, T x) { weft_store(p, x, __ATOMIC_RELEASE); }
WEFT_ORDERED(, u32) WEFT_ORDERED(, u64) WEFT_ORDERED(_system, u32) WEFT_ORDERED(_system, u64)
#undef WEFT_ORDERED

template <class T> DEV T ldg(const T* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "ldg reads 4, 8 or 16 bytes");
  weft_aligned(p, sizeof(T));
  return *p;
}
DEV void prefetch_l2(const void* p) { __builtin_prefetch(p); }

DEV void weft_copy_async(void* to, const void* from, u32 bytes) {
  weft_aligned((const u8*)to, bytes);
  weft_aligned((const u8*)from, bytes);
  emu_warp()->runtime->copy_async(to, from, bytes);
}
DEV void copy_async4(void* to, const void* from) { weft_copy_async(to, from, 4); }
DEV void copy_async8(void* to, const void* from) { weft_copy_async(to, from, 8); }
DEV void copy_async16(void* to, const void* from) { weft_copy_async(to, from, 16); }
DEV void copy_commit() { emu_warp()->runtime->copy_commit(); }
template <int N> DEV void copy_wait() { emu_warp()->runtime->copy_wait(N); }

DEV void spin(WEFT_AT) { emu_warp()->runtime->spin(file, line); }
DEV u64 nanotime() { return emu_warp()->runtime->nanotime(); }
DEV u64 clock64_() { return nanotime(); }

#ifdef WEFT_DEBUG
#define W_ASSERT(condition) \
  ((condition) ? (void)0 : emu_warp()->runtime->fail("assertion failed: " #condition, __FILE__, __LINE__))
#else
#define W_ASSERT(condition) ((void)0)
#endif
