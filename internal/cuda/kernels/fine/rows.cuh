// The candidate graph. It has a row for each pattern edge that the order uses and each
// candidate of the edge's first end: the candidates of the other end that are linked to it.
// Rows of all edges are numbered one after the other, each edge with a span of ranks. Row i is
// adj[off[i] … off[i+1]), ranks ascending.
//
// Membership of a rank in a row is tested far more often than rows are read. So a row is also a
// bitmap over the other end's span or, if that would be too much memory, an entry of one hash
// table for each member (gMatch, PVLDB 2026, §3).
#ifndef FINE_ROWS
#define FINE_ROWS
#include "fine/candidates.cuh"

// The rows of an edge. Go's type rowsOf.
struct Rows {
  u64 bits;        // the bitmaps' first word
  u32 row;         // the first row
  u32 from, to, adj;
  u32 first, span; // of the ranks of `from`
  u32 to_first, words; // of the ranks of `to`: the first, and the words of its bitmaps
  u32 unused[2];
};

// Go's type index.
struct Index {
  const Rows* rows;
  u32* sizes; // of a row
  const u64* off;
  u32* adj;
  u32* bits; // null: the table
  u64* keys; // its size is a power of two
  u64 slots; // less one
  u64 total; // rows
  u32 edges; // with rows
  u32 unused;
};

// The edge that row i belongs to.
DEV u32 edge_of(const Index& x, u32 i) {
  u32 lo = 0;
  for (u32 n = x.edges; n > 1;) {
    u32 half = n / 2;
    if (x.rows[lo + half].row <= i) lo += half;
    n -= half;
  }
  return lo;
}

// Where the search for a key begins. No key is 0, since rows count from 1 there.
DEV u64 key_of(u32 row, u32 rank) { return (u64)(row + 1) << 32 | rank; }
DEV u64 slot_of(const Index& x, u64 key) { return mulhi(key * 0x9e3779b97f4a7c15ull, x.slots + 1); }

// One lane.
DEV void put_key(const Index& x, u64 key) {
  for (u64 s = slot_of(x, key); atomic_cas(&x.keys[s], 0ull, key) != 0; s = (s + 1) & x.slots) {}
}
DEV bool has_key(const Index& x, u64 key) {
  for (u64 s = slot_of(x, key);; s = (s + 1) & x.slots) {
    u64 k = ldg(&x.keys[s]);
    if (k == key) return true;
    if (k == 0) return false;
  }
}

// sizes of all rows.
DEV void size_rows(const Run& run, const Candidates& c, const Index& x, const Graph& q) {
  Team g;
  teams_over(run, x.total, [&](u64 i) {
    const Rows& r = x.rows[edge_of(x, (u32)i)];
    u32 v = c.ids[r.first + ((u32)i - r.row)], n = 0;
    if (c.marks[v] >> r.from & 1) n = count_to(c, adjacency(q, r.adj), g, v, r.to);
    if (g.leader()) x.sizes[i] = n;
  });
}

// adj, and bits or keys, which hold zeros; nothing where sizes are not complete.
DEV void fill_rows(const Run& run, const Candidates& c, const Index& x, const Graph& q) {
  Team g;
  if (stopping(g, run)) return;
  teams_over(run, x.total, [&](u64 i) {
    u64 at = x.off[i];
    if (x.off[i + 1] == at) return;
    const Rows& r = x.rows[edge_of(x, (u32)i)];
    u64 words = r.bits + (u64)((u32)i - r.row) * r.words;
    Set s = list(adjacency(q, r.adj), c.ids[r.first + ((u32)i - r.row)]);
    for (u32 k = 0; k < s.n; k += Team::size()) {
      u32 w = k + g.rank() < s.n ? s.p[k + g.rank()] : 0;
      bool mine = k + g.rank() < s.n && (c.marks[w] >> r.to & 1);
      u32 votes = g.ballot(mine);
      if (mine) {
        u32 rank = (u32)c.rank[w], bit = rank - r.to_first;
        x.adj[at + popc(votes & g.below())] = rank;
        if (x.bits)
          atomic_or(&x.bits[words + (bit >> 5)], 1u << (bit & 31));
        else
          put_key(x, key_of((u32)i, rank));
      }
      at += popc(votes);
    }
  });
}

#endif
