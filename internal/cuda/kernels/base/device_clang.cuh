// Declarations that NVRTC and nvcc have built in, and clang without a toolkit does not. Only
// those that base/device_cuda.cuh uses are here, over clang's builtins. It serves the compile
// check; the code is never run. Compile with
//
//   clang++ -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 -nocudainc -nocudalib
//           -fdeclspec -std=c++17 -O3 -Xclang -target-feature -Xclang +ptx78 -S
#pragma once

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define WEFT_CLANG static __device__ __forceinline__

// Special registers have the spelling of variables with members.
struct weft_tid { __declspec(property(get = get)) unsigned x; WEFT_CLANG unsigned get() { return __nvvm_read_ptx_sreg_tid_x(); } };
struct weft_ntid { __declspec(property(get = get)) unsigned x; WEFT_CLANG unsigned get() { return __nvvm_read_ptx_sreg_ntid_x(); } };
struct weft_ctaid { __declspec(property(get = get)) unsigned x; WEFT_CLANG unsigned get() { return __nvvm_read_ptx_sreg_ctaid_x(); } };
struct weft_nctaid { __declspec(property(get = get)) unsigned x; WEFT_CLANG unsigned get() { return __nvvm_read_ptx_sreg_nctaid_x(); } };
#define threadIdx (weft_tid())
#define blockDim (weft_ntid())
#define blockIdx (weft_ctaid())
#define gridDim (weft_nctaid())

WEFT_CLANG u32 __ballot_sync(u32 m, int p) { return __nvvm_vote_ballot_sync(m, p); }
WEFT_CLANG int __any_sync(u32 m, int p) { return __nvvm_vote_any_sync(m, p); }
WEFT_CLANG int __all_sync(u32 m, int p) { return __nvvm_vote_all_sync(m, p); }
WEFT_CLANG u32 __activemask() { return __nvvm_activemask(); }
WEFT_CLANG void __syncwarp(u32 m) { __nvvm_bar_warp_sync(m); }
WEFT_CLANG int __shfl_sync(u32 m, int x, int by, int w) { return __nvvm_shfl_sync_idx_i32(m, x, by, (32 - w) << 8 | 31); }
WEFT_CLANG int __shfl_up_sync(u32 m, int x, int by, int w) { return __nvvm_shfl_sync_up_i32(m, x, by, (32 - w) << 8); }
WEFT_CLANG int __shfl_down_sync(u32 m, int x, int by, int w) { return __nvvm_shfl_sync_down_i32(m, x, by, (32 - w) << 8 | 31); }
WEFT_CLANG int __shfl_xor_sync(u32 m, int x, int by, int w) { return __nvvm_shfl_sync_bfly_i32(m, x, by, (32 - w) << 8 | 31); }
#if __CUDA_ARCH__ >= 800
WEFT_CLANG u32 __reduce_add_sync(u32 m, u32 x) { return __nvvm_redux_sync_add(x, m); }
WEFT_CLANG u32 __reduce_min_sync(u32 m, u32 x) { return __nvvm_redux_sync_umin(x, m); }
WEFT_CLANG u32 __reduce_max_sync(u32 m, u32 x) { return __nvvm_redux_sync_umax(x, m); }
WEFT_CLANG u32 __reduce_or_sync(u32 m, u32 x) { return __nvvm_redux_sync_or(x, m); }
WEFT_CLANG u32 __reduce_and_sync(u32 m, u32 x) { return __nvvm_redux_sync_and(x, m); }
#endif
WEFT_CLANG u32 __match_any_sync(u32 m, u32 x) { return __nvvm_match_any_sync_i32(m, x); }
WEFT_CLANG u32 __match_any_sync(u32 m, u64 x) { return __nvvm_match_any_sync_i64(m, x); }

WEFT_CLANG int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
WEFT_CLANG int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }

WEFT_CLANG int __popc(u32 x) { return __builtin_popcount(x); }
WEFT_CLANG int __popcll(u64 x) { return __builtin_popcountll(x); }
WEFT_CLANG int __clz(int x) { return x ? __builtin_clz((u32)x) : 32; }
WEFT_CLANG int __clzll(i64 x) { return x ? __builtin_clzll((u64)x) : 64; }
WEFT_CLANG u32 __brev(u32 x) { return __builtin_bitreverse32(x); }
WEFT_CLANG u64 __brevll(u64 x) { return __builtin_bitreverse64(x); }
WEFT_CLANG u64 __umul64hi(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
WEFT_CLANG u32 __float_as_uint(f32 x) { return __builtin_bit_cast(u32, x); }
WEFT_CLANG f32 __uint_as_float(u32 x) { return __builtin_bit_cast(f32, x); }
WEFT_CLANG i64 __double_as_longlong(f64 x) { return __builtin_bit_cast(i64, x); }
WEFT_CLANG f64 __longlong_as_double(i64 x) { return __builtin_bit_cast(f64, x); }

#define WEFT_CLANG_ATOMIC(name, builtin)                                                             \
  template <class T> WEFT_CLANG T name(T* p, T x) { return builtin(p, x, __ATOMIC_RELAXED); }        \
  template <class T> WEFT_CLANG T name##_system(T* p, T x) { return builtin(p, x, __ATOMIC_RELAXED); }
WEFT_CLANG_ATOMIC(atomicAdd, __atomic_fetch_add)
WEFT_CLANG_ATOMIC(atomicMin, __atomic_fetch_min)
WEFT_CLANG_ATOMIC(atomicMax, __atomic_fetch_max)
WEFT_CLANG_ATOMIC(atomicOr, __atomic_fetch_or)
WEFT_CLANG_ATOMIC(atomicAnd, __atomic_fetch_and)
WEFT_CLANG_ATOMIC(atomicExch, __atomic_exchange_n)
#undef WEFT_CLANG_ATOMIC
template <class T> WEFT_CLANG T atomicCAS(T* p, T compare, T x) {
  __atomic_compare_exchange_n(p, &compare, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
template <class T> WEFT_CLANG T atomicCAS_system(T* p, T compare, T x) { return atomicCAS(p, compare, x); }

WEFT_CLANG void __trap() { __builtin_trap(); }
WEFT_CLANG void __threadfence_block() { __nvvm_membar_cta(); }
WEFT_CLANG void __threadfence() { __nvvm_membar_gl(); }
WEFT_CLANG void __threadfence_system() { __nvvm_membar_sys(); }
#undef WEFT_CLANG
