// How fast the processors of a machine are when all of them are busy, relative to
// the fastest seen: arithmetic in registers, which shares nothing but what the
// machine makes its processors share (a core of two threads, a clock that falls,
// a host that others use too). A program that computes all the time gains about n
// times the busy mean over the one alone from n threads, as long as the machine is
// as it was: the speed of one alone changes most.
//
// cc -O1 -o cores cores.c -lpthread; cores: a line "alone MIN MEAN busy MIN MEAN".
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int begun;
static volatile double until;
static volatile unsigned long long sink;

typedef struct {
  int cpu;
  double speed;
} Core;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *compute(void *arg) {
  Core *core = arg;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core->cpu, &only);
  sched_setaffinity(0, sizeof only, &only);
  while (!begun) {}
  const double begin = now(), end = until;
  unsigned long long a = 1, b = 2, c = 3, d = 4, e = 5, rounds = 0;
  double at;
  do {
    for (int i = 0; i < 2000; i++) { // several operations a cycle
      a += i;
      b ^= a >> 1;
      c += b;
      d ^= i;
      e += d;
      a ^= 3;
      d += 7;
    }
    rounds++;
  } while ((at = now()) < end);
  sink = a + b + c + d + e;
  core->speed = rounds / (at - begin);
  return 0;
}

static void together(Core *cores, int n, double seconds) {
  pthread_t *threads = malloc(n * sizeof *threads);
  begun = 0;
  for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, compute, &cores[i]);
  struct timespec wait = {0, 5000000};
  nanosleep(&wait, 0);
  until = now() + seconds;
  begun = 1;
  for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
  free(threads);
}

static double best, least[2] = {1e18, 1e18}, sum[2], count[2];

static void note(int busy, const Core *core) {
  if (core->speed > best) best = core->speed;
  if (core->speed < least[busy]) least[busy] = core->speed;
  sum[busy] += core->speed;
  count[busy]++;
}

int main(void) {
  cpu_set_t mine;
  sched_getaffinity(0, sizeof mine, &mine);
  Core cores[CPU_SETSIZE];
  int n = 0;
  for (int c = 0; c < CPU_SETSIZE; c++)
    if (CPU_ISSET(c, &mine)) cores[n++].cpu = c;
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < n; i++) {
      together(&cores[i], 1, 0.01);
      note(0, &cores[i]);
    }
    together(cores, n, 0.1);
    for (int i = 0; i < n; i++) note(1, &cores[i]);
  }
  printf("alone %.2f %.2f busy %.2f %.2f\n", least[0] / best, sum[0] / count[0] / best, least[1] / best, sum[1] / count[1] / best);
}
