// Kernels that a session runs by itself, and Go's Tools launches.
#include "base/prepare.cuh"
#include "base/scan.cuh"

// The next kernel reads the results of the one before, and a device may leave a kernel out. So
// each notes in turn that it ran, at the place where the host looks for the last of them.
struct Turn {
  u64* last; // null: nobody will look
  u64 mine;  // from 1
};

// Whether all kernels before this one ran; notes that this one does. The first statement
// of a kernel, the same in all threads.
DEV bool in_turn(const Turn& t) {
  if (!t.last) return true;
  u64 last = load_relaxed(t.last);
  if (last + 1 != t.mine && last != t.mine) return false; // another block may have noted it
  if (block() == 0 && thread() == 0) store_relaxed(t.last, t.mine);
  return true;
}

struct First {
  Turn turn;
  Lists adj;
  u64* first;
  u64 n;
};
WEFT_KERNEL(first, First) {
  if (in_turn(p.turn)) first_offsets(adj_of(p.adj), p.first, (u32)p.n);
}

// Prefix sums of u32 numbers: in u64, or in place modulo 2^32. In u64 they are zeros where
// a kernel was left out: other kernels write where they say before the host has looked.
struct Scan {
  Turn turn;
  const u32* in;
  u64* out;
  u64* sums;
  u64 n;
};
WEFT_KERNEL(wide_sums, Scan) {
  in_turn(p.turn);
  if (grid_rank() == 0) p.out[p.n] = 0;
  tile_sums(p.sums, p.n, [&](u64 i) {
    p.out[i] = 0;
    return (u64)p.in[i];
  });
}
WEFT_KERNEL(wide_top, Scan) {
  if (in_turn(p.turn)) scan_sums(p.sums, (p.n + SCAN_TILE - 1) / SCAN_TILE);
}
WEFT_KERNEL(wide_tiles, Scan) {
  u64 all = in_turn(p.turn) ? ~0ull : 0;
  scan_tiles(p.sums, p.n, [&](u64 i) { return (u64)p.in[i]; }, [&](u64 i, u64 s) {
    p.out[i] = s & all;
    if (i + 1 == p.n) p.out[p.n] = (s + p.in[i]) & all;
  });
}

struct Narrow {
  Turn turn;
  u32* data;
  u32* sums;
  u64 n;
};
WEFT_KERNEL(narrow_sums, Narrow) {
  if (in_turn(p.turn)) tile_sums(p.sums, p.n, [&](u64 i) { return p.data[i]; });
}
WEFT_KERNEL(narrow_top, Narrow) {
  if (in_turn(p.turn)) scan_sums(p.sums, (p.n + SCAN_TILE - 1) / SCAN_TILE);
}
WEFT_KERNEL(narrow_tiles, Narrow) {
  if (in_turn(p.turn)) scan_tiles(p.sums, p.n, [&](u64 i) { return p.data[i]; }, [&](u64 i, u32 s) { p.data[i] = s; });
}

struct Sort {
  Turn turn;
  const u32 *keys, *values;
  u32 *to_keys, *to_values, *counts;
  u64 n;
  u32 shift, unused;
};
WEFT_KERNEL(count_digits, Sort) {
  if (in_turn(p.turn)) sort_count(p.keys, p.counts, p.n, p.shift);
}
WEFT_KERNEL(move_digits, Sort) {
  if (in_turn(p.turn)) sort_move(p.keys, p.values, p.to_keys, p.to_values, p.counts, p.n, p.shift);
}

// The steps of the degree order.
struct Order {
  Turn turn;
  Lists adj;
  const u32* classes;
  const u64* new_off;
  u32 *keys, *values, *order, *place;
  u64 n;
};
// Descending degree: ascending complement.
WEFT_KERNEL(degree_keys, Order) {
  if (!in_turn(p.turn)) return;
  for (u64 v = grid_rank(); v < p.n; v += grid_size()) {
    p.keys[v] = ~degree(adj_of(p.adj), (u32)v);
    p.values[v] = (u32)v;
  }
}
WEFT_KERNEL(class_keys, Order) {
  if (!in_turn(p.turn)) return;
  for (u64 i = grid_rank(); i < p.n; i += grid_size()) p.keys[i] = p.classes[p.values[i]];
}
WEFT_KERNEL(places, Order) {
  if (!in_turn(p.turn)) return;
  for (u64 i = grid_rank(); i < p.n; i += grid_size()) {
    u32 v = p.order[i];
    p.place[v] = (u32)i;
    p.keys[i] = degree(adj_of(p.adj), v);
  }
}
// All neighbours of the vertices in new order, as (new id of the neighbour, new id
// of the vertex). Sorted by the first they are the lists of the graph turned
// around, which an undirected graph is itself.
WEFT_KERNEL(turned, Order) {
  if (!in_turn(p.turn)) return;
  for (u64 i = grid_rank() / 32; i < p.n; i += grid_size() / 32) {
    Set s = list(adj_of(p.adj), p.order[i]);
    for (u32 k = lane(); k < s.n; k += 32) {
      p.keys[p.new_off[i] + k] = p.place[s.p[k]];
      p.values[p.new_off[i] + k] = (u32)i;
    }
  }
}

struct Peel {
  Turn turn;
  Lists adj;
  u32 *degrees, *alive, *changed;
  u32 n, least;
};
WEFT_KERNEL(peel_start, Peel) {
  if (!in_turn(p.turn)) return;
  u64 rounded = ((u64)p.n + 63) / 64 * 64;
  for (u64 v = grid_rank(); v < rounded; v += grid_size()) {
    if (v < p.n) p.degrees[v] = degree(adj_of(p.adj), (u32)v);
    u32 votes = ballot(ALL, v < p.n);
    if (lane() == 0) p.alive[v / 32] = votes;
  }
}
WEFT_KERNEL(peel_round, Peel) {
  if (in_turn(p.turn)) peel(adj_of(p.adj), AllPlaces{}, p.degrees, p.alive, p.changed, p.n, p.least);
}

struct Candidates {
  Turn turn;
  Lists adj;
  const Want* wants;
  const Need* needs;
  u32* words;
  u64 stride;
  u32 queries, n;
};
WEFT_KERNEL(candidates, Candidates) {
  if (in_turn(p.turn)) candidates_of(adj_of(p.adj), p.wants, p.needs, p.words, p.queries, p.n, p.stride);
}
