// The multi-version graph of engine pipeline: neighbour lists that change while searches read them.
//
// DCSM, chapter 4.4 of the thesis. Update number k of a load has the time k+1. An entry of a neighbour
// array has its edge's lifetime (ct, dt]: the search of an update at time t sees it if ct < t <= dt. So neither an
// added nor a removed edge needs a rule of its own: the search of its update sees the graph before an addition, and
// before a removal.
//
// A list has versions. Each is a row with a lifetime of the same kind, and the place of a sorted array, which only ever
// changes in one way: the dt of an entry goes from FOREVER to a time that no search under way has passed. So
// searches take no locks. The updater makes new versions; the collector ends those that no search needs.
//
// The first two rows of a list are in its head, and further ones in slabs of 32 (ours: most lists never need a
// slab, and a head is 48 bytes). Slabs stay with their list until the next load.
//
// An array of n entries lies in the pool as columns: n ids, n ct, n dt, and n labels if edges have some. It ascends by
// (id, label, ct).
//
// With PIPELINE_HASH, a baseline of the thesis (4.7.1), an array is a hash set: store_hash.cuh tells how.
//
// Go's pipeline.head, row and slab have the same layouts. The host twin is the model of Go's store tests.
#ifndef WEFT_PIPELINE_STORE
#define WEFT_PIPELINE_STORE
#include "base/setops.cuh"

#ifndef PIPELINE_HASH
#define PIPELINE_HASH 0
#endif

#define FOREVER 0xffffffffu // the dt of what is not removed
#define FREE_ROW ~0ull      // the span of a row without a version: (FOREVER, FOREVER]
#define UNIT 32u            // bytes of the pool's unit
#define SLAB_ROWS 32u
#define NONE 0xffffffffu

struct Row {
  u64 span;  // ct, and dt above it
  u64 array; // the unit in the pool, and the number of entries above it
};

struct Slab {
  Row rows[SLAB_ROWS];
  u32 next; // unit of the next slab; 0: none
  u32 pad[7];
};

// The list of one vertex in one direction. The updater alone reads and writes the fields after slab.
struct Head {
  Row rows[2];
  u32 slab;    // unit of the first slab; 0: none
  u32 dead;    // entries of the newest array that are removed
  u64 current; // the newest row, as row_at knows it. It lives FOREVER
};

struct Store {
  Head* heads; // of list v on an undirected graph; 2 * v (out) and 2 * v + 1 (in) on a directed one
  u8* pool;
  u32 lists;
  u32 words; // of an entry: 3, or 4 with labels
};

// An array of n entries, columns of n words.
struct Array {
  u32* p;
  u32 n;
};

DEV u64 span_of(u32 ct, u32 dt) { return (u64)dt << 32 | ct; }
DEV bool holds(u64 span, u32 t) { return (u32)span < t && t <= (u32)(span >> 32); }
DEV u32* at_unit(const Store& s, u32 unit) { return (u32*)(s.pool + (u64)unit * UNIT); }
DEV Slab* slab_at(const Store& s, u32 unit) { return (Slab*)at_unit(s, unit); }

// Row ref of a list: 0 and 1 are those of its head, and 2 + 32 * unit + i is row i of the slab there.
DEV Row* row_at(const Store& s, Head* h, u64 ref) {
  return ref < 2 ? &h->rows[ref] : &slab_at(s, (u32)((ref - 2) / SLAB_ROWS))->rows[(ref - 2) % SLAB_ROWS];
}

DEV Array array_of(const Store& s, u64 array) { return Array{at_unit(s, (u32)array), (u32)(array >> 32)}; }

// Units of an array of n entries, or of a hash set of n slots with its number of slots in use.
DEV u64 units_of(const Store& s, u64 n) { return (n * s.words * 4 + (PIPELINE_HASH ? 4 : 0) + UNIT - 1) / UNIT; }

// The version of a list that time t sees, found by all lanes of the warp. The caller has acquired all updates before t.
DEV Array version(const Store& s, u32 list, u32 t) {
  const Head* h = s.heads + list;
  const Row* rows = h->rows;
  u32 n = 2, slab = 0;
  for (bool first = true;; first = false) {
    bool mine = lane() < n && holds(load_acquire(&rows[lane() & (n - 1)].span), t);
    u32 votes = ballot(ALL, mine);
    if (votes) {
      u64 array = mine ? load_relaxed(&rows[lane() & (n - 1)].array) : 0;
      return array_of(s, shfl(ALL, array, ffs(votes)));
    }
    // The updater may add a slab meanwhile: one lane reads for all.
    if (lane() == 0) slab = load_acquire(first ? &h->slab : &slab_at(s, slab)->next);
    slab = shfl(ALL, slab, 0);
    sync_warp(ALL);
    if (slab == 0) return Array{(u32*)s.pool, 0};
    rows = slab_at(s, slab)->rows;
    n = SLAB_ROWS;
  }
}

// Whether time t sees entry i. One lane.
DEV bool visible(Array a, u32 i, u32 t) { return (PIPELINE_HASH ? load_relaxed(&a.p[a.n + i]) : a.p[a.n + i]) < t && t <= load_relaxed(&a.p[2 * (u64)a.n + i]); }

// A set of edge labels: all, or the bits of some words.
struct Labels {
  const u32* bits; // null: all labels
};

DEV bool has_label(Array a, u32 i, Labels l) {
  if (!l.bits) return true;
  u32 x = a.p[3 * (u64)a.n + i];
  return l.bits[x >> 5] >> (x & 31) & 1;
}

#if PIPELINE_HASH
#include "pipeline/store_hash.cuh"
#else

// The vertex of entry i.
DEV u32 id_at(Array a, u32 i) { return a.p[i]; }

// Whether time t sees x with one of the labels. One lane.
DEV bool contains(Array a, u32 x, u32 t, Labels l) {
  for (u32 i = lower_bound(a.p, a.n, x); i < a.n && a.p[i] == x; i++)
    if (visible(a, i, t) && has_label(a, i, l)) return true;
  return false;
}

// Whether time t sees entry i with one of the labels, and no entry of the same id before it. One lane.
DEV bool stands_for(Array a, u32 i, u32 t, Labels l) {
  if (!visible(a, i, t) || !has_label(a, i, l)) return false;
  for (u32 j = i; j > 0 && a.p[j - 1] == a.p[i]; j--)
    if (visible(a, j - 1, t) && has_label(a, j - 1, l)) return false;
  return true;
}

#endif
#endif
