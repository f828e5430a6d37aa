// Faults of lanes: a wrong address, a division by zero, a trap, or a lane that runs without end. The signal
// handler notes the fault. The thread then continues in the worker's loop, as if the lane had left.
// Signals of other threads go to the handler from before, which is Go's.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "warp.h"

// The worker of this thread, or null. It is initial-exec, so that a signal handler may read it.
static __thread Worker* this_worker __attribute__((tls_model("initial-exec")));

// The signal for a worker whose lane still runs when the monitor has stopped the launch.
static int interrupt_signal() { return SIGRTMIN + 8; }

static struct sigaction previous[65];

// The fault that the handler notes for the worker's loop.
struct Fault { int signal; u64 address; u64 lane; };
static __thread Fault this_fault __attribute__((tls_model("initial-exec")));

static void on_fault(int signal, siginfo_t* info, void* ucontext) {
  Worker* worker = this_worker;
  ucontext_t* u = (ucontext_t*)ucontext;
#if defined(__x86_64__)
  u64 sp = (u64)u->uc_mcontext.gregs[REG_RSP];
#else
  u64 sp = u->uc_mcontext.sp;
#endif
  Warp* w = worker ? worker->running.load() : nullptr;
  // The protected page of an overflowed stack is in the region, too.
  bool lane = w && sp >= (u64)w->region && sp < (u64)w->region + EMU_REGION;
  if (lane) {
    this_fault = {signal, (u64)info->si_addr, (sp >> WEFT_EMU_STACK_BITS) & 31};
#if defined(__x86_64__)
    u->uc_mcontext.gregs[REG_RDI] = (i64)(u64)worker->context.sp;
    u->uc_mcontext.gregs[REG_RIP] = (i64)(u64)emu_load;
#else
    u->uc_mcontext.regs[0] = (u64)worker->context.sp;
    u->uc_mcontext.pc = (u64)emu_load;
#endif
    return;
  }
  if (signal == interrupt_signal()) return;  // it came late
  const struct sigaction& old = previous[signal];
  if (old.sa_flags & SA_SIGINFO) {
    if (old.sa_sigaction) return old.sa_sigaction(signal, info, ucontext);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    return old.sa_handler(signal);
  }
  struct sigaction normal = {};
  normal.sa_handler = SIG_DFL;
  sigaction(signal, &normal, nullptr);
}

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

static void catch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
#if !defined(EMU_ASAN) && !defined(EMU_TSAN)  // a sanitizer's own reports say more
    for (int s : fault_signals) sigaction(s, &action, &previous[s]);
#endif
    int s = interrupt_signal();
    sigaction(s, &action, &previous[s]);
  });
}

// block_signals blocks all signals of a thread except those that it causes itself. Why: signals that Go
// sends to its threads must not arrive on the stack of a lane.
static void block_signals() {
  sigset_t set;
  sigfillset(&set);
  for (int s : fault_signals) sigdelset(&set, s);
  sigdelset(&set, interrupt_signal());
  pthread_sigmask(SIG_SETMASK, &set, nullptr);
}

static const char* signal_text(const Fault& f) {
  switch (f.signal) {
    case SIGFPE: return "divides by zero";
    case SIGILL: case SIGTRAP: return "runs into a trap";
    default: return "touches memory that is not there";
  }
}
