// Device memory. An allocation is filled with a pattern, so that a read of bytes that no code wrote
// shows. A write outside an allocation faults at once, or is found after the launch.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <string>

#include "fiber.h"

static std::string format(const char* f, ...) __attribute__((format(printf, 1, 2)));
static std::string format(const char* f, ...) {
  char text[1024];
  va_list args;
  va_start(args, f);
  vsnprintf(text, sizeof text, f, args);
  va_end(args);
  return text;
}

// Guarded is memory that ends at a protected page. The bytes before it, and those that alignment leaves
// after it, are marked. A build with a sanitizer has the sanitizer's red zones instead.
struct Guarded {
  u8* base = nullptr;
  u64 mapped = 0;
  u8* start = nullptr;
  u64 bytes = 0;
};

static const u8 poison = 0xa5, canary = 0xc9;

#ifdef EMU_ASAN
static bool guard(Guarded* g, u64 bytes, u64 align) {
  void* p = nullptr;
  if (posix_memalign(&p, align, bytes ? bytes : 1)) return false;
  *g = {(u8*)p, 0, (u8*)p, bytes};
  return true;
}
static void unguard(Guarded* g) { free(g->base); }
static u64 overrun(const Guarded*) { return 0; }
#else
static bool guard(Guarded* g, u64 bytes, u64 align) {
  u64 page = getpagesize(), rounded = (bytes + align - 1) & ~(align - 1), inside = (rounded + page - 1) & ~(page - 1);
  u8* base = (u8*)mmap(nullptr, inside + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return false;
  if (mprotect(base, page, PROT_NONE) || mprotect(base + page + inside, page, PROT_NONE)) {
    munmap(base, inside + 2 * page);
    return false;
  }
  u8* end = base + page + inside;
  *g = {base, inside + 2 * page, end - rounded, bytes};
  memset(base + page, canary, g->start - (base + page));
  memset(g->start + bytes, canary, rounded - bytes);
  return true;
}
static void unguard(Guarded* g) { munmap(g->base, g->mapped); }

// overrun returns the address of a marked byte that has been overwritten, or 0.
static u64 overrun(const Guarded* g) {
  u64 page = getpagesize();
  auto touched = [](const u8* from, const u8* to) -> u64 {
    for (; from < to; from++)
      if (*from != canary) return (u64)from;
    return 0;
  };
  if (u64 at = touched(g->base + page, g->start)) return at;
  return touched(g->start + g->bytes, g->base + g->mapped - page);
}
#endif

// Memory is the memory of a device.
class Memory {
 public:
  u64 limit = 0;

  // take allocates. null: too little is left.
  u8* take(u64 bytes) {
    std::lock_guard<std::mutex> hold(mutex);
    Guarded g;
    if (bytes > limit - used || !guard(&g, bytes, 256)) return nullptr;
    spoil(&g);
    held[(u64)g.start] = g;
    used += bytes;
    return g.start;
  }

  // give frees memory. It returns "", or the error: an overrun, or no such memory.
  std::string give(u64 address) {
    std::lock_guard<std::mutex> hold(mutex);
    auto at = held.find(address);
    if (at == held.end()) return format("0x%llx is not the address of an allocation", address);
    Guarded g = at->second;
    std::string error = beside(g);
    held.erase(at);
    used -= g.bytes;
    retire(g);
    return error;
  }

  void note(u64 address, u64 bytes) {
    std::lock_guard<std::mutex> hold(mutex);
    pinned[address] = bytes;
  }
  void forget(u64 address) {
    std::lock_guard<std::mutex> hold(mutex);
    pinned.erase(address);
  }

  u64 available() {
    std::lock_guard<std::mutex> hold(mutex);
    return limit - used;
  }

  // inspect looks for writes outside the allocations.
  std::string inspect() {
    std::lock_guard<std::mutex> hold(mutex);
    for (auto& [address, g] : held) {
      std::string error = beside(g);
      if (!error.empty()) return error;
    }
    return "";
  }

  // where describes the memory near an address.
  std::string where(u64 address) {
    std::lock_guard<std::mutex> hold(mutex);
    std::string text = format("address 0x%llx", address);
    for (const Guarded& g : retired)
      if (address >= (u64)g.base && address < (u64)g.base + g.mapped)
        return text + format(", in memory that was freed (%llu bytes)", g.bytes);
    for (auto& [start, g] : held)
      if (address >= (u64)g.base && address < (u64)g.base + g.mapped)
        return text + format(", at byte %lld of an allocation of %llu bytes", (i64)(address - start), g.bytes);
    for (auto& [start, bytes] : pinned)
      if (address + 4096 >= start && address < start + bytes + 8192)
        return text + format(", at byte %lld of %llu bytes of pinned memory", (i64)(address - start), bytes);
    return text + (address < 4096 ? ", a null pointer" : ", in no allocation");
  }

  ~Memory() {
    for (auto& [address, g] : held) unguard(&g);
    for (Guarded& g : retired) unguard(&g);
  }

 private:
  std::mutex mutex;
  u64 used = 0;
  std::map<u64, Guarded> held;
  std::map<u64, u64> pinned;
  std::deque<Guarded> retired;  // freed recently: an access faults

  static std::string beside(const Guarded& g) {
    u64 at = overrun(&g);
    return at ? format("a kernel wrote outside an allocation: byte %lld of %llu bytes", (i64)(at - (u64)g.start), g.bytes) : "";
  }

#ifdef EMU_ASAN
  void retire(Guarded& g) { unguard(&g); }  // the sanitizer keeps it out of use for a while
  void spoil(Guarded* g) { memset(g->start, poison, g->bytes); }
#else
  void retire(Guarded& g) {
    mprotect(g.base, g.mapped, PROT_NONE);
    madvise(g.base, g.mapped, MADV_DONTNEED);
    retired.push_back(g);
    if (retired.size() > 256) {
      unguard(&retired.front());
      retired.pop_front();
    }
  }

  // spoil fills new memory with the pattern. Large memory gets private mappings of one file with the
  // pattern, which take no memory until they are written.
  void spoil(Guarded* g) {
    const u64 chunk = 4 << 20;
    u8* at = g->start;
    u8* end = g->start + g->bytes;
    if (g->bytes >= 2 * chunk) {
      static int file = pattern(chunk);
      u8* aligned = (u8*)(((u64)at + getpagesize() - 1) & ~(u64)(getpagesize() - 1));
      memset(at, poison, aligned - at);
      for (at = aligned; file >= 0 && at + chunk <= end; at += chunk)
        if (mmap(at, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) break;
    }
    memset(at, poison, end - at);
  }

  static int pattern(u64 bytes) {
    int file = memfd_create("poison", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes)) return -1;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED) return -1;
    memset(p, poison, bytes);
    munmap(p, bytes);
    return file;
  }
#endif
};
