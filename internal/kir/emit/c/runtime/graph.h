// The data graph: neighbour lists in compressed rows, bitmaps, columns. The text
// of a program has the struct Graph before this is included.
#ifndef WEFT_GRAPH
#define WEFT_GRAPH
#include "setops.h"

// 64 bits of a bitmap, and the number of the first.
typedef struct {
  u64 has;
  u32 first, zero;
} Word;

// Neighbour lists: v's is adj[off[v] … off[v+1]). Sparse ones, of which few vertices have any, have no off: row i's list
// is adj[rows[i] … rows[i+1]), and w_row finds the row of a vertex.
typedef struct {
  const u64 *off;
  const u32 *adj;
  const u64 *first; // where v's neighbours above v begin; null: look for it
  const u32 *hubs;  // the number of v among the hubs, 0: none; null: no hubs
  u64 most;         // the least number of neighbours of a hub
  // Of sparse lists, whose hubs are numbered by row. Level 0 of the bitmaps has a bit for each vertex with a list, numbered by row, and
  // level k+1 one for each word of level k that is stored, numbered by its place. Of the last level all words are, and it is the first.
  const Word *words;
  const u32 *rows;
  u64 levels;
} Adj;

// A hub has a long list in the lists of adj[list].
typedef struct {
  u64 *bits; // null: not made yet
  u32 vertex, list;
} Hub;

// A column of 64-bit values; valid has a bit for each row that has one, null:
// all have.
typedef struct {
  const u64 *words;
  const u64 *valid;
} Column;

static inline Set w_list(const Adj *a, u32 v) {
  const u64 b = a->off[v], n = a->off[v + 1] - b;
  return (Set){a->adj + b, (u32)n, W_RARE(n >= a->most) ? a->hubs[v] : 0};
}

// Whether v has a sparse list, and the row of it.
static inline bool w_row(const Adj *a, u32 v, u32 *row) {
  u32 k = (u32)a->levels, at = (u32)((u64)v >> 6 * k);
  while (k-- > 0) {
    const Word w = a->words[at];
    const u32 bit = v >> 6 * k & 63;
    if (!(w.has >> bit & 1)) return false;
    at = w.first + (u32)__builtin_popcountll(w.has & ((1ull << bit) - 1));
  }
  *row = at;
  return true;
}

static inline Set w_sparse_list(const Adj *a, u32 v) {
  u32 row;
  if (!w_row(a, v, &row)) return (Set){a->adj, 0, 0};
  const u32 b = a->rows[row], n = a->rows[row + 1] - b;
  return (Set){a->adj + b, n, W_RARE(n >= a->most) ? a->hubs[row] : 0};
}

static inline Set w_either_list(const Adj *a, u32 v) { return a->levels ? w_sparse_list(a, v) : w_list(a, v); }

static inline u32 w_sparse_degree(const Adj *a, u32 v) {
  u32 row;
  return w_row(a, v, &row) ? a->rows[row + 1] - a->rows[row] : 0;
}

static inline Set w_sparse_below(const Adj *a, u32 v) {
  Set s = w_sparse_list(a, v);
  s.n = w_lower(s.p, s.n, v);
  return s;
}

static inline Set w_sparse_above(const Adj *a, u32 v) {
  Set s = w_sparse_list(a, v);
  const u32 k = w_lower(s.p, s.n, v);
  s.p += k;
  s.n -= k;
  return s;
}

static inline u32 w_degree(const Adj *a, u32 v) { return (u32)(a->off[v + 1] - a->off[v]); }

// v's neighbours with smaller ids.
static inline Set w_below(const Adj *a, u32 v) {
  Set s = w_list(a, v);
  s.n = a->first ? (u32)(a->first[v] - a->off[v]) : w_lower(s.p, s.n, v);
  return s;
}

// v's neighbours with larger ids.
static inline Set w_above(const Adj *a, u32 v) {
  Set s = w_list(a, v);
  const u32 k = a->first ? (u32)(a->first[v] - a->off[v]) : w_lower(s.p, s.n, v);
  s.p += k;
  s.n -= k;
  return s;
}

// Whether v is in u's list; rev has the lists seen from their other ends.
static inline bool w_adjacent(const Adj *a, const Adj *rev, u32 u, u32 v) {
  const Set there = w_list(a, u), back = w_list(rev, v);
  return back.n < there.n ? w_contains(back, u) : w_contains(there, v);
}

// The same where one of them is sparse, or both.
static inline bool w_sparse_adjacent(const Adj *a, const Adj *rev, u32 u, u32 v) {
  const Set there = w_either_list(a, u), back = w_either_list(rev, v);
  return back.n < there.n ? w_contains(back, u) : w_contains(there, v);
}

// Where v is among all lists: places edge_first … edge_end-1, in u's list.
static inline u64 w_edge_first(const Adj *a, u32 u, u32 v) {
  const Set s = w_list(a, u);
  return a->off[u] + w_lower(s.p, s.n, v);
}
static inline u64 w_edge_end(const Adj *a, u32 u, u32 v) {
  const Set s = w_list(a, u);
  return a->off[u] + (v == ~0u ? s.n : w_lower(s.p, s.n, v + 1));
}

// The vertex, of n, in whose list place i among all lists is.
static inline u32 w_edge_source(const Adj *a, u32 n, u64 i) {
  u32 v = 0;
  for (n -= 1; n > 0;) {
    const u32 half = n - n / 2;
    if (a->off[v + half] <= i) v += half, n -= half;
    else n = half - 1;
  }
  return v;
}

static inline i64 w_cell_int(Column c, u64 row) { return (i64)c.words[row]; }
static inline f64 w_cell_float(Column c, u64 row) {
  f64 x;
  __builtin_memcpy(&x, &c.words[row], 8);
  return x;
}
static inline bool w_has_cell(Column c, u64 row) { return !c.valid || w_bit(c.valid, row); }

// The remainder of x / y with the quotient cut to a whole number. Every step is
// exact: y is doubled to the largest multiple within x, and halved back.
static f64 w_float_mod(f64 x, f64 y) {
  f64 left = x < 0 ? -x : x, by = y < 0 ? -y : y;
  if (!(by > 0) || !(left - left == 0)) return 0.0 / 0.0; // not a number
  if (!(by - by == 0) || left < by) return x;
  f64 step = by;
  while (step + step <= left) step += step;
  for (; step >= by; step *= 0.5)
    if (left >= step) left -= step;
  return x < 0 ? -left : left;
}

// What every Graph begins with.
struct GraphHead {
  Hub *hub; // by number; [0] is none
  u64 words; // of a bitmap over all ids
  const Adj *adj;
};

static const u64 *w_hub(const Graph *q, u32 hub) {
  const struct GraphHead *g = (const struct GraphHead *)q;
  Hub *h = &g->hub[hub];
  u64 *bits = __atomic_load_n(&h->bits, __ATOMIC_ACQUIRE);
  if (W_LIKELY(bits != 0)) return bits;
  // Whoever is first keeps its own.
  u64 *made = (u64 *)__builtin_calloc(g->words, 8);
  if (!made) return 0;
  const Set s = w_either_list(&g->adj[h->list], h->vertex);
  for (u32 i = 0; i < s.n; ++i) made[s.p[i] >> 6] |= 1ull << (s.p[i] & 63);
  if (__atomic_compare_exchange_n(&h->bits, &bits, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  __builtin_free(made);
  return bits;
}

#endif
