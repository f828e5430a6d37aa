// What generated C needs: types, the run that workers belong to, and how they
// share its tasks. One worker is one thread.
//
// C11 with what gcc and clang have in common beyond it: 128-bit integers,
// statement expressions and the __atomic functions.
#ifndef WEFT_H
#define WEFT_H
#include <stdbool.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;
typedef double f64;

#define W_LIKELY(x) __builtin_expect(!!(x), 1)
#define W_RARE(x) __builtin_expect(!!(x), 0)
#define W_LINE __attribute__((aligned(128))) // what others write lies apart

// A number of 128 bits as Go has it.
typedef struct { u64 hi, lo; } Wide;

typedef struct Graph Graph;
typedef struct Worker Worker;

// Run is one run of a program: package native has the same struct.
typedef struct {
  const Graph *graph;
  Worker *worker;
  const void *extra; // of the caller's code
  u64 units;         // of work: 0 … units-1, fewer than 2^32
  u64 chunk;         // units that are taken from next at once
  u32 workers;
  u32 fixed; // not 0: each worker begins with an equal share, and next is not used
  u32 steal; // not 0: a worker without work takes the later half of another's
  u32 grain; // most units that a worker takes of its own at once
  // Takes the rows in a worker's buffer; not 0: enough.
  u64 (*rows)(u64 run, u64 worker, u64 rows);
  u64 number;     // of the run, for rows
  Wide *per_root; // or null
  u64 limit;      // of what is counted; 0: none
  W_LINE u64 next;
  W_LINE u64 total; // counted, up to the limit
  u64 lent;         // times that turns of a loop were
  W_LINE u32 stop; // not 0: everybody returns
  u32 failed;      // why the run has failed; 0: it has not
  int waiting;     // workers without work, less offers; below 0 where some have found units instead
  u32 busy;        // workers that have work, and offers
  u32 offers;      // turns lent that nobody has taken
  W_LINE u32 locks[64]; // of per_root
} Run;

// Turns are what a worker lends of a loop inside an item.
typedef struct {
  u64 item;
  u32 depth;    // 0: a whole item; else the level of the loop
  u32 loop[2];  // of each level: the loop's number,
  u32 first[2]; // and turns first … end-1 of it, one except at the last level
  u32 end[2];
} Turns;

// Worker is one thread's own.
struct Worker {
  Run *run;
  u64 id;
  u128 count;
  u32 over; // not 0: a sum has passed 128 bits
  u32 rows; // in the buffer
  u32 room; // rows until it is handed over, twice as many each time
  u32 cap;  // elements of each set
  u32 most; // rows that fit
  u32 unused;
  char *buffer;
  u32 *mem;
  u64 *sums; // of the caller's code
  u64 item, last; // items taken and not begun yet
  u64 done;       // units taken
  W_LINE Turns turns; // what it does
  W_LINE u64 range; // what is left of its units: the first, and the end in the upper half
  u32 lends;        // 1: lent may be taken; 2: somebody takes it
  u32 unused2;
  Turns lent;
};

_Static_assert(sizeof(Run) == 768 && sizeof(Worker) == 384, "package native has these structs too");

// What is called from outside.
#define W_ENTRY __attribute__((visibility("default")))

W_ENTRY void weft_free(void *p) { __builtin_free(p); }

static inline bool w_stopped(const Worker *w) { return W_RARE(__atomic_load_n(&w->run->stop, __ATOMIC_RELAXED)); }

static inline void w_stop(Worker *w) { __atomic_store_n(&w->run->stop, 1, __ATOMIC_RELAXED); }

// Notes why the run has failed, unless something else is to blame.
static inline void w_fail(Worker *w, u32 code) {
  u32 none = 0;
  __atomic_compare_exchange_n(&w->run->failed, &none, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  w_stop(w);
}

static inline u32 w_first(u64 range) { return (u32)range; }
static inline u32 w_end(u64 range) { return (u32)(range >> 32); }
static inline u64 w_range(u64 first, u64 end) { return end << 32 | first; }

// Takes the later half of the units that some other worker has left; false: nobody
// has any, or the run is to stop, which is looked at on the way: there may be
// thousands.
static bool w_steal(Worker *w, u32 rounds) {
  Run *r = w->run;
  for (u32 round = 0; round < rounds; ++round) {
    for (u32 k = 1; k < r->workers; ++k) {
      if (w_stopped(w)) return false;
      Worker *v = &r->worker[(w->id + k) % r->workers];
      u64 x = __atomic_load_n(&v->range, __ATOMIC_ACQUIRE);
      const u32 first = w_first(x), end = w_end(x);
      if (first >= end) continue;
      const u32 mid = first + (end - first) / 2;
      if (__atomic_compare_exchange_n(&v->range, &x, w_range(first, mid), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        __atomic_store_n(&w->range, w_range(mid, end), __ATOMIC_RELEASE);
        return true;
      }
    }
  }
  return false;
}

// The next units of a worker, first … end-1; false: there are none in that number of
// rounds, or the run is to stop.
static bool w_take_within(Worker *w, u32 rounds, u64 *first, u64 *end) {
  Run *r = w->run;
  while (!w_stopped(w)) {
    u64 x = __atomic_load_n(&w->range, __ATOMIC_RELAXED);
    const u32 left = w_first(x) < w_end(x) ? w_end(x) - w_first(x) : 0;
    if (left > 0) {
      u32 n = left / 8 + 1;
      if (n > r->grain) n = r->grain;
      if (!__atomic_compare_exchange_n(&w->range, &x, w_range(w_first(x) + n, w_end(x)), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
      __atomic_store_n(&w->done, w->done + n, __ATOMIC_RELAXED);
      *first = w_first(x);
      *end = *first + n;
      return true;
    }
    if (!r->fixed && __atomic_load_n(&r->next, __ATOMIC_RELAXED) < r->units) {
      const u64 at = __atomic_fetch_add(&r->next, r->chunk, __ATOMIC_RELAXED);
      if (at < r->units) {
        const u64 to = at + r->chunk < r->units ? at + r->chunk : r->units;
        __atomic_store_n(&w->range, w_range(at, to), __ATOMIC_RELEASE);
        continue;
      }
    }
    if (!r->steal || !w_steal(w, rounds)) return false;
  }
  return false;
}

// The same for who ends where there are none.
static bool w_take(Worker *w, u64 *first, u64 *end) { return w_take_within(w, 8, first, end); }

// Whether somebody wants something: that the worker stops, or turns.
static inline bool w_called(const Worker *w) {
  return W_RARE((__atomic_load_n(&w->run->stop, __ATOMIC_RELAXED) != 0) | (__atomic_load_n(&w->run->waiting, __ATOMIC_RELAXED) > 0));
}

// The turns of a loop that are the worker's, of 0 … *end-1.
static inline void w_turns(const Worker *w, u32 level, u32 loop, u32 *first, u32 *end) {
  const Turns *t = &w->turns;
  if (W_LIKELY(t->depth < level)) return;
  const bool this = t->loop[level - 1] == loop;
  *first = this ? t->first[level - 1] : 0;
  *end = this ? t->end[level - 1] : 0;
}

// Lends the later half of the turns after turn `at` to a worker that waits; false:
// none does, or the last ones that were lent are still there.
static bool w_lend_half(Worker *w, Turns *t, u32 at, u32 *end) {
  Run *r = w->run;
  if (__atomic_load_n(&w->lends, __ATOMIC_ACQUIRE) != 0) return false;
  int n = __atomic_load_n(&r->waiting, __ATOMIC_RELAXED);
  do {
    if (n <= 0) return false;
  } while (!__atomic_compare_exchange_n(&r->waiting, &n, n - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  const u32 l = t->depth - 1, mid = at + 1 + (*end - at - 1) / 2;
  t->item = w->turns.item;
  t->first[l] = mid;
  t->end[l] = *end;
  *end = mid;
  w->lent = *t;
  __atomic_fetch_add(&r->busy, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&r->offers, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&r->lent, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&w->lends, 1, __ATOMIC_RELEASE);
  return true;
}

// Lends turns of a loop of level 1.
static __attribute__((noinline, cold)) bool w_lend(Worker *w, u32 loop, u32 at, u32 *end) {
  Turns t = {.depth = 1, .loop = {loop}};
  return *end > at + 1 && w_lend_half(w, &t, at, end);
}

// Lends turns of the loop of level 1, or else of the one of level 2 inside, whose
// turns are so short that few are not worth it.
static __attribute__((noinline, cold)) void w_lend2(Worker *w, u32 outer, u32 turn, u32 *outer_end, u32 loop, u32 at, u32 *end) {
  Turns t = {.depth = 2, .loop = {outer, loop}, .first = {turn}, .end = {turn + 1}};
  if (*outer_end > turn + 1 ? w_lend(w, outer, turn, outer_end) : *end > at + 8) w_lend_half(w, &t, at, end);
}

// Takes turns that somebody lends, itself perhaps.
static bool w_borrow(Worker *w) {
  Run *r = w->run;
  if (__atomic_load_n(&r->offers, __ATOMIC_RELAXED) == 0) return false;
  for (u32 k = 0; k < r->workers; ++k) {
    Worker *v = &r->worker[(w->id + k) % r->workers];
    u32 there = 1;
    if (__atomic_load_n(&v->lends, __ATOMIC_RELAXED) != 1 ||
        !__atomic_compare_exchange_n(&v->lends, &there, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    w->turns = v->lent;
    __atomic_store_n(&v->lends, 0, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&r->offers, 1, __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

extern int usleep(unsigned int);
extern int sched_yield(void);

// Waits until somebody lends turns, or has units again; false: all work is done, or
// the run is to stop. Somebody may be busy for long with what cannot be lent, so
// that one who waits sleeps, the sooner and the longer the more workers there are.
// Units are with others again only where somebody was about to take them: thousands
// who looked for them each time would have no processor left for who works.
static bool w_wait(Worker *w) {
  Run *r = w->run;
  __atomic_fetch_add(&r->waiting, 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&r->busy, 1, __ATOMIC_RELEASE);
  const u32 most = 200 + 16 * r->workers, awake = r->workers < 20 ? 200 : 4096 / r->workers;
  for (u32 round = 0, pause = 10; !w_stopped(w) && __atomic_load_n(&r->busy, __ATOMIC_ACQUIRE) > 0; ++round) {
    if (w_borrow(w)) return true;
    if ((round & (round - 1)) == 0 && w_steal(w, 1)) {
      w->turns.depth = 0;
      __atomic_fetch_add(&r->busy, 1, __ATOMIC_RELAXED);
      __atomic_fetch_sub(&r->waiting, 1, __ATOMIC_RELAXED);
      return true;
    }
    if (round < awake) {
      sched_yield();
    } else {
      usleep(pause);
      pause = 2 * pause < most ? 2 * pause : most;
    }
  }
  return false;
}

// What the worker does next, in its turns: an item, or turns of loops inside one;
// false: nothing, or the run is to stop. A unit is `each` items.
static bool w_next(Worker *w, u64 items, u64 each) {
  for (;;) {
    if (w_stopped(w)) return false;
    if (w->item < w->last) {
      w->turns = (Turns){.item = w->item++};
      return true;
    }
    u64 first, end;
    if (w_take_within(w, 1, &first, &end)) {
      w->item = first * each;
      w->last = end * each < items ? end * each : items;
      continue;
    }
    if (!w->run->steal || !w_wait(w)) return false;
    if (w->turns.depth > 0) return true;
  }
}

// Hands over the rows in the buffer.
static bool w_flush(Worker *w) {
  const u32 n = w->rows;
  w->rows = 0;
  w->room = 2 * w->room < w->most ? 2 * w->room : w->most;
  if (n > 0 && w->run->rows(w->run->number, w->id, n)) w_stop(w);
  return w_stopped(w);
}

// Puts a row of `bytes` bytes into the buffer; true: the run is to stop.
static inline bool w_emit(Worker *w, const void *row, u32 bytes) {
  __builtin_memcpy(w->buffer + (u64)w->rows * bytes, row, bytes);
  return W_RARE(++w->rows == w->room) && w_flush(w);
}

// *sum += x; what passes 128 bits is noted.
static inline void w_add(Worker *w, u128 *sum, u128 x) {
  if (W_RARE(__builtin_add_overflow(*sum, x, sum))) w->over = 1;
}

// *sum += x, of a total that the run's limit is about.
#define w_tally(w, sum, x) do { \
    const u128 w_x = (x); \
    if (sizeof *(sum) == 16) w_add(w, (u128 *)(sum), w_x); \
    else *(sum) += (u64)w_x; \
    if (W_RARE((w)->run->limit)) w_reach(w, w_x); \
  } while (0)

static void w_reach(Worker *w, u128 x) {
  Run *r = w->run;
  const u64 some = x < r->limit ? (u64)x : r->limit;
  if (__atomic_add_fetch(&r->total, some, __ATOMIC_RELAXED) >= r->limit) w_stop(w);
}

// Counts n matches of a root.
static inline void w_count(Worker *w, u32 root, u128 n) {
  if (n == 0) return;
  Run *r = w->run;
  w_add(w, &w->count, n);
  if (r->per_root) {
    u32 *lock = &r->locks[root % 64];
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {}
    Wide *at = &r->per_root[root];
    const u128 sum = ((u128)at->hi << 64 | at->lo) + n;
    at->hi = (u64)(sum >> 64);
    at->lo = (u64)sum;
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  }
}

// Arithmetic: whole numbers wrap, and a division by zero gives 0.
#define W_NUMBERS(T) \
  static inline T w_min_##T(T a, T b) { return a < b ? a : b; } \
  static inline T w_max_##T(T a, T b) { return a < b ? b : a; } \
  static inline T w_div_##T(T a, T b) { return b == 0 ? 0 : a / b; } \
  static inline T w_mod_##T(T a, T b) { return b == 0 ? 0 : a % b; } \
  static inline T w_shl_##T(T a, u32 b) { return b < 8 * sizeof(T) ? a << b : 0; } \
  static inline T w_shr_##T(T a, u32 b) { return b < 8 * sizeof(T) ? a >> b : 0; }
W_NUMBERS(u32)
W_NUMBERS(u64)
W_NUMBERS(u128)
static inline i64 w_min_i64(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 w_max_i64(i64 a, i64 b) { return a < b ? b : a; }
static inline i64 w_div_i64(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? (i64)(0 - (u64)a) : a / b; }
static inline i64 w_mod_i64(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline i64 w_shl_i64(i64 a, u32 b) { return b < 64 ? (i64)((u64)a << b) : 0; }
static inline i64 w_shr_i64(i64 a, u32 b) { return a >> (b < 64 ? b : 63); }
// The smaller and the larger, not a number where one of them is none; -0 < 0.
static inline f64 w_min_f64(f64 a, f64 b) {
  if (a != a || b != b) return a + b;
  return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
static inline f64 w_max_f64(f64 a, f64 b) {
  if (a != a || b != b) return a + b;
  return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}

#endif
