// Fibers: stacks, and the switch from one to another.
//
// A switch saves the registers that a function must preserve on the old stack, and loads them from the
// new stack. Stacks come in regions of 32, one region for each warp (base/emu_abi.cuh), and are reused.
// The lowest page of each stack is protected, so that a lane that uses too much faults. It does not
// write into its neighbour's stack.
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <vector>

#include "base/device.cuh"

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#ifndef EMU_TSAN
#define EMU_TSAN 1
#endif
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#ifndef EMU_TSAN
#define EMU_TSAN 1
#endif
#endif
#endif
#ifdef EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef EMU_TSAN
#include <sanitizer/tsan_interface.h>
#endif

extern "C" void emu_switch(void** save, void* load);
extern "C" void emu_load(void* load);  // a switch that saves nothing
extern "C" void emu_lane_main();

#if defined(__x86_64__)
asm(R"(
.text
.globl emu_switch
.hidden emu_switch
.type emu_switch, @function
emu_switch:
  .cfi_startproc
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rdi
  .cfi_endproc
.size emu_switch, .-emu_switch
.globl emu_load
.hidden emu_load
.type emu_load, @function
emu_load:
  .cfi_startproc
  movq %rdi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size emu_load, .-emu_load
)");
// The content of a new stack for emu_load: six registers, the address of the first function, and one word
// that aligns the stack as after a call.
static const int emu_saved_words = 8;
static const int emu_return_word = 6;
#elif defined(__aarch64__)
asm(R"(
.text
.globl emu_switch
.hidden emu_switch
.type emu_switch, %function
emu_switch:
  .cfi_startproc
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov x0, x1
  .cfi_endproc
.size emu_switch, .-emu_switch
.globl emu_load
.hidden emu_load
.type emu_load, %function
emu_load:
  .cfi_startproc
  mov sp, x0
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .cfi_endproc
.size emu_load, .-emu_load
)");
static const int emu_saved_words = 20;
static const int emu_return_word = 11;
#endif

// Context is the state of a fiber, or of the thread that runs fibers, while it does not run.
struct Context {
  void* sp;
#ifdef EMU_ASAN
  void* fake;          // the sanitizer's own stack of this fiber
  const void* bottom;  // of the stack
  size_t size;
#endif
#ifdef EMU_TSAN
  void* fiber;
#endif
};

// switch_to continues in `to`. A later switch to `from` returns here.
static inline void switch_to(Context* from, Context* to) {
#ifdef EMU_ASAN
  __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#endif
#ifdef EMU_TSAN
  __tsan_switch_to_fiber(to->fiber, __tsan_switch_to_fiber_no_sync);
#endif
  emu_switch(&from->sp, to->sp);
#ifdef EMU_ASAN
  __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

// leave_for continues in `to`, and does not return.
[[noreturn]] static inline void leave_for(Context* to) {
#ifdef EMU_ASAN
  __sanitizer_start_switch_fiber(nullptr, to->bottom, to->size);
#endif
#ifdef EMU_TSAN
  __tsan_switch_to_fiber(to->fiber, __tsan_switch_to_fiber_no_sync);
#endif
  emu_load(to->sp);
  __builtin_unreachable();
}

// this_thread describes the running thread, so that fibers can switch back.
static inline void this_thread(Context* c) {
  c->sp = nullptr;
#ifdef EMU_ASAN
  pthread_attr_t attr;
  void* bottom;
  pthread_getattr_np(pthread_self(), &attr);
  pthread_attr_getstack(&attr, &bottom, &c->size);
  pthread_attr_destroy(&attr);
  c->bottom = bottom;
#endif
#ifdef EMU_TSAN
  c->fiber = __tsan_get_current_fiber();
#endif
}

// prepare makes a fiber that begins in emu_lane_main, on stack number lane of a region. Each stack has an
// offset of its own. Why: stacks lie a power of two apart, and their ends, which are used most, would
// share the same lines of the cache.
static inline void prepare(Context* c, u8* region, u32 lane) {
  u8* bottom = region + lane * EMU_STACK;
  u8* top = bottom + EMU_STACK - (lane == 31 ? (u64)EMU_HEADER : 0) - (lane * 448 + ((u64)region / EMU_REGION % 16) * 832);
  void** words = (void**)((u64)top & ~(u64)63) - emu_saved_words;
  for (int i = 0; i < emu_saved_words; i++) words[i] = nullptr;
  words[emu_return_word] = (void*)emu_lane_main;
  c->sp = words;
#ifdef EMU_ASAN
  c->fake = nullptr;
  c->bottom = bottom;
  c->size = EMU_STACK - (lane == 31 ? (u64)EMU_HEADER : 0);
  __asan_unpoison_memory_region(bottom + getpagesize(), c->size - getpagesize());
#endif
#ifdef EMU_TSAN
  c->fiber = __tsan_create_fiber(0);
#endif
}

// Regions is the store of stacks.
class Regions {
 public:
  // take returns a region, or null if the system gives no more memory.
  u8* take() {
    {
      std::lock_guard<std::mutex> hold(mutex);
      if (!idle.empty()) {
        u8* r = idle.back();
        idle.pop_back();
        return r;
      }
    }
    u64 size = EMU_REGION * 2;
    u8* base = (u8*)mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    u8* region = (u8*)(((u64)base + EMU_REGION - 1) & ~(EMU_REGION - 1));
    if (region > base) munmap(base, region - base);
    if (u64 rest = base + size - (region + EMU_REGION)) munmap(region + EMU_REGION, rest);
    u64 page = getpagesize();
    for (u32 i = 0; i < 32; i++) {
      if (mprotect(region + i * EMU_STACK + page, EMU_STACK - page, PROT_READ | PROT_WRITE)) {
        munmap(region, EMU_REGION);
        return nullptr;
      }
    }
    return region;
  }
  void put(u8* region) {
    std::lock_guard<std::mutex> hold(mutex);
    idle.push_back(region);
  }

 private:
  std::mutex mutex;
  std::vector<u8*> idle;
};

static Regions regions;
