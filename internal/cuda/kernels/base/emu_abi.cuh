// The interface between a kernel that is compiled for the host and the run-time system of the
// emulated device (package emu).
//
// Each lane is a fiber with its own stack. The 32 stacks of a warp lie side by side in a region
// whose address is a multiple of its size, and the warp's record is at the region's upper end.
// So a lane finds its warp and its own number from its stack pointer. Thread-local storage is
// not used, because a compiler might keep its address across a switch of fibers.
#pragma once

#ifndef WEFT_EMU_STACK_BITS
#define WEFT_EMU_STACK_BITS 17  // 128 KiB a lane; sanitized builds need more
#endif

enum : u64 {
  EMU_STACK = 1ull << WEFT_EMU_STACK_BITS,
  EMU_REGION = EMU_STACK * 32,
  EMU_HEADER = 8192,  // of the region, at its upper end: the warp's record
};

// Which collective a lane has called.
enum EmuCollective : u32 {
  EMU_SYNC, EMU_BALLOT, EMU_ANY, EMU_ALL, EMU_SHFL, EMU_SHFL_UP, EMU_SHFL_DOWN, EMU_SHFL_XOR,
  EMU_ADD, EMU_MIN, EMU_MAX, EMU_OR, EMU_AND, EMU_MATCH,
  EMU_BARRIER, EMU_BARRIER_OR, EMU_BARRIER_COUNT,
};

// Functions that lanes call. All run on the caller's stack and return to it, perhaps after
// other lanes have run.
struct EmuRuntime {
  u64 (*collective)(u32 kind, u32 mask, u64 x, u32 by, const char* file, u32 line);
  u64 (*barrier)(u32 kind, bool p, const char* file, u32 line);
  u32 (*active)();
  void (*spin)(const char* file, u32 line);
  void (*give_way)();  // the warp's credit is used up
  void (*copy_async)(void* to, const void* from, u32 bytes);
  void (*copy_commit)();
  void (*copy_wait)(u32 pending);
  void (*fail)(const char* what, const char* file, u32 line);  // ends the launch; does not return
  u64 (*nanotime)();
};

// The part of a warp's record that kernels read.
struct EmuWarp {
  const EmuRuntime* runtime;
  u8* shared;
  u32 shared_bytes;
  u32 block, blocks, threads;
  u32 first;   // thread number of lane 0
  u32 credit;  // atomic operations until the lane gives way to others
  u64 changes; // memory changed by atomic operations and ordered stores: a sign of progress
};

static inline u64 emu_stack_pointer() {
  u64 sp;
#if defined(__x86_64__)
  asm("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
  asm("mov %0, sp" : "=r"(sp));
#else
#error "the emulated device runs on x86-64 and arm64"
#endif
  return sp;
}

static inline EmuWarp* emu_warp() {
  return (EmuWarp*)((emu_stack_pointer() | (EMU_REGION - 1)) + 1 - EMU_HEADER);
}

static inline u32 emu_lane() { return emu_stack_pointer() >> WEFT_EMU_STACK_BITS & 31; }
