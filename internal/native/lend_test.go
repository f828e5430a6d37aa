package native_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/native"
)

// lending is items with shared loops of two levels as generated code has them. What
// a turn adds is such that turns lost and turns run twice do not make up for each
// other.
const lending = `
static void add(Worker *w, u64 item, u64 outer, u64 inner) {
  u64 x = ((item + 1) * 9973 + outer) * 9973 + inner;
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  w->sums[0] += (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  for (volatile u32 k = 0; k < (item == 0 ? 300 : 1); k = k + 1) {}
}

static void inner(Worker *w, u64 item, u32 outer, u32 turn, u32 *outer_end, u32 loop, u32 n) {
  u32 i = 0, end = n;
  w_turns(w, 2, loop, &i, &end);
  for (; i < end; ++i) {
    if (w_called(w)) {
      if (w_stopped(w)) return;
      w_lend2(w, outer, turn, outer_end, loop, i, &end);
    }
    add(w, item, 1000 * loop + turn, i);
  }
}

static void outer(Worker *w, u64 item, u32 stolen, u32 loop, u32 n) {
  u32 i = 0, end = n;
  w_turns(w, 1, loop, &i, &end);
  for (; i < end; ++i) {
    if (w_called(w)) {
      if (w_stopped(w)) return;
      w_lend(w, loop, i, &end);
    }
    if (stolen <= 1) add(w, item, 1000 * loop + i, 9000);
    inner(w, item, loop, i, &end, loop + 1, n);
    inner(w, item, loop, i, &end, loop + 2, n / 2);
  }
}

W_ENTRY void items(Run *run, u64 worker) {
  Worker *w = &run->worker[worker];
  while (w_next(w, run->units, 1)) {
    const u64 item = w->turns.item;
    const u32 stolen = w->turns.depth, n = item == 0 ? 100 : item % 16 == 0 ? 30 : item % 7;
    if (stolen <= 0) add(w, item, 9000, 9000);
    outer(w, item, stolen, 0, n);
    outer(w, item, stolen, 3, n / 2);
  }
}
`

// TestLend: whatever turns workers lend, each is run once.
func TestLend(t *testing.T) {
	lib := compiled(t, lending)
	for _, o := range []struct {
		workers, rounds int
		units           uint64
	}{{2, 30, 40}, {3, 30, 3}, {8, 30, 200}, {40, 20, 40}} {
		want, _ := lend(t, lib, "items", 1, o.units, native.Schedule{})
		for _, s := range []native.Schedule{{}, {Static: true}, {NoSteal: true}, {Static: true, NoSteal: true}} {
			lent := uint64(0)
			for range o.rounds {
				sum, r := lend(t, lib, "items", o.workers, o.units, s)
				if sum != want {
					t.Fatalf("%d workers, %d items, %+v: %x, want %x", o.workers, o.units, s, sum, want)
				}
				lent += r.Lent
			}
			if (lent > 0) == s.NoSteal {
				t.Errorf("%d workers, %d items, %+v: lent %d times", o.workers, o.units, s, lent)
			}
		}
	}
}

func lend(t *testing.T, lib *native.Library, entry string, workers int, units uint64, s native.Schedule) (sum uint64, r native.Result) {
	t.Helper()
	r, err := native.Run(t.Context(), &native.Job{
		Library: lib, Entry: entry, Memory: c.NewMemory(&kir.Program{}, nil), Workers: workers, Units: units, Sums: 1, Schedule: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sums {
		sum += s[0]
	}
	return sum, r
}

// TestLendToMany: far more workers than processors leave these to those with work.
func TestLendToMany(t *testing.T) {
	lib := compiled(t, lending+`
W_ENTRY void meet(Run *run, u64 worker) {
  __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&run->next, __ATOMIC_RELAXED) < run->workers) usleep(100000);
}`)
	const units = 1 << 16
	want, _ := lend(t, lib, "items", 1, units, native.Schedule{})
	lend(t, lib, "meet", native.MostWorkers, units, native.Schedule{})
	sum, r := lend(t, lib, "items", native.MostWorkers, units, native.Schedule{})
	if sum != want {
		t.Errorf("%x, want %x", sum, want)
	}
	t.Logf("lent %d times", r.Lent)
}

// TestLendRaces: the thread sanitizer finds nothing in what workers do.
func TestLendRaces(t *testing.T) {
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
	dir := t.TempDir()
	files := c.Runtime()
	files["main.c"] = c.Text(&kir.Program{}) + lending + `
#include <pthread.h>
#include <stdio.h>
#define WORKERS 6

static Run run;
static Worker workers[WORKERS];
static u64 sums[WORKERS][16];

static void *work(void *w) {
  items(&run, ((Worker *)w)->id);
  return 0;
}

static u64 total(u32 n, u32 fixed) {
  run = (Run){.worker = workers, .units = 30, .chunk = 2, .workers = n, .fixed = fixed, .steal = 1, .grain = 4, .busy = n};
  pthread_t threads[WORKERS];
  for (u32 i = 0; i < n; ++i) {
    workers[i] = (Worker){.run = &run, .id = i, .sums = sums[i]};
    if (fixed) workers[i].range = w_range(run.units * i / n, run.units * (i + 1) / n);
    sums[i][0] = 0;
  }
  for (u32 i = 0; i < n; ++i) pthread_create(&threads[i], 0, work, &workers[i]);
  u64 sum = 0;
  for (u32 i = 0; i < n; ++i) {
    pthread_join(threads[i], 0);
    sum += sums[i][0];
  }
  return sum;
}

int main(void) {
  const u64 want = total(1, 0);
  u64 lent = 0;
  for (u32 round = 0; round < 60; ++round) {
    const u64 got = total(2 + round % (WORKERS - 1), round % 2);
    if (got != want) return printf("%llx, want %llx\n", got, want), 1;
    lent += run.lent;
  }
  printf("lent %llu times\n", lent);
  return lent == 0;
}
`
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "lend")
	if out, err := exec.Command("cc", "-std=gnu11", "-w", "-O1", "-fwrapv", "-fsanitize=thread", "-o", program, filepath.Join(dir, "main.c"), "-lpthread").CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
