// What lanes call: collectives, barriers, spin, and giving way.
//
// A lane that must wait switches to the next lane of its warp that can run. If none can, it switches
// to the worker's loop. The last lane that arrives at a collective computes the results of all lanes.
// Why: a released lane may enter its next collective before another lane reads the result of this one.
#pragma once

#include "warp.h"

// turn_length is the number of collectives that a warp completes in one turn. It is small, so that warps
// interleave, and large enough that a warp's data stay in the cache.
static const u32 turn_length = 64;

static u32 fresh_credit(Worker* worker) { return worker->launch->config->seed ? 1 + worker->below(16) : 4096; }

// depart switches from the calling lane to another lane or to the worker's loop. The caller has moved
// the lane to its set.
static void depart(Warp* w, u32 l, bool to_worker = false) {
  Worker* worker = w->block_of->worker;
  Context* to = &worker->context;
  u32 next = w->runnable;
  if (next && !to_worker) {
    if (worker->launch->config->seed) {
      // It takes bit number below(popc) of the set, or sometimes another warp.
      u32 skip = worker->below(popc(next) + (popc(next) + 7) / 8);
      if (skip < popc(next)) {
        while (skip--) next &= next - 1;
        to = &w->lane[ctz(next)].context;
      }
    } else {
      to = &w->lane[ctz(next)].context;
    }
  }
  if (to != &w->lane[l].context) switch_to(&w->lane[l].context, to);
}

// depart_for_good is depart for a lane that does not run again.
[[noreturn]] static void depart_for_good(Warp* w) {
  Context* to = &w->block_of->worker->context;
  if (w->runnable && !w->block_of->worker->launch->failed) to = &w->lane[ctz(w->runnable)].context;
  leave_for(to);
}

[[noreturn]] static void lane_fails(Warp* w, const std::string& what) {
  Worker* worker = w->block_of->worker;
  worker->launch->fail(what);
  leave_for(&worker->context);
}

static std::string who(const Warp* w, u32 l) {
  return format("thread %u of block %u (warp %u, lane %u)", w->first + l, w->block, w->first >> 5, l);
}

static u32 shuffle_source(u32 kind, u32 l, u32 by_width) {
  u32 width = by_width >> 16, by = by_width & 31, low = l & ~(width - 1), high = low + width - 1;
  u32 src;
  switch (kind) {
    case EMU_SHFL: return low | (by & (width - 1));
    case EMU_SHFL_UP: return l >= low + by ? l - by : l;
    case EMU_SHFL_DOWN: return l + by <= high ? l + by : l;
    default: src = l ^ by; return src <= high ? src : l;
  }
}

// complete writes the results of a collective that all lanes of its mask have reached.
static void complete(Warp* w, u32 kind, u32 mask) {
  u64 all = 0;
  auto each = [&](auto f) {
    for (u32 m = mask; m; m &= m - 1) f(w->lane[ctz(m)], ctz(m));
  };
  auto give = [&] { each([&](Lane& a, u32) { a.result = all; }); };
  switch (kind) {
    case EMU_SYNC: return;
    case EMU_BALLOT: each([&](Lane& a, u32 i) { all |= (a.x & 1) << i; }); return give();
    case EMU_ANY: each([&](Lane& a, u32) { all |= a.x; }); return give();
    case EMU_ALL: all = 1; each([&](Lane& a, u32) { all &= a.x; }); return give();
    case EMU_ADD: each([&](Lane& a, u32) { all += a.x; }); return give();
    case EMU_MIN: all = ~0ull; each([&](Lane& a, u32) { all = a.x < all ? a.x : all; }); return give();
    case EMU_MAX: each([&](Lane& a, u32) { all = a.x > all ? a.x : all; }); return give();
    case EMU_OR: each([&](Lane& a, u32) { all |= a.x; }); return give();
    case EMU_AND: all = ~0ull; each([&](Lane& a, u32) { all &= a.x; }); return give();
    case EMU_MATCH:
      return each([&](Lane& a, u32) {
        u32 same = 0;
        each([&](Lane& b, u32 k) { same |= (u32)(a.x == b.x) << k; });
        a.result = same;
      });
    default:
      return each([&](Lane& a, u32 l) {
        u32 src = shuffle_source(kind, l, a.by);
        if (!(mask >> src & 1))
          lane_fails(w, who(w, l) + format(" reads lane %u by %s(0x%08x), which is not in the mask", src, collective_names[kind], mask) +
                            place(a.file, a.line));
        a.result = w->lane[src].x;
      });
  }
}

// release lets all threads that wait at a block's barrier continue.
static void release(Block* b) {
  u64 result = b->kind == EMU_BARRIER_OR ? b->truths != 0 : b->truths;
  for (Warp* w : b->warps) {
    for (u32 m = w->barrier; m; m &= m - 1) w->lane[ctz(m)].result = result;
    w->runnable |= w->barrier;
    w->barrier = 0;
  }
  b->arrived = b->truths = 0;
}

static void make_copies(const std::vector<Copy>& group) {
  for (const Copy& c : group) memcpy(c.to, c.from, c.bytes);
}

#ifdef EMU_TSAN
// orders reports whether a collective orders the memory accesses of its lanes. By CUDA's rules, only
// sync_warp does. A vote counts here as well, because it waits for the values that lanes vote on. Memory
// that a lane read before a vote may be written after it, as set operations in place do.
static bool orders(u32 kind) {
#ifdef EMU_STRICT
  return kind == EMU_SYNC;
#else
  return true;
#endif
}
#endif

// The functions of EmuRuntime (base/emu_abi.cuh). They run on a lane's stack.
namespace called_by_lanes {

static void fail(const char* what, const char* file, u32 line) {
  Warp* w = self();
  lane_fails(w, who(w, emu_lane()) + ": " + what + place(file, line));
}

static u64 collective(u32 kind, u32 mask, u64 x, u32 by, const char* file, u32 line) {
  Warp* w = self();
  u32 l = emu_lane(), bit = 1u << l;
  Lane& me = w->lane[l];
  me.x = x, me.by = by, me.kind = kind, me.mask = mask, me.file = file, me.line = line;
  if (!(mask & bit))
    lane_fails(w, who(w, l) + format(" is not in its own mask: %s(0x%08x)", collective_names[kind], mask) + place(file, line));
  if (u32 gone = mask & ~w->live())
    lane_fails(w, who(w, l) + format(" calls %s(0x%08x)", collective_names[kind], mask) + place(file, line) + ", but " + lanes_of(gone) +
                      ((gone & w->lanes) ? " returned" : (gone & (gone - 1)) ? " do not exist" : " does not exist"));
#ifdef EMU_TSAN
  if (orders(kind)) __tsan_release(&me);
#endif
  Pending* p = w->pending;
  Pending* end = p + w->pendings;
  while (p < end && p->mask != mask) p++;
  if (p == end) {
    *p = {mask, 0, kind};
    w->pendings++;
  } else if (p->kind != kind) {
    u32 other = ctz(p->arrived);
    lane_fails(w, who(w, l) + format(" calls %s(0x%08x)", collective_names[kind], mask) + place(file, line) +
                      format(", but lane %u waits in %s with the same mask", other, collective_names[p->kind]) +
                      place(w->lane[other].file, w->lane[other].line));
  }
  p->arrived |= bit;
  if (p->arrived == mask) {
    *p = w->pending[--w->pendings];
    complete(w, kind, mask);
    w->waiting &= ~mask;
    w->runnable |= mask;
    Worker* worker = w->block_of->worker;
    bool turn_over = ++w->collectives >= turn_length;
    if (turn_over) depart(w, l, true);
    else if (worker->launch->config->seed && worker->below(2)) depart(w, l);
  } else {
    w->runnable &= ~bit;
    w->waiting |= bit;
    depart(w, l);
  }
#ifdef EMU_TSAN
  if (orders(kind))
    for (u32 m = mask; m; m &= m - 1) __tsan_acquire(&w->lane[ctz(m)]);
#endif
  return me.result;
}

static u64 barrier(u32 kind, bool p, const char* file, u32 line) {
  Warp* w = self();
  u32 l = emu_lane(), bit = 1u << l;
  Lane& me = w->lane[l];
  Block* b = w->block_of;
  me.kind = kind, me.file = file, me.line = line;
  if (b->arrived == 0) {
    b->kind = kind;
  } else if (b->kind != kind) {
    lane_fails(w, who(w, l) + " calls " + collective_names[kind] + place(file, line) + ", but other threads of the block wait in " +
                      collective_names[b->kind]);
  }
#ifdef EMU_TSAN
  __tsan_release(b);
#endif
  b->arrived++;
  b->truths += p;
  w->runnable &= ~bit;
  w->barrier |= bit;
  if (b->arrived == b->live) {
    release(b);
    w->collectives++;
  }
  depart(w, l);
#ifdef EMU_TSAN
  __tsan_acquire(b);
#endif
  return me.result;
}

static u32 active() {
  // A running lane does not know the others, so that each is alone in its group.
  return 1u << emu_lane();
}

static void spin(const char* file, u32 line) {
  Warp* w = self();
  u32 l = emu_lane(), bit = 1u << l;
  w->lane[l].file = file, w->lane[l].line = line;
  w->runnable &= ~bit;
  w->spinning |= bit;
  w->spun = true;
  depart(w, l);
}

static void give_way() {
  Warp* w = self();
  w->credit = fresh_credit(w->block_of->worker);
  depart(w, emu_lane(), true);
}

static void copy_async(void* to, const void* from, u32 bytes) {
  Warp* w = self();
  u32 l = emu_lane();
  const u8* t = (const u8*)to;
  if (t < w->shared || t + bytes > w->shared + w->shared_bytes) fail("the destination of an asynchronous copy is not shared memory", 0, 0);
  if (!w->block_of->worker->launch->config->seed) {
    memcpy(to, from, bytes);
    return;
  }
  auto*& copies = w->lane[l].copies;
  if (!copies) copies = new std::vector<std::vector<Copy>>(1);
  copies->back().push_back({to, from, bytes});
}

static void copy_commit() {
  if (auto* copies = self()->lane[emu_lane()].copies) copies->emplace_back();
}

// copy_wait makes the copies of all groups except the last ones, of which pending may remain. It does
// not wait for copies that are not committed.
static void copy_wait(u32 pending) {
  auto* copies = self()->lane[emu_lane()].copies;
  if (!copies) return;
  while (copies->size() > pending + 1) {
    make_copies(copies->front());
    copies->erase(copies->begin());
  }
}

static u64 nanotime() {
  return (u64)std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace called_by_lanes

static const EmuRuntime emu_runtime = {
    called_by_lanes::collective, called_by_lanes::barrier,     called_by_lanes::active,    called_by_lanes::spin, called_by_lanes::give_way,
    called_by_lanes::copy_async, called_by_lanes::copy_commit, called_by_lanes::copy_wait, called_by_lanes::fail, called_by_lanes::nanotime};

// emu_lane_main is the first function of a lane.
extern "C" void emu_lane_main() {
#ifdef EMU_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  Warp* w = self();
  u32 l = emu_lane(), bit = 1u << l;
  const Launch* launch = w->block_of->worker->launch;
  launch->run(launch->params.data());
  if (auto* copies = w->lane[l].copies)
    for (auto& group : *copies) make_copies(group);
  for (u32 i = 0; i < w->pendings; i++) {
    const Pending& p = w->pending[i];
    if (!(p.mask & bit)) continue;
    u32 other = ctz(p.arrived);
    lane_fails(w, who(w, l) + format(" returns, but lane %u waits for it in %s(0x%08x)", other, collective_names[p.kind], p.mask) +
                      place(w->lane[other].file, w->lane[other].line));
  }
#ifdef EMU_TSAN
  __tsan_release(w->block_of);
#endif
  w->runnable &= ~bit;
  w->returned = true;
  Block* b = w->block_of;
  if (--b->live == b->arrived && b->live) release(b);
  depart_for_good(w);
}
