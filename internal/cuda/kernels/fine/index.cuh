// The checks of a large pattern over its candidate graph: a table, which the same
// code serves for every pattern. A vertex is a rank here; name gives its id.
#ifndef FINE_INDEX
#define FINE_INDEX
#include "fine/rows.cuh"
#include "fine/stack.cuh"

// A pattern edge to an earlier level: the candidates are in row
// `row` + the rank there. Modulo 2^32 and 2^64.
struct Link {
  u64 bits; // the bitmap's word for rank 0 there, bit to_first
  u32 row, level;
  u32 to_first, words;
};

// No edge of adj from the vertex of that level.
struct Ban {
  u32 level, adj, back, unused; // back: the adjacency from the other end
};

// The conditions of a level, or of a block of the tail.
struct Place {
  u32 links_at, links, bans_at, bans;
  u32 apart;        // levels whose vertex must be another
  u32 below, above; // levels whose vertex must be larger, smaller
  u32 vertex;       // the pattern vertex; not of a block
};

// Pattern vertices of the tail that share candidates, at most four: blocks[s-1]
// counts the candidates of all in s, a set of them.
struct TailGroup {
  u32 members;
  u32 blocks[15];
};

// Go's type table.
struct Table {
  const Place* places; // levels, then blocks
  const Link* links;
  const Ban* bans;
  const TailGroup* groups;
  const u32* column; // of a level of the plan: the level here
  u32 levels, blocks, singles, group_count; // singles: blocks of one vertex, which come first
  u32 first, unused;                        // rank of the first candidate of level 0
};

typedef u128 Total;

#define FINE_TOO_MANY 1 // fault: more than 2^128-1 matches

struct Indexed {
  const Graph& q;
  const Candidates& c;
  const Index& x;
  const Table& t;

  static constexpr bool siblings = false;
  DEV u32 levels() const { return t.levels; }
  DEV u32 blocks() const { return t.blocks; }
  DEV u32 root(u64 i) const { return t.first + (u32)i; }
  DEV bool root_ok(u32 v) const { return c.marks[c.ids[v]] >> t.places[0].vertex & 1; }
  DEV u32 name(u32 v) const { return c.ids[v]; }
  DEV u32 column(u32 l) const { return t.column[l]; }

  DEV Set pivot(u32 l, Match m, u32& which) const { return pivot_of(t.places[l], m, which); }
  DEV bool valid(u32 l, Match m, u32 which, u32 v) const { return valid_in(t.places[l], m, which, v); }

  DEV bool sized(u32 b) const {
    const Place& p = t.places[t.levels + b];
    return p.links == 1 && p.bans == 0 && p.apart == 0;
  }
  DEV bool needed(u32 b) const { return b < t.singles; }
  DEV Set block_pivot(u32 b, Match m, u32& which) const { return pivot_of(t.places[t.levels + b], m, which); }
  DEV bool block_valid(u32 b, Match m, u32 which, u32 v) const { return valid_in(t.places[t.levels + b], m, which, v); }

  DEV Total combine(const Run& run, Match n) const {
    u128 all = 1;
    for (u32 i = 0; i < t.group_count; i++) {
      u128 w = ways(t.groups[i], n);
      if (w == 0) return 0;
      if (over(all, w)) {
        fail(run, FINE_TOO_MANY, 0);
        return 0;
      }
      all *= w;
    }
    return all;
  }

private:
  DEV Set row(const Link& k, Match m) const {
    u32 i = k.row + m[k.level];
    u64 b = ldg(&x.off[i]);
    return Set{x.adj + b, (u32)(ldg(&x.off[i + 1]) - b)};
  }
  DEV bool has(const Link& k, Match m, u32 v) const {
    u32 r = m[k.level], b = v - k.to_first;
    // In a block v may be a candidate of another vertex, outside this one's span.
    if (x.bits) return b >> 5 < k.words && (ldg(&x.bits[k.bits + (u64)r * k.words + (b >> 5)]) >> (b & 31) & 1);
    return has_key(x, key_of(k.row + r, v));
  }
  DEV Set pivot_of(const Place& p, Match m, u32& which) const {
    const Link* k = t.links + p.links_at;
    Set best = row(k[0], m);
    which = 0;
    for (u32 i = 1; i < p.links; i++) {
      Set s = row(k[i], m);
      if (s.n < best.n) {
        best = s;
        which = i;
      }
    }
    return best;
  }
  DEV bool valid_in(const Place& p, Match m, u32 which, u32 v) const {
    for (u32 j = p.apart; j; j &= j - 1)
      if (m[ctz(j)] == v) return false;
    for (u32 j = p.below; j; j &= j - 1)
      if (v >= m[ctz(j)]) return false;
    for (u32 j = p.above; j; j &= j - 1)
      if (v <= m[ctz(j)]) return false;
    for (u32 i = 0; i < p.links; i++)
      if (i != which && !has(t.links[p.links_at + i], m, v)) return false;
    for (u32 i = 0; i < p.bans; i++) {
      Ban b = t.bans[p.bans_at + i];
      if (adjacent(adjacency(q, b.adj), adjacency(q, b.back), name(m[b.level]), name(v))) return false;
    }
    return true;
  }

  // Whether a * b passes 2^128-1; b is not 0.
  static DEV bool over(u128 a, u128 b) {
    u64 a1 = (u64)(a >> 64), b1 = (u64)(b >> 64), a0 = (u64)a, b0 = (u64)b;
    if (a1 && b1) return true;
    u128 cross = (u128)a1 * b0 + (u128)b1 * a0; // one of them is 0
    return (cross >> 64) || (u64)cross + mulhi(a0, b0) < (u64)cross;
  }

  // The number of ways to give a group's members distinct candidates. It sums over the
  // partitions of the members: a block of b members, which share a candidate, counts (-1)^(b-1)
  // (b-1)! times, at its lowest member.
  static DEV u128 ways(const TailGroup& g, Match n) {
    if (g.members == 1) return n[g.blocks[0]];
    u128 f[16];
    f[0] = 1;
    for (u32 s = 1; s < 1u << g.members; s++) {
      u32 low = s & (0u - s), rest = s ^ low;
      u128 sum = 0;
      for (u32 b = rest;; b = (b - 1) & rest) {
        u32 k = popc(b);
        u128 term = f[rest ^ b] * n[g.blocks[(b | low) - 1]] * (k == 3 ? 6 : k == 2 ? 2 : 1);
        sum = k & 1 ? sum - term : sum + term;
        if (b == 0) break;
      }
      f[s] = sum;
    }
    return f[(1u << g.members) - 1];
  }
};

#endif
