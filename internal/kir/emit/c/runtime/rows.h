// Sets of positions in the neighbourhood of a vertex, as bits: at most
// 64·W_ROW_WORDS positions.
#ifndef WEFT_ROWS
#define WEFT_ROWS
#include "weft.h"
#ifndef W_ROW_WORDS
#define W_ROW_WORDS 16
#endif

typedef struct { u64 w[W_ROW_WORDS]; } Row;

// The neighbourhood that rows are over.
typedef struct {
  const Row *rows; // the neighbours of each position
  const Row *masks;
  const u32 *inner; // how many of them count, by position
  u32 n;            // positions
  u32 cut;          // positions whose vertices have smaller ids than the root
} Hood;

#define W_EACH_WORD for (u32 i = 0; i < W_ROW_WORDS; ++i)

// The positions of word i that are below at.
static inline u64 w_low(u32 i, u32 at) { return at >= 64 * (i + 1) ? ~0ull : at <= 64 * i ? 0 : (1ull << (at & 63)) - 1; }

static inline Row w_row_below(Row a, u32 at) {
  W_EACH_WORD a.w[i] &= w_low(i, at);
  return a;
}
static inline Row w_row_from(Row a, u32 at) {
  W_EACH_WORD a.w[i] &= ~w_low(i, at);
  return a;
}
static inline Row w_row_ones(const Hood *h) {
  Row a;
  W_EACH_WORD a.w[i] = w_low(i, h->n);
  return a;
}
static inline Row w_row_of(const Hood *h, u32 at) { return h->rows[at]; }
static inline Row w_row_mask(const Hood *h, u32 i) { return h->masks[i]; }
static inline Row w_row_and(Row a, Row b) {
  W_EACH_WORD a.w[i] &= b.w[i];
  return a;
}
static inline Row w_row_minus(Row a, Row b) {
  W_EACH_WORD a.w[i] &= ~b.w[i];
  return a;
}
static inline Row w_row_without(Row a, u32 at) {
  W_EACH_WORD if (at / 64 == i) a.w[i] &= ~(1ull << (at & 63));
  return a;
}
static inline Row w_row_part(Row a, u32 part) {
  W_EACH_WORD a.w[i] &= part / 2 == i ? 0xffffffffull << 32 * (part & 1) : 0;
  return a;
}
static inline u32 w_row_size(Row a) {
  u32 n = 0;
  W_EACH_WORD n += (u32)__builtin_popcountll(a.w[i]);
  return n;
}
static inline bool w_row_any(Row a) {
  u64 any = 0;
  W_EACH_WORD any |= a.w[i];
  return any != 0;
}
static inline bool w_row_has(Row a, u32 at) { return at / 64 < W_ROW_WORDS && a.w[at / 64] >> (at & 63) & 1; }
static inline u32 w_inner(const Hood *h, u32 at) { return h->inner[at]; }
static inline u32 w_root_cut(const Hood *h) { return h->cut; }

#endif
