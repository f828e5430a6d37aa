// Rows of bits over a small universe. The universe is the neighbourhood of a vertex, the root:
// its neighbours are positions 0 … d-1 in the order of their ids. A set of positions is a row,
// an intersection is an AND, a size is a population count, and a bound on ids is a cut.
//
// One lane holds a row in registers, or a group of lanes that run the same code on it together.
// Bits<LANES, WORDS> says how many lanes, and how many words of 32 bits each of them has. All
// lanes of a group call a function with equal arguments, except for the words of rows, and get
// equal values. Position p is bit p%32 of word p/32; lane r of a group has words r*WORDS …
// r*WORDS+WORDS-1. Bits from d on are 0.
//
// The host twin is kir's interpreter, where a row is the list of its positions.
#ifndef WEFT_ROWS
#define WEFT_ROWS
#include "base/group.cuh"

template <int LANES, int WORDS, int PART = 32> struct Bits {
  static constexpr u32 lanes = LANES, words = WORDS;
  static constexpr u32 part = PART; // positions of a part of a row: 32 or, of one lane's, a power of two below
  static constexpr u32 stride = LANES * WORDS; // words of a row in memory
  using G = Group<LANES>;
  u32 w[WORDS];

  // The number, in the row, of this lane's word k.
  static DEV u32 number(u32 k) { return LANES == 1 ? k : G::rank() * WORDS + k; }
  // Word k of this lane, k not known to the compiler.
  DEV u32 word(u32 k) const {
    if (WORDS > 8) return w[k];
    u32 x = w[0];
    UNROLL
    for (u32 i = 1; i < WORDS; i++) x = k == i ? w[i] : x;
    return x;
  }
};

// The neighbourhood that rows are over.
template <class Row> struct Hood {
  const u32* rows;  // the row of position p at rows + p * Row::stride; or only the size of each
  const u32* masks; // mask i at masks + i * Row::stride
  u32 d;            // positions
  u32 cut;          // how many of their vertices have ids below the root's
  struct Watch* watch; // this lane's, on run
  const struct Run* run;
};

// A row from memory, which is aligned to 16 bytes.
template <class Row> DEV Row row_load(const u32* from) {
  Row r;
  from += Row::number(0);
  if constexpr (Row::words % 4 == 0) {
    UNROLL
    for (u32 k = 0; k < Row::words; k += 4) {
      u32x4 x = *(const u32x4*)(from + k);
      r.w[k] = x.x, r.w[k + 1] = x.y, r.w[k + 2] = x.z, r.w[k + 3] = x.w;
    }
  } else if constexpr (Row::words % 2 == 0) {
    UNROLL
    for (u32 k = 0; k < Row::words; k += 2) {
      u64 x = *(const u64*)(from + k);
      r.w[k] = (u32)x, r.w[k + 1] = (u32)(x >> 32);
    }
  } else {
    UNROLL
    for (u32 k = 0; k < Row::words; k++) r.w[k] = from[k];
  }
  return r;
}

// The bits of word i for positions below p.
DEV u32 bits_below(u32 p, u32 i) {
  u32 n = p > 32 * i ? p - 32 * i : 0;
  return n >= 32 ? ~0u : (1u << n) - 1;
}

template <class Row, class F> DEV Row row_make(F word) {
  Row r;
  UNROLL
  for (u32 k = 0; k < Row::words; k++) r.w[k] = word(k);
  return r;
}

template <class Row> DEV Row row_ones(const Hood<Row>& h) {
  return row_make<Row>([&](u32 k) { return bits_below(h.d, Row::number(k)); });
}
template <class Row> DEV Row row_of(const Hood<Row>& h, u32 p) { return row_load<Row>(h.rows + p * Row::stride); }
template <class Row> DEV Row row_mask(const Hood<Row>& h, u32 i) { return row_load<Row>(h.masks + i * Row::stride); }
template <class Row> DEV u32 inner(const Hood<Row>& h, u32 p) { return h.rows[p]; }
template <class Row> DEV u32 root_cut(const Hood<Row>& h) { return h.cut; }

template <class Row> DEV Row row_and(const Row& a, const Row& b) {
  return row_make<Row>([&](u32 k) { return a.w[k] & b.w[k]; });
}
template <class Row> DEV Row row_minus(const Row& a, const Row& b) {
  return row_make<Row>([&](u32 k) { return a.w[k] & ~b.w[k]; });
}
template <class Row> DEV Row row_below(const Row& a, u32 p) {
  return row_make<Row>([&](u32 k) { return a.w[k] & bits_below(p, Row::number(k)); });
}
template <class Row> DEV Row row_from(const Row& a, u32 p) {
  return row_make<Row>([&](u32 k) { return a.w[k] & ~bits_below(p, Row::number(k)); });
}
template <class Row> DEV Row row_without(const Row& a, u32 p) {
  return row_make<Row>([&](u32 k) { return a.w[k] & ~(Row::number(k) == p >> 5 ? 1u << (p & 31) : 0u); });
}
template <class Row> DEV Row row_part(const Row& a, u32 i) {
  u32 at = i * Row::part, bits = ~0u >> (32 - Row::part) << at % 32;
  return row_make<Row>([&](u32 k) { return Row::number(k) == at / 32 ? a.w[k] & bits : 0u; });
}

template <class Row> DEV u32 row_size(const Row& a) {
  u32 n = 0;
  UNROLL
  for (u32 k = 0; k < Row::words; k++) n += popc(a.w[k]);
  return Row::G::sum(n);
}
template <class Row> DEV bool row_any(const Row& a) {
  u32 x = 0;
  UNROLL
  for (u32 k = 0; k < Row::words; k++) x |= a.w[k];
  return Row::G::any(x != 0);
}
template <class Row> DEV bool row_has(const Row& a, u32 p) {
  u32 i = p >> 5;
  if (i >= Row::stride) return false;
  return Row::G::shfl(a.word(i % Row::words), i / Row::words) >> (p & 31) & 1;
}

// A walk over the positions of a row: for (RowWalk<Row> w(row); w.next();) w.at;
template <class Row> struct RowWalk {
  u32 at;

  DEV RowWalk(const Row& row) : at(0), r(row), k(0), lanes(0), x(0) { open(); }
  DEV bool next() {
    while (x == 0) {
      while (lanes == 0) {
        if (++k == Row::words) return false;
        open();
      }
      u32 src = ctz(lanes);
      lanes &= lanes - 1;
      x = Row::G::shfl(mine, src);
      base = (src * Row::words + k) * 32;
    }
    at = base + ctz(x);
    x &= x - 1;
    return true;
  }

private:
  Row r;
  u32 k;     // words k of the lanes are being walked,
  u32 lanes; // the remaining lanes,
  u32 x;     // and these bits are left of the current one, which begins at
  u32 base;
  u32 mine;  // this lane's word k
  DEV void open() {
    mine = r.word(k);
    lanes = Row::G::ballot(mine != 0);
  }
};

#endif
