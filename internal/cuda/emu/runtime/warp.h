// The records of a running grid. A launch has workers, which are threads of the host that stand for
// multiprocessors. A worker has blocks, a block has warps, and a warp has lanes. Only the worker of a
// block touches its records.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>

#include "fiber.h"
#include "memory.h"

typedef std::chrono::steady_clock Clock;

struct Block;
struct Worker;
struct Launch;

struct Copy { void* to; const void* from; u32 bytes; };

struct Lane {
  Context context;
  u64 x, result;  // of the collective that the lane is in
  u32 mask, kind, by, line;
  const char* file;
  std::vector<std::vector<Copy>>* copies;  // not yet made, by group; in a shuffled schedule only
};

// A collective that not all lanes of its mask have reached.
struct Pending { u32 mask, arrived, kind; };

// Each lane is in exactly one of the sets runnable, spinning, waiting (in a collective) and barrier, or
// has returned. The running lane is in runnable.
struct Warp : EmuWarp {
  Block* block_of;
  u8* region;
  u32 lanes;  // the number of lanes: fewer than 32 in the last warp of some blocks
  u32 runnable, spinning, waiting, barrier;
  u32 pendings;
  u32 turns;        // that the warp has had
  u32 collectives;  // completed in this turn
  bool spun, returned;
  Pending pending[32];
  Lane lane[32];
  u32 live() const { return runnable | spinning | waiting | barrier; }
};
static_assert(sizeof(Warp) <= EMU_HEADER, "a warp's record fits above its stacks");

struct Block {
  Worker* worker;
  u32 index;
  u32 live;     // lanes that have not returned
  u32 arrived;  // at the barrier
  u32 kind, truths;
  Guarded memory;  // its shared memory
  std::vector<Warp*> warps;
};

struct Config {
  u32 sms, blocks_per_sm, threads_per_sm, threads;
  u64 shared_per_block, shared_per_sm, memory;
  u64 seed;         // of the shuffled schedule; 0: lanes in order
  u64 patience_ms;  // the time without progress after which a launch is stopped
};

struct Worker {
  Launch* launch;
  u32 number;
  Context context;
  u64 random;
  std::vector<Block*> blocks;
  std::vector<Guarded> spare;        // shared memory of blocks that have ended
  u32 room;                          // for more blocks
  std::atomic<u64> turns{0};         // warps that had their turn
  std::atomic<bool> idle{false};     // all its lanes wait in spin
  std::atomic<bool> ended{false};
  std::atomic<Warp*> running{nullptr};
  std::string report;                // the state of its lanes, when the monitor stops the launch
  pthread_t thread;

  // below returns a random number less than n.
  u32 below(u32 n) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return (u32)((random >> 32) * n >> 32);
  }
};

struct Launch {
  const Config* config;
  Memory* memory;
  const char* name;
  void (*run)(const void*);
  std::vector<u8> params;
  u32 blocks, threads, shared;
  u64 serial;            // the launch's number on its device
  u32 resident, workers; // blocks at once; threads of the host
  std::atomic<u32> next{0};         // block to start
  std::atomic<u64> progress{0};     // signs that something happens
  std::atomic<bool> failed{false};  // all workers stop
  std::atomic<bool> given_up{false};
  std::mutex mutex;
  std::condition_variable ended;
  u32 running = 0;
  std::string error;

  // fail keeps the first failure and stops the others.
  void fail(const std::string& what) {
    std::lock_guard<std::mutex> hold(mutex);
    if (!failed) error = what;
    failed = true;
  }
};

static inline Warp* self() { return (Warp*)emu_warp(); }

static std::string place(const char* file, u32 line) {
  if (!file) return "";
  const char* slash = strrchr(file, '/');
  return format(" at %s:%u", slash ? slash + 1 : file, line);
}

// lanes_of writes a set of lanes: "lanes 0-15,31".
static std::string lanes_of(u32 set) {
  std::string text = (set & (set - 1)) ? "lanes " : "lane ";
  const char* comma = "";
  for (u32 i = 0; i < 32; i++) {
    if (!(set >> i & 1)) continue;
    u32 end = i;
    while (end < 31 && (set >> (end + 1) & 1)) end++;
    text += comma + std::to_string(i) + (end > i ? "-" + std::to_string(end) : "");
    comma = ",";
    i = end;
  }
  return text;
}

static const char* const collective_names[] = {
    "sync_warp", "ballot", "any", "all", "shfl", "shfl_up", "shfl_down", "shfl_xor", "reduce_add", "reduce_min",
    "reduce_max", "reduce_or", "reduce_and", "match_any", "sync_block", "sync_block_or", "sync_block_count"};

// describe writes the state of a warp's lanes. Lanes in the same place share a line.
static std::string describe(const Warp* w) {
  std::string text = format("block %u, warp %u:", w->block, w->first >> 5);
  u32 left = w->lanes;
  const char* semicolon = " ";
  while (left) {
    u32 i = (u32)__builtin_ctz(left), same = 0;
    auto state = [&](u32 k) {
      u32 bit = 1u << k;
      return (w->runnable & bit) ? 0 : (w->spinning & bit) ? 1 : (w->waiting & bit) ? 2 : (w->barrier & bit) ? 3 : 4;
    };
    const Lane& a = w->lane[i];
    int s = state(i);
    for (u32 k = i; k < 32; k++) {
      const Lane& b = w->lane[k];
      if ((left >> k & 1) && state(k) == s &&
          (s == 0 || s == 4 || (a.line == b.line && a.file == b.file && (s != 2 || (a.mask == b.mask && a.kind == b.kind)))))
        same |= 1u << k;
    }
    left &= ~same;
    text += semicolon + lanes_of(same) + " ";
    semicolon = "; ";
    bool many = same & (same - 1);
    switch (s) {
      case 0: text += many ? "run" : "runs"; break;
      case 1: text += (many ? "wait in spin" : "waits in spin") + place(a.file, a.line); break;
      case 2: text += format(many ? "wait in %s(0x%08x)" : "waits in %s(0x%08x)", collective_names[a.kind], a.mask) + place(a.file, a.line); break;
      case 3: text += format(many ? "wait in %s" : "waits in %s", collective_names[a.kind]) + place(a.file, a.line); break;
      default: text += many ? "have returned" : "has returned"; break;
    }
  }
  return text;
}

static std::string describe(const Worker* worker) {
  std::string text;
  u32 shown = 0;
  for (const Block* b : worker->blocks)
    for (const Warp* w : b->warps)
      if (w->live() && shown++ < 8) text += "\n" + describe(w);
  if (shown > 8) text += format("\n… and %u more warps", shown - 8);
  return text;
}
