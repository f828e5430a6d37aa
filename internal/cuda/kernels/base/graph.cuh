// The data graph as kernels see it: adjacency in compressed rows, neighbours
// ascending by id, ids in weft's degree order.
#ifndef WEFT_GRAPH
#define WEFT_GRAPH
#include "base/setops.cuh"

// Neighbour lists: list v is adj[off[v] … off[v+1]). Or sparse ones, of which few vertices have any: the list of row i is
// adj[rows[i] … rows[i+1]), and sparse_row finds the row of a vertex in words.
struct Lists {
  union {
    const u64* off; // vertices+1 offsets
    const u32x4* words;
  };
  const u32* adj;
  union {
    const u64* first; // first[v]: the offset in adj of v's first neighbour above v; null: look for it
    const u32* rows;
  };
};

// Whether v has a sparse list, and the row of it. A word is 64 bits of a bitmap, low half first, and the number of the first one. Level 0
// has a bit for each vertex with a list, numbered by row, and level k+1 one for each word of level k that is stored, numbered by its
// place. Of the last level all words are stored, and it is the first. A step down is one load of 16 bytes. Mostly there are one or two, as a
// word serves 64 vertices or words. Host twin: kir.Sparse.Row. One lane.
DEV bool sparse_row(const u32x4* words, u32 levels, u32 v, u32& row) {
  u32 at = (u32)((u64)v >> 6 * levels);
  ROLLED for (u32 k = levels; k-- > 0;) {
    const u32x4 w = ldg(words + at);
    const u64 has = (u64)w.y << 32 | w.x, bit = 1ull << (v >> 6 * k & 63);
    if (!(has & bit)) return false;
    at = w.z + popc(has & (bit - 1));
  }
  row = at;
  return true;
}

// Where the places begin in Adj::cache, in ids (HeadIDs of package session), and the mark of a copy of a part.
#define CACHE_HEAD 16
#define CACHE_PART 0x80000000u

#ifdef WEFT_CACHED
// Lists in host memory, of which some have a copy in device memory: those that a search reads most. One place finds a list
// where it is. off and first are not read for that.
//
// A list is its length, the number of ids below the vertex's own, and the ids: list v is laid so in adj at a place that
// follows from off (laid lists of package session). A copy is the same. With CACHE_PART beside the second number only the ids
// below are there, and before them the place of the list in adj.
//
// cache begins with a CacheHead, and has a place for each vertex. Places count in units of 1 << shift bytes.
struct Adj : Lists {
  u64 levels;       // of bitmaps; 0: lists are not sparse
  const u32* cache; // null: lists are adj[off[v] … off[v+1]), without copies
  u64 shift;
};

// Which places are those of copies: the count from first on, which count from base. All others count from Adj::adj.
struct CacheHead {
  u32 base_low, base_high, first, count;
  u32 block, block_end; // the vertices that this sweep of the search asks the lists of; 0, ~0: all
  u32 roots, roots_end; // the vertices that may have some of them as neighbours
  // A sweep over columns, of which row_end is not 0, has of each list the ids block … block_end-1: list v is ids[rows[v] … rows[v+1]).
  const u32* rows; // never null
  const u32* ids;
  const u64* marks; // how many entries the columns below id i << shift have: marks[i]
  u32 row_end, shift; // vertices from row_end on have no list
};
DEV Adj adj_of(const Lists& l) {
  Adj a;
  a.off = l.off, a.adj = l.adj, a.first = l.first, a.levels = 0, a.cache = 0, a.shift = 0;
  return a;
}

// Where v's list is, or a copy of it or of a part. Callers choose between places and never between addresses of which
// one may be null: with those, nvcc 13.0 made code of the search that read at address 0
// (docs/notes/2026-11-23-gpu-out-of-core.md).
DEV u32 place_of(const Adj& a, u32 v) { return ldg(a.cache + CACHE_HEAD + v); }

DEV const u32* list_at(const Adj& a, u32 place) {
  const u32x4 head = ldg((const u32x4*)a.cache);
  const u64 base = place - head.z < head.w ? (u64)head.y << 32 | head.x : (u64)a.adj;
  return (const u32*)(base + ((u64)place << a.shift));
}

// The whole list, head included, where c is v's list or a copy.
DEV const u32* whole_of(const Adj& a, const u32* c) { return c[1] & CACHE_PART ? list_at(a, c[2]) : c; }
#else
struct Adj : Lists {
  u64 levels; // of bitmaps; 0: lists are not sparse
};
DEV Adj adj_of(const Lists& l) {
  Adj a;
  a.off = l.off, a.adj = l.adj, a.first = l.first, a.levels = 0;
  return a;
}
#endif

// A column of 64-bit values; valid has a bit for each row that has one, null:
// all have.
struct Column {
  const u64* words;
  const u64* valid;
};

// v's neighbours.
DEV Set list(const Adj& a, u32 v) {
#ifdef WEFT_CACHED
  if (a.cache) {
    const u32* c = whole_of(a, list_at(a, place_of(a, v)));
    return Set{c + 2, c[0]};
  }
#endif
  u64 b = a.off[v];
  return Set{a.adj + b, (u32)(a.off[v + 1] - b)};
}

DEV u32 degree(const Adj& a, u32 v) {
#ifdef WEFT_CACHED
  if (a.cache) return list_at(a, place_of(a, v))[0];
#endif
  return (u32)(a.off[v + 1] - a.off[v]);
}

// v's neighbours with smaller ids (of higher or equal degree in one class).
DEV Set below(const Adj& a, u32 v) {
#ifdef WEFT_CACHED
  if (a.cache) {
    const u32* c = list_at(a, place_of(a, v));
    const u32 n = c[1];
    return Set{c + 2 + (n >> 31), n & ~CACHE_PART};
  }
#endif
  u64 b = a.off[v];
  if (a.first) return Set{a.adj + b, (u32)(a.first[v] - b)};
  Set s = list(a, v);
  return Set{s.p, lower_bound(s.p, s.n, v)};
}

// v's neighbours with larger ids.
DEV Set above(const Adj& a, u32 v) {
#ifdef WEFT_CACHED
  if (a.cache) {
    const u32* c = whole_of(a, list_at(a, place_of(a, v)));
    return Set{c + 2 + c[1], c[0] - c[1]};
  }
#endif
  u64 e = a.off[v + 1];
  if (a.first) return Set{a.adj + a.first[v], (u32)(e - a.first[v])};
  Set s = list(a, v);
  u32 k = lower_bound(s.p, s.n, v);
  return Set{s.p + k, s.n - k};
}

// The place among all lists of the element of v's list at p.
DEV u64 place_in(const Adj& a, u32 v, const u32* p) {
#ifdef WEFT_CACHED
  if (a.cache) { // p may be in a copy of a part or in the whole list
    const Set s = below(a, v);
    if (p >= s.p && p <= s.p + s.n) return a.off[v] + (u64)(p - s.p);
    return a.off[v] + (u64)(p - list(a, v).p);
  }
#endif
  return (u64)(p - a.adj);
}

// Where the ids of v's list are: the one at place i among all lists, which is in it, is at places(a, v)[i].
DEV const u32* places(const Adj& a, u32 v) {
#ifdef WEFT_CACHED
  if (a.cache) return (const u32*)((u64)list(a, v).p - 4 * a.off[v]);
#endif
  return a.adj;
}

// An adjacency whose lists are sparse. Generated code knows which are, so that the choice takes no time.
struct SparseAdj {
  const Adj& a;
};
DEV bool row_of(SparseAdj s, u32 v, u32& row) { return sparse_row(s.a.words, (u32)s.a.levels, v, row); }
DEV Set list(SparseAdj s, u32 v) {
  u32 row;
  if (!row_of(s, v, row)) return Set{s.a.adj, 0};
  const u32 b = ldg(s.a.rows + row);
  return Set{s.a.adj + b, ldg(s.a.rows + row + 1) - b};
}
DEV u32 degree(SparseAdj s, u32 v) { return list(s, v).n; }
DEV Set below(SparseAdj a, u32 v) {
  const Set s = list(a, v);
  return Set{s.p, lower_bound(s.p, s.n, v)};
}
DEV Set above(SparseAdj a, u32 v) {
  const Set s = list(a, v);
  const u32 k = lower_bound(s.p, s.n, v);
  return Set{s.p + k, s.n - k};
}
// The row of the first sparse list of a vertex above v: the number of lists of vertices up to v. Where a bitmap lacks the bit of v's
// word, these lists end with the last one of the stored word before it. Host twin: the lists counted in turn. One lane.
DEV u32 rows_up_to(const u32x4* words, u32 levels, u32 v) {
  u32 at = (u32)((u64)v >> 6 * levels), first = 0; // first: where the level's words begin
  bool all = false;                               // all lists of the word are of vertices below v
  ROLLED for (u32 k = levels; k-- > 0;) {
    const u32x4 w = ldg(words + at);
    const u64 has = (u64)w.y << 32 | w.x, bit = 1ull << (v >> 6 * k & 63);
    const u32 next = w.z + popc(all ? has : has & (k ? bit - 1 : bit | (bit - 1)));
    if (k == 0) return next;
    first = ldg(words + first).z;
    if (!all && (has & bit)) {
      at = next;
      continue;
    }
    if (next == first) return 0;
    at = next - 1, all = true;
  }
  return 0; // there is a level
}

// The number of entries in the lists of vertices below v, which may be the number of vertices. One lane.
DEV u64 entries_below(const Adj& a, u32 v) { return a.off[v]; }
DEV u64 entries_below(SparseAdj s, u32 v) { return v ? ldg(s.a.rows + rows_up_to(s.a.words, (u32)s.a.levels, v - 1)) : 0; }

DEV u64 place_in(SparseAdj a, u32, const u32* p) { return (u64)(p - a.a.adj); }
DEV const u32* places(SparseAdj a, u32) { return a.a.adj; }

// An adjacency that code chooses while it runs, as adjacency(q, k) does. Without sparse lists in the program it is as any other.
template <bool sparse> struct ChosenAdj {
  const Adj& a;
};
template <class Q> DEV auto adjacency(const Q& q, u32 k) { return ChosenAdj<Q::sparse>{q.adj[k]}; }
template <bool sparse> DEV Set list(ChosenAdj<sparse> c, u32 v) {
  if (sparse && c.a.levels) return list(SparseAdj{c.a}, v);
  return list(c.a, v);
}
template <bool sparse> DEV u32 degree(ChosenAdj<sparse> c, u32 v) {
  if (sparse && c.a.levels) return degree(SparseAdj{c.a}, v);
  return degree(c.a, v);
}

// Lists in the order of their places: list i begins at place begin(i) among all, and is vertex(i)'s. from(g, v) is the first
// list of a vertex of at least v, in all lanes of g.
struct ListOrder {
  const u64* off;
  u32 n;

  DEV u64 begin(u32 i) const { return off[i]; }
  DEV u32 vertex(u32 i) const { return i; }
  template <class G> DEV u32 from(G, u32 v) const { return v; }
};
struct SparseOrder {
  const u32* rows;
  const u32* vertices; // of rows, ascending
  u32 n;

  DEV u64 begin(u32 i) const { return rows[i]; }
  DEV u32 vertex(u32 i) const { return vertices[i]; }
  template <class G> DEV u32 from(G g, u32 v) const { return lower_bound(g, vertices, n, v); }
};

// The last of lists first … end-1 that begins at a place or before it. There is one, and it has entries, as `end` begins behind the place. Each
// round leaves a 32nd part of the lists. Collective for a warp.
template <class O> DEV u32 list_at_place(Warp g, const O& lists, u32 first, u32 end, u64 place) {
  for (u32 n = end - first; n > 1;) {
    const u32 step = (n + 31) / 32, at = g.rank() * step;
    const u32 skip = (popc(g.ballot(at < n && lists.begin(first + at) <= place)) - 1) * step;
    first += skip;
    n = min(step, n - skip);
  }
  return first;
}

// Whether v is in u's list. One lane; the caller puts the vertex with the
// shorter list first.
template <class A> DEV bool adjacent(const A& a, u32 u, u32 v) { return contains(list(a, u), v); }

// Whether v is in u's list, by the shorter of the two lists that can tell: rev
// has the lists of a seen from their other ends. One lane.
template <class A, class B> DEV bool adjacent(const A& a, const B& rev, u32 u, u32 v) {
  Set there = list(a, u), back = list(rev, v);
  return back.n < there.n ? contains(back, u) : contains(there, v);
}

// Where v is among all lists: places edge_first … edge_end-1, in u's list. v may be
// there more than once, or never. One lane.
DEV u64 edge_first(const Adj& a, u32 u, u32 v) {
  Set s = list(a, u);
  return a.off[u] + lower_bound(s.p, s.n, v);
}
DEV u64 edge_end(const Adj& a, u32 u, u32 v) {
  Set s = list(a, u);
  return a.off[u] + (v == ~0u ? s.n : lower_bound(s.p, s.n, v + 1));
}

// The vertex, of n, in whose list place i among all lists is. One lane.
DEV u32 edge_source(const Adj& a, u32 n, u64 i) {
  u32 v = 0;
  for (n -= 1; n > 0;) {
    const u32 half = (n + 1) >> 1;
    if (a.off[v + half] <= i) v += half, n -= half;
    else n = half - 1;
  }
  return v;
}

// A bit by the number of a row, which may have more than 32 bits.
DEV bool bit_at(const u64* words, u64 row) { return words[row >> 6] >> (row & 63) & 1; }

// A column's value at a row, and whether it has one.
DEV i64 cell_int(const Column& c, u64 row) { return (i64)c.words[row]; }
DEV f64 cell_float(const Column& c, u64 row) { return ((const f64*)c.words)[row]; }
DEV bool has_cell(const Column& c, u64 row) { return !c.valid || bit_at(c.valid, row); }

// The remainder of x / y with the quotient cut to a whole number. Every step is
// exact: y is doubled to the largest multiple within x, and halved back.
DEV f64 float_mod(f64 x, f64 y) {
  f64 left = x < 0 ? -x : x, by = y < 0 ? -y : y;
  if (!(by > 0) || !(left - left == 0)) return 0.0 / 0.0; // not a number
  if (!(by - by == 0) || left < by) return x;
  f64 step = by;
  while (step + step <= left) step += step;
  for (; step >= by; step *= 0.5)
    if (left >= step) left -= step;
  return x < 0 ? -left : left;
}

#endif
