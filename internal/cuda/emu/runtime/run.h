// Runs a grid. Each worker has a share of the multiprocessors. It starts blocks on them while there is
// room, and runs the warps of its blocks in turns until all have returned. A monitor stops a launch that
// cannot end, with a report.
#pragma once

#include <errno.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <deque>

#include "collective.h"
#include "fault.h"

// start_block makes the records of a block, and takes stacks for its lanes.
static bool start_block(Worker* worker, u32 index) {
  Launch* launch = worker->launch;
  Block* b = new Block();
  Guarded shared;
  if (!worker->spare.empty()) {
    shared = worker->spare.back();
    worker->spare.pop_back();
  } else if (launch->shared && !guard(&shared, launch->shared, 16)) {
    delete b;
    return false;
  }
  if (launch->shared) memset(shared.start, poison, launch->shared);
  b->worker = worker;
  b->index = index;
  b->live = launch->threads;
  b->memory = shared;
  worker->blocks.push_back(b);
  for (u32 first = 0; first < launch->threads; first += 32) {
    u8* region = regions.take();
    if (!region) return false;
    Warp* w = (Warp*)(region + EMU_REGION - EMU_HEADER);
    u32 lanes = std::min(32u, launch->threads - first);
    memset((void*)w, 0, sizeof(Warp));
    w->runtime = &emu_runtime;
    w->shared = shared.start;
    w->shared_bytes = launch->shared;
    w->block = index, w->blocks = launch->blocks, w->threads = launch->threads, w->first = first;
    w->block_of = b;
    w->region = region;
    w->lanes = w->runnable = lanes == 32 ? ALL : (1u << lanes) - 1;
    w->credit = fresh_credit(worker);
    for (u32 l = 0; l < lanes; l++) prepare(&w->lane[l].context, region, l);
    b->warps.push_back(w);
  }
  return true;
}

static void end_block(Block* b) {
#ifdef EMU_TSAN
  __tsan_acquire(b);
#endif
  for (Warp* w : b->warps) {
    for (Lane& lane : w->lane) {
      delete lane.copies;
#ifdef EMU_TSAN
      if (lane.context.fiber) __tsan_destroy_fiber(lane.context.fiber);
#endif
    }
    regions.put(w->region);
  }
  if (b->memory.bytes) {
    if (u64 at = overrun(&b->memory))
      b->worker->launch->fail(format("block %u wrote outside its shared memory: offset %lld of %llu bytes", b->index,
                                     (i64)(at - (u64)b->memory.start), b->memory.bytes));
    b->worker->spare.push_back(b->memory);
  }
  delete b;
}

// turn runs a warp until none of its lanes can run, or its turn is over. It returns whether the warp
// certainly did more than one round of a waiting loop.
static bool turn(Worker* worker, Warp* w) {
  w->runnable |= w->spinning;
  w->spinning = 0;
  w->spun = w->returned = false;
  w->collectives = 0;
  u64 before = w->changes;
  // The first lane varies.
  u32 from = w->turns++ & 31, high = w->runnable >> from << from;
  if (worker->launch->config->seed) {
    u32 skip = worker->below(popc(w->runnable));
    for (high = w->runnable; skip--;) high &= high - 1;
  }
  worker->running.store(w, std::memory_order_relaxed);
  switch_to(&worker->context, &w->lane[ctz(high ? high : w->runnable)].context);
  worker->running.store(nullptr, std::memory_order_relaxed);
  worker->turns.fetch_add(1, std::memory_order_relaxed);
  return w->changes != before || w->returned || (!w->spun && w->collectives >= turn_length);
}

// where describes the memory near an address that caused a fault.
static std::string where(u64 address, const Warp* w) {
  u64 shared = (u64)w->shared;
  if (w->shared_bytes && address + 4096 >= shared && address < shared + w->shared_bytes + 8192)
    return format("byte %lld of %u bytes of shared memory", (i64)(address - shared), w->shared_bytes);
  return w->block_of->worker->launch->memory->where(address);
}

// note_fault reports the fault that the signal handler noted.
static void note_fault(Worker* worker, Warp* w) {
  Fault f = this_fault;
  this_fault.signal = 0;
  if (f.signal == interrupt_signal()) {
    worker->report += "\n" + who(w, (u32)f.lane) + " runs without ever calling spin or a collective";
    return;
  }
  u64 stack = (u64)w->region + f.lane * EMU_STACK;
  if (f.address >= stack && f.address < stack + getpagesize())
    worker->launch->fail(who(w, (u32)f.lane) + " needs more than its stack");
  else if (f.signal == SIGSEGV || f.signal == SIGBUS)
    worker->launch->fail(who(w, (u32)f.lane) + " " + signal_text(f) + ": " + where(f.address, w));
  else
    worker->launch->fail(who(w, (u32)f.lane) + " " + signal_text(f));
}

// check_warp reports a warp that can never continue.
static void check_warp(Worker* worker, Warp* w) {
  if (!w->runnable && !w->spinning && w->waiting) worker->launch->fail("deadlock: " + describe(w));
}

static void work(Worker* worker) {
  Launch* launch = worker->launch;
  const bool shuffled = launch->config->seed != 0;
  auto start = [&](u32 index) {
    worker->room--;
    if (!start_block(worker, index)) launch->fail("the emulated device got no memory from the system for the stacks and the shared memory of a block");
  };
  // The first blocks go to the multiprocessors in turn. Each other block goes to one with room.
  u32 resident = std::min(launch->blocks, launch->resident);
  for (u32 b = 0; b < resident; b++)
    if (b % launch->config->sms % launch->workers == worker->number) start(b);
  auto refill = [&] {
    while (worker->room && !launch->failed) {
      u32 b = launch->next.fetch_add(1, std::memory_order_relaxed);
      if (b >= launch->blocks) break;
      start(b);
    }
  };
  u64 idle = 0;  // rounds of waiting alone, since the last other round
  u32 calm = 0;  // rounds in a row with collectives and without spin
  while (!launch->failed) {
    if (launch->next.load(std::memory_order_relaxed) < launch->blocks) refill();
    if (worker->blocks.empty()) break;
    bool spun = false, collectives = false, works = false;
    for (size_t i = 0; i < worker->blocks.size() && !launch->failed; i++) {
      Block* b = worker->blocks[shuffled ? worker->below((u32)worker->blocks.size()) : i];
      for (size_t k = 0; k < b->warps.size() && !launch->failed; k++) {
        Warp* w = b->warps[shuffled ? worker->below((u32)b->warps.size()) : k];
        if (!w->runnable && !w->spinning) continue;
        works |= turn(worker, w);
        spun |= w->spun;
        collectives |= w->collectives != 0;
        if (this_fault.signal) note_fault(worker, w);
        else if (!launch->failed) check_warp(worker, w);
      }
    }
    // A waiting loop calls spin, and may have collectives and barriers as well. So only many rounds of
    // collectives without a spin count as work.
    calm = spun || !collectives ? 0 : calm + 1;
    if (works || calm >= 64) {
      idle = calm = 0;
      launch->progress.fetch_add(1, std::memory_order_relaxed);
    } else if (spun || !collectives) {
      idle++;
    }
    for (size_t i = worker->blocks.size(); i-- > 0 && !launch->failed;) {
      if (worker->blocks[i]->live) continue;
      end_block(worker->blocks[i]);
      worker->blocks.erase(worker->blocks.begin() + (long)i);
      worker->room++;
    }
    bool waits = idle > 8;
    worker->idle.store(waits, std::memory_order_relaxed);
    if (idle > 256) {
      struct timespec nap = {0, 20000};
      nanosleep(&nap, nullptr);
    } else if (waits) {
      sched_yield();
    }
  }
  if (launch->given_up) worker->report += describe(worker);
  for (Block* b : worker->blocks) end_block(b);
  worker->blocks.clear();
  for (Guarded& g : worker->spare) unguard(&g);
}

static void* worker_main(void* argument) {
  Worker* worker = (Worker*)argument;
  Launch* launch = worker->launch;
  // The handler has its own stack, because a lane may have used up the lane's.
  std::vector<u8> handler_stack(64 << 10);
  stack_t stack = {};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  this_worker = worker;
  this_fault.signal = 0;
  block_signals();
  this_thread(&worker->context);
  work(worker);
  this_worker = nullptr;
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  std::lock_guard<std::mutex> hold(launch->mutex);
  worker->ended = true;
  launch->running--;
  launch->ended.notify_all();
  return nullptr;
}

// blocks_per_sm returns the number of blocks that one multiprocessor holds at once.
static u32 blocks_per_sm(const Config* c, u32 threads, u64 shared) {
  u64 n = std::min<u64>(c->blocks_per_sm, c->threads_per_sm / std::max(threads, 1u));
  if (shared) n = std::min<u64>(n, c->shared_per_sm / shared);
  return (u32)n;
}

// monitor waits until the workers have ended. It stops the launch if nothing has happened for the time
// of the device's patience: either all resident lanes wait in spin, or a lane runs without end.
static void monitor(Launch* launch, std::deque<Worker>& workers) {
  std::unique_lock<std::mutex> hold(launch->mutex);
  const auto patience = std::chrono::milliseconds(launch->config->patience_ms);
  auto tick = std::min<std::chrono::milliseconds>(patience / 4, std::chrono::milliseconds(250));
  u64 progress = 0;
  std::vector<u64> turns(workers.size());
  std::vector<Clock::time_point> moved(workers.size(), Clock::now());
  auto since = Clock::now();
  while (!launch->ended.wait_for(hold, tick, [&] { return launch->running == 0; })) {
    auto now = Clock::now();
    u64 p = launch->progress.load(std::memory_order_relaxed);
    bool all_wait = true, stuck = false;
    for (size_t i = 0; i < workers.size(); i++) {
      u64 t = workers[i].turns.load(std::memory_order_relaxed);
      if (t != turns[i] || workers[i].ended) turns[i] = t, moved[i] = now;
      all_wait = all_wait && (workers[i].ended || workers[i].idle.load(std::memory_order_relaxed));
      stuck = stuck || now - moved[i] > patience;
    }
    if (p != progress || !all_wait) progress = p, since = now;
    if (now - since <= patience && !stuck) continue;
    if (!launch->failed) {
      launch->given_up = true;
      u32 started = std::min(launch->next.load(), launch->blocks);
      launch->error = format("no progress for %llu ms", launch->config->patience_ms);
      if (started < launch->blocks)
        launch->error += format("; blocks %u to %u of the grid are not resident, and wait until others have returned", started, launch->blocks - 1);
      launch->failed = true;
    }
    // Some lanes never leave by themselves.
    for (size_t i = 0; i < workers.size(); i++)
      if (now - moved[i] > patience) pthread_kill(workers[i].thread, interrupt_signal());
  }
}

// run_launch runs a grid to its end, and returns its error or "".
static std::string run_launch(Launch* launch) {
  const Config* c = launch->config;
  u32 per_sm = blocks_per_sm(c, launch->threads, launch->shared);
  if (!per_sm) return "a block does not fit on a multiprocessor";
  launch->resident = per_sm * c->sms;
  launch->workers = std::min({c->threads, c->sms, launch->blocks});
  launch->next = std::min(launch->blocks, launch->resident);
  std::deque<Worker> workers(launch->workers);
  launch->running = launch->workers;
  for (u32 i = 0; i < launch->workers; i++) {
    Worker& w = workers[i];
    w.launch = launch;
    w.number = i;
    w.random = (c->seed + 1) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull + launch->serial * 0x94d049bb133111ebull;
    if (!w.random) w.random = 1;
    u32 sms = (c->sms - i + launch->workers - 1) / launch->workers;
    w.room = sms * per_sm;
    if (int e = pthread_create(&w.thread, nullptr, worker_main, &w)) {
      launch->fail(format("the emulated device cannot start a thread: %s", strerror(e)));
      std::lock_guard<std::mutex> hold(launch->mutex);
      launch->running -= launch->workers - i;
      workers.resize(i);
      break;
    }
  }
  monitor(launch, workers);
  for (Worker& w : workers) {
    pthread_join(w.thread, nullptr);
    launch->error += w.report;
  }
  return launch->error;
}
