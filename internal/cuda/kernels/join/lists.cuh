// The neighbour lists of a join, in one of five layouts:
//
//   CSR       of a relation: an offset for each vertex of the graph
//   sparse    of a relation in which few vertices have lists: a bitmap of these, whose bits
//             before a vertex are its row, with levels above it where few words have bits
//   hashed    GSI's PCSR of one edge label (definition 5): a hash of the vertex says in which
//             group of 16 pairs its offset is, and a warp reads a group in one transaction of
//             128 bytes
//   interval  GENEVA's interval-PCSR of one edge label: an index of runs of consecutive ids,
//             which is small enough for shared memory, and an offset for each vertex in a run
//   ranked    the same where the runs are many: a bitmap of the vertices in place of the index of
//             runs, with levels above it as in sparse lists. A word has 32 bits and the number of
//             bits before it, so that one read of 8 bytes gives the row of a vertex
//
// join_list(g, l, v) finds v's list in any of them. All lanes of the group g call it with equal
// arguments, and all get the list. A vertex that has no edge of the label has an empty list. The
// layout is the same for all lanes of a launch, so that the choice costs a uniform branch.
//
// Host twins: graph.CSR.List, graph.Sparse.List, layout.Hashed.List and layout.Interval.List,
// which finds rows as ranked lists do.
#ifndef JOIN_LISTS
#define JOIN_LISTS
#include "base/graph.cuh"

enum : u32 { JOIN_CSR, JOIN_HASHED, JOIN_INTERVAL, JOIN_SPARSE, JOIN_RANKED };

struct JoinLists {
  const u32* adj;
  const u64* off;    // CSR: list v is adj[off[v] … off[v+1])
  const u64* groups; // hashed: pairs, the vertex in the low half and its offset in the high half
                     // sparse: words of bitmaps (sparse_row)
                     // ranked: words of bitmaps, in the low half, and that number in the high half
  const u32* first;  // interval: the first id of each run, ascending
  const u32* row;    // interval: the row of first[i]; one more: the number of rows
                     // ranked: the first word of each level
  const u32* place;  // interval, sparse, ranked: list of row i is adj[place[i] … place[i+1])
  u32 kind;
  u32 n; // CSR: vertices; hashed: groups that vertices hash to; interval: runs;
         // sparse, ranked: levels
};

#define GROUP_PAIRS 16u
#define NO_GROUP 0xffffffffu

// The finalizer of 32-bit MurmurHash3. Host twin: layout.Hash32.
DEV u32 hash32(u32 v) {
  v ^= v >> 16;
  v *= 0x85ebca6bu;
  v ^= v >> 13;
  v *= 0xc2b2ae35u;
  return v ^ v >> 16;
}

// v's list in a hashed PCSR. The last pair of a group is (next group or NO_GROUP, end of the
// group's last list).
template <class G> DEV Set hashed_list(G g, const JoinLists& l, u32 v) {
  const u32 last = GROUP_PAIRS - 1;
  for (u32 at = l.n ? hash32(v) % l.n : NO_GROUP; at != NO_GROUP;) {
    const u64* group = l.groups + (u64)at * GROUP_PAIRS;
    u64 pair = 0;
    // One round for a warp or half of one.
    for (u32 k = 0; k < GROUP_PAIRS; k += G::size()) {
      u32 mine = k + (g.rank() & last);
      pair = ldg(group + mine);
      u32 hit = g.ballot(mine < last && (u32)pair == v);
      if (hit) {
        u32 i = ctz(hit);
        u32 begin = (u32)(g.shfl(pair, i) >> 32);
        u32 end = (u32)((G::size() < GROUP_PAIRS ? ldg(group + k + i + 1) : g.shfl(pair, i + 1)) >> 32);
        return Set{l.adj + begin, end - begin};
      }
    }
    at = (u32)g.shfl(pair, min(G::size(), GROUP_PAIRS) - 1);
  }
  return Set{l.adj, 0};
}

// v's list in an interval-PCSR.
template <class G> DEV Set interval_list(G g, const JoinLists& l, u32 v) {
  u32 runs = lower_bound(g, l.first, l.n, v + 1); // runs that do not begin above v
  if (runs == 0) return Set{l.adj, 0};
  u32 row = l.row[runs - 1] + (v - l.first[runs - 1]);
  if (row >= l.row[runs]) return Set{l.adj, 0};
  u32 begin = ldg(l.place + row);
  return Set{l.adj + begin, ldg(l.place + row + 1) - begin};
}

// v's list of sparse lists.
template <class G> DEV Set sparse_list(G, const JoinLists& l, u32 v) {
  u32 row;
  if (!sparse_row((const u32x4*)l.groups, l.n, v, row)) return Set{l.adj, 0};
  u32 begin = ldg(l.place + row);
  return Set{l.adj + begin, ldg(l.place + row + 1) - begin};
}

// v's list in ranked lists. A bit of a level above is a word of the level below that is stored.
template <class G> DEV Set ranked_list(G, const JoinLists& l, u32 v) {
  u32 at = (u32)((u64)v >> 5 * l.n);
  for (u32 k = l.n; k-- > 0;) {
    u64 word = ldg(l.groups + ((u64)(k ? ldg(l.row + k) : 0) + at)); // level 0 is the first
    u32 has = (u32)word, bit = 1u << (v >> 5 * k & 31);
    if (!(has & bit)) return Set{l.adj, 0};
    at = (u32)(word >> 32) + popc(has & (bit - 1));
  }
  u32 begin = ldg(l.place + at);
  return Set{l.adj + begin, ldg(l.place + at + 1) - begin};
}

template <class G> DEV Set csr_list(G, const JoinLists& l, u32 v) {
  u64 begin = ldg(l.off + v);
  return Set{l.adj + begin, (u32)(ldg(l.off + v + 1) - begin)};
}

template <class G> DEV Set join_list(G g, const JoinLists& l, u32 v) {
  switch (l.kind) {
  case JOIN_HASHED: return hashed_list(g, l, v);
  case JOIN_INTERVAL: return interval_list(g, l, v);
  case JOIN_SPARSE: return sparse_list(g, l, v);
  case JOIN_RANKED: return ranked_list(g, l, v);
  }
  return csr_list(g, l, v);
}

// The same by one lane alone.
DEV Set join_list(const JoinLists& l, u32 v) { return join_list(Group<1>(), l, v); }

// The length of v's list. One lane.
DEV u32 join_degree(const JoinLists& l, u32 v) { return join_list(l, v).n; }

// Lane k's list is that of the k-th of `backs` backward neighbours, which back[k] says as JoinGroup
// does: adjacency << 8 | level << 1. Each lane finds its own, except in hashed PCSR, where the whole
// warp reads the group of each. Collective for the warp.
DEV Set join_own(const JoinLists* lists, const u32* back, u32 backs, const u32* row) {
  const bool on = lane() < backs;
  const u32 b = on ? back[lane()] : 0;
  Set mine = {0, 0};
  if (any(ALL, on && lists[b >> 8].kind == JOIN_HASHED)) {
    for (u32 k = 0; k < backs; k++) {
      Set s = join_list(Warp(), lists[back[k] >> 8], row[back[k] >> 1 & 31]);
      if (lane() == k) mine = s;
    }
  } else if (on) {
    mine = join_list(lists[b >> 8], row[b >> 1 & 31]);
  }
  return mine;
}

// The words of shared memory that the index of an interval-PCSR takes; 0 in other layouts.
DEV u32 join_index_words(const JoinLists& l) { return l.kind == JOIN_INTERVAL ? 2 * l.n + 1 : 0; }

// Copies the index of an interval-PCSR to shared memory, of `room` words, and has l read it there.
// It returns the number of words that it took: 0 where the index does not fit, and is read where
// it was. All threads of the block call it with equal arguments, and sync_block() before a
// look-up.
DEV u32 join_keep_index(JoinLists& l, u32* memory, u32 room) {
  u32 words = join_index_words(l);
  if (words == 0 || words > room) return 0;
  for (u32 i = thread(); i < words; i += threads()) memory[i] = i < l.n ? l.first[i] : l.row[i - l.n];
  l.first = memory;
  l.row = memory + l.n;
  return words;
}

#endif
