package native_test

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime/code"
)

// compiled is a text over the run-time library, compiled.
func compiled(t *testing.T, text string) *native.Library {
	t.Helper()
	lib, err := native.NewCache(code.New(code.Folder(""))).Compile(t.Context(), "test", c.Text(&kir.Program{})+text, 0)
	if errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// TestWorkers: a run has no more workers than units, nor than MostWorkers, and they
// take each unit once.
func TestWorkers(t *testing.T) {
	lib := compiled(t, `
W_ENTRY void units(Run *run, u64 worker) {
  Worker *w = &run->worker[worker];
  for (u64 first, last; w_take(w, &first, &last);) w->sums[0] += last - first;
}`)
	for _, job := range []struct {
		workers, want int
		units         uint64
	}{{1 << 30, 3, 3}, {1 << 30, 1, 0}, {2, 2, 1000}, {1 << 30, native.MostWorkers, 1 << 20}} {
		for _, static := range []bool{false, true} {
			r, err := native.Run(t.Context(), &native.Job{
				Library: lib, Entry: "units", Memory: c.NewMemory(&kir.Program{}, nil),
				Workers: job.workers, Units: job.units, Sums: 1, Schedule: native.Schedule{Static: static},
			})
			if err != nil {
				t.Fatal(err)
			}
			sum := uint64(0)
			for _, s := range r.Sums {
				sum += s[0]
			}
			if len(r.Sums) != job.want || sum != job.units {
				t.Errorf("%d workers for %d units, asked for %d, static %v: want %d; %d units taken", len(r.Sums), job.units, job.workers, static, job.want, sum)
			}
		}
	}
}

// TestSharedWorkers: where units have loops whose turns are lent, there may be more
// workers than units, but not where nobody lends.
func TestSharedWorkers(t *testing.T) {
	for _, x := range []struct {
		job  native.Job
		want int
	}{
		{native.Job{Workers: 8, Units: 2, Shared: true}, 8},
		{native.Job{Workers: 8, Units: 2, Shared: true, Schedule: native.Schedule{NoSteal: true}}, 2},
		{native.Job{Workers: 8, Units: 0, Shared: true}, 1},
		{native.Job{Workers: 1 << 20, Units: 2, Shared: true}, native.MostWorkers},
	} {
		x.job.Library, x.job.Entry, x.job.Memory = compiled(t, "W_ENTRY void nothing(Run *run, u64 worker) {}"), "nothing", c.NewMemory(&kir.Program{}, nil)
		r, err := native.Run(t.Context(), &x.job)
		if err != nil || len(r.Sums) != x.want {
			t.Errorf("%d units, shared %v: %d workers, want %d; %v", x.job.Units, x.job.Shared, len(r.Sums), x.want, err)
		}
	}
}

// TestStealStops: a worker that looks for work sees that the run is to stop.
func TestStealStops(t *testing.T) {
	lib := compiled(t, `
W_ENTRY void steal(Run *run, u64 worker) {
  Worker *w = &run->worker[worker];
  if (worker > 0) return;
  w->sums[0] = w_steal(w, 8);
  w_stop(w);
  w->sums[1] = w_steal(w, 8);
}`)
	r, err := native.Run(t.Context(), &native.Job{
		Library: lib, Entry: "steal", Memory: c.NewMemory(&kir.Program{}, nil),
		Workers: 2, Units: 100, Sums: 2, Schedule: native.Schedule{Static: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Sums[0][0] != 1 || r.Sums[0][1] != 0 || r.Complete {
		t.Errorf("stolen: %v, complete %v", r.Sums[0], r.Complete)
	}
}
