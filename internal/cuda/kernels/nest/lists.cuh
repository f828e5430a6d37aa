// Neighbour lists of a graph that changes, as a search of one version reads them (GCSM).
//
// A list is N, which are ids in ascending order, and behind it ΔN: ids in ascending order, the versions from which they are
// neighbours, and those from which they are not any more. Ids of N that the window changes have NEST_MARK, and are in ΔN too, which
// says when they are neighbours. So N without marks are neighbours at all versions.
//
// All lists are in host memory. The cache in device memory has some of them, by ascending keys: a key is a relation and a vertex.
//
// Requirements: nothing changes lists or cache during a launch. Ids are below NEST_MARK. The host twin is lists.go of package
// stream/cached.
#ifndef WEFT_NEST_LISTS
#define WEFT_NEST_LISTS
#include "base/setops.cuh"

#define NEST_MARK 0x80000000u

struct NestHead {
  const u32* p;
  u32 n, d;
};

struct NestCache {
  const u64* keys; // relation << 32 | vertex
  const NestHead* heads;
  u64 count;
};

// A list that a search reads, and where it reads it.
struct NestList {
  const u32* p;
  u32 n, d;
  u32 hit; // 1: in the cache
  u32 unused;
};

// What a lane has read. Bytes are those that it asked for: memory moves more of them at a time.
struct NestRead {
  u64 host, device; // bytes
  u32 hits, misses; // lists
};

DEV u32 nest_id(u32 x) { return x & ~NEST_MARK; }

// The list of a vertex. One lane.
DEV NestList nest_list(const NestCache& c, const NestHead* const* relations, u32 relation, u32 v, NestRead& read) {
  const u64 key = (u64)relation << 32 | v;
  u64 lo = 0, hi = c.count;
  while (lo < hi) {
    u64 mid = (lo + hi) >> 1;
    if (c.keys[mid] < key) lo = mid + 1;
    else hi = mid;
  }
  if (lo < c.count && c.keys[lo] == key) {
    const NestHead h = c.heads[lo];
    read.hits++;
    return NestList{h.p, h.n, h.d, 1, 0};
  }
  const NestHead h = relations[relation][v];
  read.misses++;
  read.host += sizeof(NestHead);
  return NestList{h.p, h.n, h.d, 0, 0};
}

DEV void nest_count(const NestList& l, u64 words, NestRead& read) {
  if (l.hit) read.device += 4 * words;
  else read.host += 4 * words;
}

// The number of ids of N below x. One lane.
DEV u32 nest_below(const NestList& l, u32 x, NestRead& read) {
  u32 lo = 0, hi = l.n, steps = 0;
  while (lo < hi) {
    u32 mid = (lo + hi) >> 1;
    if (nest_id(l.p[mid]) < x) lo = mid + 1;
    else hi = mid;
    steps++;
  }
  nest_count(l, steps, read);
  return lo;
}

// Whether entry i of ΔN is a neighbour at a version. One lane.
DEV bool nest_alive(const NestList& l, u32 i, u32 at) { return l.p[l.n + l.d + i] <= at && at < l.p[l.n + 2 * l.d + i]; }

// Whether x is a neighbour at a version. One lane.
DEV bool nest_has(const NestList& l, u32 x, u32 at, NestRead& read) {
  u32 i = nest_below(l, x, read);
  if (i < l.n) {
    nest_count(l, 1, read);
    if (l.p[i] == x) return true;
  }
  if (l.d == 0) return false;
  const u32* ids = l.p + l.n;
  u32 lo = 0, hi = l.d, steps = 0;
  while (lo < hi) {
    u32 mid = (lo + hi) >> 1;
    if (ids[mid] < x) lo = mid + 1;
    else hi = mid;
    steps++;
  }
  for (; lo < l.d && ids[lo] == x; lo++) {
    steps += 3;
    if (nest_alive(l, lo, at)) {
      nest_count(l, steps, read);
      return true;
    }
  }
  nest_count(l, steps, read);
  return false;
}

#endif
