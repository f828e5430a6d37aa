// The parts of the machine that a kernel may use.
//
// Kernels include no toolkit header; they include this file, which has three implementations of
// the same names:
//
//   base/device_cuda.cuh   NVRTC and nvcc: the device itself
//   base/device_clang.cuh  clang -x cuda without a toolkit: the compile check; it
//                     supplies the compiler's names that base/device_cuda.cuh uses
//   base/device_emu.cuh    a C++ compiler of the host: the emulated device
//
// Rules, which the emulated device checks as far as it can:
//
//   - A kernel is WEFT_KERNEL(name, Params) { … } or WEFT_KERNEL(name, Params,
//     LAUNCH_BOUNDS(threads, blocks)) { … }. Its one argument is called p, a plain struct
//     passed by value; fields of 8 bytes come first, so that Go and C++ agree on the layout.
//   - No __shared__ or __constant__ variables: shared memory is shared(), of shared_bytes()
//     bytes, and is not cleared. No other static storage either.
//   - No lane may assume that others of its warp advance with it. A collective names its lanes
//     in a mask, and every lane in the mask calls it with that mask. Lanes that have returned
//     cannot take part.
//   - Every loop that waits for another lane, warp, block or the host calls spin(). Blocks that
//     are not yet resident do not run: never wait for them.
//   - sync_block() and its relatives are called by all threads of the block that have not
//     returned.
//   - Memory that two lanes touch, one of them writing, without a collective, barrier or kernel
//     boundary in between is read and written with the atomic_, load_ and store_ functions.
//     Where a lock or a flag made of those orders the accesses of different warps, they are
//     load_held and store_held.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
// NVRTC needs the option -device-int128.
typedef unsigned __int128 u128;

struct alignas(16) u32x4 { u32 x, y, z, w; };

static_assert(sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(void*) == 8, "64-bit machines only");

// The mask of a whole warp.
#define ALL 0xffffffffu

#if defined(__clang__) && defined(__CUDA__)
#include "base/device_clang.cuh"
#include "base/device_cuda.cuh"
#elif defined(__CUDACC__)
#include "base/device_cuda.cuh"
#else
#include "base/device_emu.cuh"
#endif

// Names that every implementation gives. T is u32, u64, i32, i64, f32, f64 or a
// pointer; A is u32 or u64.
//
// Where a lane is:
//   u32 thread(), threads()      in its block, and the block's threads
//   u32 block(), blocks()        in the grid, and the grid's blocks
//   u32 lane(), warp(), warps()  in its warp; the warp in the block; warps of the block
//   u8* shared(), u32 shared_bytes()   dynamic shared memory, 16-byte aligned
//
// Warp collectives; mask has the lanes that take part, the caller among them:
//   u32  ballot(mask, p)         bit i: p of lane i
//   bool any(mask, p), all(mask, p)
//   u32  active()                lanes that happen to run together: a hint, never a mask to rely on
//   T shfl(mask, x, src, width = 32)        x of lane src of the caller's segment of width lanes (a power of 2)
//   T shfl_up(mask, x, d, width = 32)       x of the lane d below; the caller's own where that leaves the segment
//   T shfl_down(…), T shfl_xor(mask, x, bits, width = 32)
//                                a shuffle's source must be in the mask
//   A   reduce_add(mask, x)      u32 reduce_min, reduce_max, reduce_or, reduce_and
//   u32 match_any(mask, A x)     lanes of the mask with the same x
//   void sync_warp(mask)         orders memory among the lanes of the mask; votes, shuffles and reductions do not
//
// Block barriers:
//   void sync_block(); bool sync_block_or(p); u32 sync_block_count(p)
//
// Arithmetic:
//   u32 popc(A), clz(A)          clz(0) is the width
//   u32 ctz(A), ffs(A)           the lowest set bit, from 0; x is not 0
//   u64 mulhi(u64, u64)          the upper half of the product
//
// Memory; atomics are relaxed and at device scope, and give the old value:
//   A atomic_add, atomic_sub, atomic_min, atomic_max, atomic_or, atomic_and, atomic_exch (A*, A)
//   A atomic_cas(A*, A compare, A x)
//   … the same with _system: the host sees and makes such changes too
//   void fence_block(), fence(), fence_system()
//   A load_relaxed(const A*), load_acquire; void store_relaxed(A*, A), store_release; and _system
//   A load_held(const A*); void store_held(A*, A)   memory that a lock or a flag of the kernel's own gives to one
//                                warp after the other: plain accesses
//   T ldg(const T*)              the read-only path, for 4, 8 and 16 (u32x4) bytes that no one writes during the launch
//   void prefetch_l2(const void*)
//   void copy_async4, copy_async8, copy_async16 (void* shared, const void* global)  aligned to their size
//   void copy_commit(); void copy_wait<N>()   all but the last N committed copies of this lane have arrived
//
// The rest:
//   void spin()                  once a turn of a waiting loop
//   u64 clock64_(), nanotime()   the SM's cycles; nanoseconds, coarse
//   likely(x), unlikely(x)
//   W_ASSERT(condition)          with -DWEFT_DEBUG: a false condition ends the launch; emulated, with file and line

// A checker sees warps being ordered by barriers alone: compute-sanitizer's
// racecheck, for which WEFT_RACECHECK is defined, knows no locks and no flags. It
// leaves atomic operations alone, so that every other access to shared memory is
// really checked.
#if defined(WEFT_RACECHECK) || !defined(__CUDACC__) && !defined(__CUDA__)
DEV u32 load_held(const u32* p) { return load_relaxed(p); }
DEV u64 load_held(const u64* p) { return load_relaxed(p); }
DEV void store_held(u32* p, u32 x) { store_relaxed(p, x); }
DEV void store_held(u64* p, u64 x) { store_relaxed(p, x); }
#else
DEV u32 load_held(const u32* p) { return *p; }
DEV u64 load_held(const u64* p) { return *p; }
DEV void store_held(u32* p, u32 x) { *p = x; }
DEV void store_held(u64* p, u64 x) { *p = x; }
#endif

// ffs is ctz under the name that the field uses, counted from 0.
DEV u32 ffs(u32 x) { return ctz(x); }
DEV u32 ffs(u64 x) { return ctz(x); }

// Both sides have one type. A compiler's own min and max, where it has them, are
// preferred and mean the same.
template <class T> DEV T min(T a, T b) { return b < a ? b : a; }
template <class T> DEV T max(T a, T b) { return a < b ? b : a; }
