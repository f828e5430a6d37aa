package stack_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

var setsOf = regexp.MustCompile(`sets of up to \d+ elements`)

// TestLittleMemory gives a session less and less memory. Sets get the memory that the graph leaves. A
// run without enough memory is refused with an error that says so.
func TestLittleMemory(t *testing.T) {
	g := rmat(t, 7, 700)
	p := named(t, g, "gmatch:P5", plan.Options{})
	want := hostCount(t, g, p)
	sizes := map[string]bool{}
	refused := false
	for memory := int64(1 << 20); memory >= 1<<14; memory = memory / 4 * 3 {
		d := device.Emulated(t, emu.Options{})
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Once(context.Background(), tiny{Engine: stack.New(s)}, g, p, engine.Options{}, engine.Goal{})
		switch {
		case errors.Is(err, cuda.ErrMemory):
			refused = true
		case err != nil || r.Matches != want || !r.Complete || len(r.Notes) > 0:
			t.Errorf("%d bytes: %v (complete %v, %v, %v), want %v", memory, r.Matches, r.Complete, r.Notes, err, want)
		default:
			sizes[setsOf.FindString(strings.Join(r.Stats, "\n"))] = true
		}
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	if len(sizes) < 2 || !refused {
		t.Errorf("sizes %v, refused %v: want several, and a run that does not fit", sizes, refused)
	}
	t.Log(sizes)
}

// TestTightRun: a run that leaves less memory for sets, as counts per root take some, has smaller
// sets for itself alone. Later runs and those at the same time have the sets that they had before.
func TestTightRun(t *testing.T) {
	g := rmat(t, 8, 1000)
	ps, err := pattern.ByName("gmatch:P5")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nestPlan(g, ps[0], plan.Options{Root: 0})
	if err != nil {
		t.Fatal(err)
	}
	want := hostCount(t, g, p)
	roots := 16 * int64(g.NumVertices())
	differ := 0
	for memory := int64(46 << 10); memory > 16<<10 && differ == 0; memory -= roots / 2 {
		d := device.Emulated(t, emu.Options{})
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		x, err := (tiny{Engine: stack.New(s)}).Prepare(t.Context(), g, p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sets := func(goal engine.Goal) string {
			r, err := x.Run(t.Context(), goal)
			if errors.Is(err, cuda.ErrMemory) {
				return ""
			}
			if err != nil || r.Matches != want {
				t.Errorf("%d bytes: %v matches, error %v; want %v", memory, r.Matches, err, want)
			}
			return setsOf.FindString(strings.Join(r.Stats, "\n"))
		}
		perRoot := engine.Goal{PerRoot: make([]engine.Uint128, g.NumVertices())}
		whole, tight := sets(engine.Goal{}), sets(perRoot)
		if tight != "" && tight != whole {
			differ++
		}
		if again := sets(engine.Goal{}); again != whole {
			t.Errorf("%d bytes: %s, then with counts per root %s, then %s", memory, whole, tight, again)
		}
		var wg sync.WaitGroup
		for i := range 4 {
			goal, want := engine.Goal{}, whole
			if i%2 == 1 {
				goal, want = engine.Goal{PerRoot: make([]engine.Uint128, g.NumVertices())}, tight
			}
			wg.Go(func() {
				if got := sets(goal); got != want {
					t.Errorf("%d bytes, several runs at a time: %s, want %s", memory, got, want)
				}
			})
		}
		wg.Wait()
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	if differ == 0 {
		t.Error("counts per root left as much memory for sets as there was without them")
	}
}
