// Neighbour lists of engine pipeline as hash sets, a baseline: "Hash-Indexing" of chapter 4.7.1 and Table 19 of the thesis.
//
// An addition goes to a free slot of the newest array in place, and a removal sets the dt of a slot. A list gets a new version only when too few
// slots are free, or when more than half of those in use are removed. So searches at other times read the array at the same time, and take no
// locks: a free slot has no vertex and a ct of FOREVER, which no time sees, and the ct of an addition is not before the time of any search that may
// read it early.
//
// An array of n slots lies in the pool as columns, as one of n entries does. The word after them is the number of slots in use. A vertex is at the first
// slot from its home on that was free. Slots of entries that are removed stay in use until the next version.
//
// Go's pipeline.slotsOf and homeOf compute the same.

#define SLOTS_LEAST 8u

// The first slot where x may be, of n.
DEV u32 home_of(u32 x, u32 n) { return (u32)((u64)(x * 0x9e3779b1u) * n >> 32); }

// Slots of a new array for some entries.
DEV u32 slots_of(u32 entries) { return max(SLOTS_LEAST, 2 * entries); }

// Whether an array of n slots, of which some are in use, has room for more entries. At least a quarter of the slots stays free, so that probes end.
DEV bool has_slots(u32 n, u32 used, u32 more) { return (u64)used + more <= (u64)n - n / 4; }

DEV u32 next_slot(u32 i, u32 n) { return i + 1 == n ? 0 : i + 1; }

// The slots in use of an array. The updater alone asks.
DEV u32* used_slots(const Store& s, Array a) { return a.p + (u64)s.words * a.n; }

// The vertex of slot i; NONE: it is free.
DEV u32 id_at(Array a, u32 i) { return load_relaxed(&a.p[i]); }

// Whether time t sees x with one of the labels. One lane.
DEV bool contains(Array a, u32 x, u32 t, Labels l) {
  if (a.n == 0) return false;
  for (u32 i = home_of(x, a.n);; i = next_slot(i, a.n)) {
    u32 y = id_at(a, i);
    if (y == NONE) return false;
    if (y == x && visible(a, i, t) && has_label(a, i, l)) return true;
  }
}

// Whether time t sees slot i with one of the labels, and no slot of the same vertex between its home and there. One lane.
DEV bool stands_for(Array a, u32 i, u32 t, Labels l) {
  u32 x = id_at(a, i);
  if (x == NONE || !visible(a, i, t) || !has_label(a, i, l)) return false;
  for (u32 j = home_of(x, a.n); j != i; j = next_slot(j, a.n))
    if (id_at(a, j) == x && visible(a, j, t) && has_label(a, j, l)) return false;
  return true;
}

// The slot of x with a label that is not removed; NONE: there is none. One lane of the updater.
DEV u32 find_slot(const Store& s, Array a, u32 x, u32 label) {
  if (a.n == 0) return NONE;
  for (u32 i = home_of(x, a.n);; i = next_slot(i, a.n)) {
    u32 y = id_at(a, i);
    if (y == NONE) return NONE;
    if (y == x && (s.words < 4 || a.p[3 * (u64)a.n + i] == label) && load_relaxed(&a.p[2 * (u64)a.n + i]) == FOREVER) return i;
  }
}

// Puts an entry into a free slot. Lanes of the updater, at the same time.
DEV void put_slot(const Store& s, Array a, u32 x, u32 ct, u32 dt, u32 label) {
  u32 i = home_of(x, a.n);
  while (atomic_cas(&a.p[i], NONE, x) != NONE) i = next_slot(i, a.n);
  if (s.words == 4) a.p[3 * (u64)a.n + i] = label;
  store_relaxed(&a.p[2 * (u64)a.n + i], dt);
  store_relaxed(&a.p[(u64)a.n + i], ct);
}

// Frees all slots of a new array. One warp.
DEV void clear_slots(Array a) {
  for (u32 i = lane(); i < a.n; i += 32) a.p[i] = NONE, a.p[(u64)a.n + i] = FOREVER;
}
