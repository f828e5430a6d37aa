// The names of base/device.cuh on a CUDA device. It is compiled by NVRTC, by nvcc and,
// with base/device_clang.cuh before it, by clang without a toolkit. Where a compiler
// has no builtin that works in all three, it is PTX.
#pragma once

#ifndef __CUDA_ARCH__
#define WEFT_ARCH 0  // a host pass of nvcc: only syntax matters
#else
#define WEFT_ARCH __CUDA_ARCH__
#endif

#define DEV __device__ __forceinline__
#define DEV_NOINLINE __device__ __noinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1") // a loop that is not worth the code of its turns
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define WEFT_KERNEL(name, Params, ...) extern "C" __global__ void __VA_ARGS__ name(const WEFT_GRID_CONSTANT Params p)

#if defined(__clang__)
#define WEFT_GRID_CONSTANT
#else
#define WEFT_GRID_CONSTANT __grid_constant__
#endif

extern __shared__ u32x4 weft_shared_memory[];

DEV u32 thread() { return threadIdx.x; }
DEV u32 threads() { return blockDim.x; }
DEV u32 block() { return blockIdx.x; }
DEV u32 blocks() { return gridDim.x; }
DEV u32 lane() { return threadIdx.x & 31; }
DEV u32 warp() { return threadIdx.x >> 5; }
DEV u32 warps() { return (blockDim.x + 31) >> 5; }
DEV u8* shared() { return (u8*)weft_shared_memory; }
DEV u32 shared_bytes() {
  u32 n;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n));
  return n;
}

DEV u32 ballot(u32 mask, bool p) { return __ballot_sync(mask, p); }
DEV bool any(u32 mask, bool p) { return __any_sync(mask, p); }
DEV bool all(u32 mask, bool p) { return __all_sync(mask, p); }
DEV u32 active() { return __activemask(); }
DEV void sync_warp(u32 mask) { __syncwarp(mask); }

DEV u32 popc(u32 x) { return (u32)__popc(x); }
DEV u32 popc(u64 x) { return (u32)__popcll(x); }
DEV u32 clz(u32 x) { return (u32)__clz((int)x); }
DEV u32 clz(u64 x) { return (u32)__clzll((i64)x); }
DEV u32 ctz(u32 x) { return (u32)__clz((int)__brev(x)); }
DEV u32 ctz(u64 x) { return (u32)__clzll((i64)__brevll(x)); }
DEV u64 mulhi(u64 a, u64 b) { return __umul64hi(a, b); }

// A shuffle of a type is one or two shuffles of 32 bits.
#define WEFT_SHUFFLE(name, intrinsic)                                                        \
  DEV u32 name(u32 mask, u32 x, u32 by, u32 width = 32) {                                    \
    return (u32)intrinsic(mask, (int)x, (int)by, (int)width);                                \
  }                                                                                          \
  DEV i32 name(u32 mask, i32 x, u32 by, u32 width = 32) {                                    \
    return intrinsic(mask, x, (int)by, (int)width);                                          \
  }                                                                                          \
  DEV u64 name(u32 mask, u64 x, u32 by, u32 width = 32) {                                    \
    u32 lo = name(mask, (u32)x, by, width), hi = name(mask, (u32)(x >> 32), by, width);      \
    return (u64)hi << 32 | lo;                                                               \
  }                                                                                          \
  DEV i64 name(u32 mask, i64 x, u32 by, u32 width = 32) {                                    \
    return (i64)name(mask, (u64)x, by, width);                                               \
  }                                                                                          \
  DEV f32 name(u32 mask, f32 x, u32 by, u32 width = 32) {                                    \
    return __uint_as_float(name(mask, __float_as_uint(x), by, width));                       \
  }                                                                                          \
  DEV f64 name(u32 mask, f64 x, u32 by, u32 width = 32) {                                    \
    return __longlong_as_double(name(mask, __double_as_longlong(x), by, width));             \
  }                                                                                          \
  template <class T> DEV T* name(u32 mask, T* x, u32 by, u32 width = 32) {                   \
    return (T*)name(mask, (u64)x, by, width);                                                \
  }
WEFT_SHUFFLE(shfl, __shfl_sync)
WEFT_SHUFFLE(shfl_up, __shfl_up_sync)
WEFT_SHUFFLE(shfl_down, __shfl_down_sync)
WEFT_SHUFFLE(shfl_xor, __shfl_xor_sync)
#undef WEFT_SHUFFLE

#if WEFT_ARCH >= 800 || WEFT_ARCH == 0
DEV u32 reduce_add(u32 mask, u32 x) { return __reduce_add_sync(mask, x); }
DEV u32 reduce_min(u32 mask, u32 x) { return __reduce_min_sync(mask, x); }
DEV u32 reduce_max(u32 mask, u32 x) { return __reduce_max_sync(mask, x); }
DEV u32 reduce_or(u32 mask, u32 x) { return __reduce_or_sync(mask, x); }
DEV u32 reduce_and(u32 mask, u32 x) { return __reduce_and_sync(mask, x); }
// 32 numbers of 26 bits add up to less than 32 bits.
DEV u64 reduce_add(u32 mask, u64 x) {
  const u32 low = (1u << 26) - 1;
  u64 a = __reduce_add_sync(mask, (u32)x & low);
  u64 b = __reduce_add_sync(mask, (u32)(x >> 26) & low);
  u64 c = __reduce_add_sync(mask, (u32)(x >> 52));
  return a + (b << 26) + (c << 52);
}
#else
// Before sm_80 there are no reductions, so the loop reads every lane of the mask in turn.
template <class T, class F> DEV T weft_reduce(u32 mask, T x, F f) {
  T r = shfl(mask, x, ctz(mask));
  for (u32 rest = mask & (mask - 1); rest; rest &= rest - 1) r = f(r, shfl(mask, x, ctz(rest)));
  return r;
}
struct weft_add { template <class T> DEV T operator()(T a, T b) const { return a + b; } };
struct weft_min { DEV u32 operator()(u32 a, u32 b) const { return a < b ? a : b; } };
struct weft_max { DEV u32 operator()(u32 a, u32 b) const { return a < b ? b : a; } };
struct weft_or { DEV u32 operator()(u32 a, u32 b) const { return a | b; } };
struct weft_and { DEV u32 operator()(u32 a, u32 b) const { return a & b; } };
DEV u32 reduce_add(u32 mask, u32 x) { return weft_reduce(mask, x, weft_add()); }
DEV u64 reduce_add(u32 mask, u64 x) { return weft_reduce(mask, x, weft_add()); }
DEV u32 reduce_min(u32 mask, u32 x) { return weft_reduce(mask, x, weft_min()); }
DEV u32 reduce_max(u32 mask, u32 x) { return weft_reduce(mask, x, weft_max()); }
DEV u32 reduce_or(u32 mask, u32 x) { return weft_reduce(mask, x, weft_or()); }
DEV u32 reduce_and(u32 mask, u32 x) { return weft_reduce(mask, x, weft_and()); }
#endif

DEV u32 match_any(u32 mask, u32 x) { return __match_any_sync(mask, x); }
DEV u32 match_any(u32 mask, u64 x) { return __match_any_sync(mask, x); }

DEV void sync_block() { __syncthreads(); }
DEV bool sync_block_or(bool p) { return __syncthreads_or(p) != 0; }
DEV u32 sync_block_count(bool p) { return (u32)__syncthreads_count(p); }

#define WEFT_ATOMIC(name, intrinsic)                                                     \
  DEV u32 name(u32* p, u32 x) { return intrinsic(p, x); }                                \
  DEV u64 name(u64* p, u64 x) { return intrinsic(p, x); }                                \
  DEV u32 name##_system(u32* p, u32 x) { return intrinsic##_system(p, x); }              \
  DEV u64 name##_system(u64* p, u64 x) { return intrinsic##_system(p, x); }
WEFT_ATOMIC(atomic_add, atomicAdd)
WEFT_ATOMIC(atomic_min, atomicMin)
WEFT_ATOMIC(atomic_max, atomicMax)
WEFT_ATOMIC(atomic_or, atomicOr)
WEFT_ATOMIC(atomic_and, atomicAnd)
WEFT_ATOMIC(atomic_exch, atomicExch)
#undef WEFT_ATOMIC
DEV u32 atomic_sub(u32* p, u32 x) { return atomicAdd(p, 0u - x); }
DEV u64 atomic_sub(u64* p, u64 x) { return atomicAdd(p, 0ull - x); }
DEV u32 atomic_sub_system(u32* p, u32 x) { return atomicAdd_system(p, 0u - x); }
DEV u64 atomic_sub_system(u64* p, u64 x) { return atomicAdd_system(p, 0ull - x); }
DEV u32 atomic_cas(u32* p, u32 compare, u32 x) { return atomicCAS(p, compare, x); }
DEV u64 atomic_cas(u64* p, u64 compare, u64 x) { return atomicCAS(p, compare, x); }
DEV u32 atomic_cas_system(u32* p, u32 compare, u32 x) { return atomicCAS_system(p, compare, x); }
DEV u64 atomic_cas_system(u64* p, u64 compare, u64 x) { return atomicCAS_system(p, compare, x); }

DEV void fence_block() { __threadfence_block(); }
DEV void fence() { __threadfence(); }
DEV void fence_system() { __threadfence_system(); }

// Loads and stores with a scope; generic addresses, so shared memory works too.
// For racecheck they are atomic operations there (see base/device.cuh).
#ifdef WEFT_RACECHECK
DEV bool weft_in_shared(const void* p) {
  u32 yes;
  asm("{\n\t.reg .pred q;\n\tisspacep.shared q, %1;\n\tselp.u32 %0, 1, 0, q;\n\t}" : "=r"(yes) : "l"(p));
  return yes != 0;
}
#define WEFT_LOAD_SHARED(T, p) \
  if (weft_in_shared(p)) return atomicOr((T*)p, (T)0)
#define WEFT_STORE_SHARED(p, x) \
  if (weft_in_shared(p)) return (void)atomicExch(p, x)
#else
#define WEFT_LOAD_SHARED(T, p)
#define WEFT_STORE_SHARED(p, x)
#endif
#define WEFT_ORDERED_OF(T, kind, reg, suffix, scope)                                                  \
  DEV T load_relaxed##suffix(const T* p) {                                                            \
    WEFT_LOAD_SHARED(T, p);                                                                           \
    T x;                                                                                              \
    asm volatile("ld.relaxed." scope "." kind " %0, [%1];" : "=" reg(x) : "l"(p) : "memory");         \
    return x;                                                                                         \
  }                                                                                                   \
  DEV T load_acquire##suffix(const T* p) {                                                            \
    WEFT_LOAD_SHARED(T, p);                                                                           \
    T x;                                                                                              \
    asm volatile("ld.acquire." scope "." kind " %0, [%1];" : "=" reg(x) : "l"(p) : "memory");         \
    return x;                                                                                         \
  }                                                                                                   \
  DEV void store_relaxed##suffix(T* p, T x) {                                                         \
    WEFT_STORE_SHARED(p, x);                                                                          \
    asm volatile("st.relaxed." scope "." kind " [%0], %1;" ::"l"(p), reg(x) : "memory");              \
  }                                                                                                   \
  DEV void store_release##suffix(T* p, T x) {                                                         \
    WEFT_STORE_SHARED(p, x);                                                                          \
    asm volatile("st.release." scope "." kind " [%0], %1;" ::"l"(p), reg(x) : "memory");              \
  }
#define WEFT_ORDERED(suffix, scope)               \
  WEFT_ORDERED_OF(u32, "u32", "r", suffix, scope) \
  WEFT_ORDERED_OF(u64, "u64", "l", suffix, scope)
WEFT_ORDERED(, "gpu")
WEFT_ORDERED(_system, "sys")
#undef WEFT_ORDERED
#undef WEFT_ORDERED_OF
#undef WEFT_LOAD_SHARED
#undef WEFT_STORE_SHARED

// The read-only path. No "memory" clobber and not volatile: equal loads may be
// merged, which is right because no one writes there during the launch.
template <int bytes> struct weft_ldg;
template <> struct weft_ldg<4> {
  template <class T> static DEV T get(const T* p) {
    union {
      u32 x;
      T out;
    };
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(p));
    return out;
  }
};
template <> struct weft_ldg<8> {
  template <class T> static DEV T get(const T* p) {
    union {
      u64 x;
      T out;
    };
    asm("ld.global.nc.u64 %0, [%1];" : "=l"(x) : "l"(p));
    return out;
  }
};
template <> struct weft_ldg<16> {
  static DEV u32x4 get(const u32x4* p) {
    u32x4 v;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
  }
};
template <class T> DEV T ldg(const T* p) { return weft_ldg<sizeof(T)>::get(p); }
DEV void prefetch_l2(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

#if WEFT_ARCH >= 800 || WEFT_ARCH == 0
DEV u32 weft_shared_address(const void* p) {
  u64 a;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
  return (u32)a;
}
DEV void copy_async4(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(weft_shared_address(to)), "l"(from) : "memory");
}
DEV void copy_async8(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(weft_shared_address(to)), "l"(from) : "memory");
}
DEV void copy_async16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(weft_shared_address(to)), "l"(from) : "memory");
}
DEV void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> DEV void copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
#else
// Before sm_80 a copy is a load and a store.
DEV void copy_async4(void* to, const void* from) { *(u32*)to = *(const u32*)from; }
DEV void copy_async8(void* to, const void* from) { *(u64*)to = *(const u64*)from; }
DEV void copy_async16(void* to, const void* from) { *(u32x4*)to = *(const u32x4*)from; }
DEV void copy_commit() {}
template <int N> DEV void copy_wait() {}
#endif

DEV void spin() { asm volatile("nanosleep.u32 %0;" ::"r"(100u) : "memory"); }
DEV u64 clock64_() {
  u64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
DEV u64 nanotime() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

// A failed assertion is a trap, and the error says no more than that the launch
// died of one: compute-sanitizer finds the line, which debug images have.
#ifdef WEFT_DEBUG
#define W_ASSERT(condition) ((condition) ? (void)0 : __trap())
#else
#define W_ASSERT(condition) ((void)0)
#endif
