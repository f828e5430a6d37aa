// A set in shared memory for many membership tests.
//
// A small set is a hash table of its elements. A larger one is a table of bits, two for each
// element (a Bloom filter). Nearly every x that is not in the set finds a bit missing. The
// others are looked up in the list itself.
//
// The table is zero before a sieve is put in and after it is taken out. The host twin is a map.
#ifndef WEFT_SIEVE
#define WEFT_SIEVE
#include "base/setops.cuh"

// All threads of the block as one group, for functions without votes and shuffles.
struct Block {
  static DEV u32 size() { return threads(); }
  static DEV u32 rank() { return thread(); }
  static DEV void sync() { sync_block(); }
};

struct Sieve {
  Set set;
  u32* table; // 2^log slots of x+1, 0: free; or 2^log bits
  u32 log;
  bool keys;
};

DEV u32 sieve_hash(u32 x, u32 log) { return (x * 0x9e3779b1u) >> (32 - log); }
DEV u32 sieve_hash2(u32 x, u32 log) { return (x * 0x85ebca6bu) >> (32 - log); }

// The words of the table that a sieve uses.
DEV u32 sieve_words(const Sieve& s) { return 1u << (s.keys ? s.log : s.log - 5); }

// Puts a set in, which has elements, by all threads of g. The table has
// 2^(room-5) words, room at most 31 and at least 10.
template <class G> DEV Sieve sieve(G g, u32* table, u32 room, Set set) {
  Sieve s = {set, table, 0, false};
  u32 want = 32 - clz(set.n - 1); // at least this many bits number the elements
  s.keys = want + 2 + 5 <= room;  // a quarter full at most, an eighth where there is room
  s.log = s.keys ? min(max(want + 3, 5u), room - 5) : min(want + 5, room);
  for (u32 i = g.rank(); i < set.n; i += g.size()) {
    u32 x = set.p[i];
    if (!s.keys) {
      u32 a = sieve_hash(x, s.log), b = sieve_hash2(x, s.log);
      atomic_or(&table[a >> 5], 1u << (a & 31));
      atomic_or(&table[b >> 5], 1u << (b & 31));
      continue;
    }
    u32 h = sieve_hash(x, s.log);
    while (atomic_cas(&table[h], 0u, x + 1) != 0) h = (h + 1) & ((1u << s.log) - 1);
  }
  g.sync();
  return s;
}

// Makes the table zero again. Nobody may ask any more.
template <class G> DEV void clear(G g, const Sieve& s) {
  g.sync();
  for (u32 i = g.rank(); i < sieve_words(s); i += g.size()) s.table[i] = 0;
  g.sync();
}

// Whether x is in the set. One lane; false for ~0.
DEV bool has(const Sieve& s, u32 x) {
  u32 h = sieve_hash(x, s.log);
  if (!s.keys) {
    if (!(s.table[h >> 5] >> (h & 31) & 1)) return false;
    h = sieve_hash2(x, s.log);
    return (s.table[h >> 5] >> (h & 31) & 1) && contains(s.set, x);
  }
  for (;; h = (h + 1) & ((1u << s.log) - 1)) {
    u32 k = s.table[h];
    if (k == x + 1) return k != 0;
    if (k == 0) return false;
  }
}

#endif
