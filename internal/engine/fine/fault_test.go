package fine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestFaults lets the device refuse a call, whichever it is, in a search over the
// plan's lists and in one over a candidate graph: the run has an error and no
// number, or the right one, and nothing is left on the device.
func TestFaults(t *testing.T) {
	g := denseGraph(t)
	ps, err := pattern.ByName("diamond")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	want, err := host.New().Run(t.Context(), g, p, engine.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]func(n int) *cuda.Faults{
		"alloc":  func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} },
		"launch": func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} },
		"skip":   func(n int) *cuda.Faults { return &cuda.Faults{SkipFrom: n} },
		"copy":   func(n int) *cuda.Faults { return &cuda.Faults{FailCopy: n} },
		"look":   func(n int) *cuda.Faults { return &cuda.Faults{FailWork: n} },
	}
	for _, index := range []string{"none", "bitmap"} {
		for what, fault := range faults {
			t.Run(fmt.Sprintf("%s with index %s", what, index), func(t *testing.T) {
				failed := 0
				for n := 1; n <= 40; n++ {
					err := runFaulty(t, fault(n), g, p, index, want.Matches)
					if err == nil {
						break // there is no n-th call
					}
					failed++
				}
				if failed == 0 {
					t.Error("no call failed")
				}
			})
		}
	}
}

func runFaulty(t *testing.T, f *cuda.Faults, g *graph.Graph, p *plan.Plan, index string, want engine.Uint128) error {
	t.Helper()
	f.Backend = device.Backend(t, emu.Options{})
	d, err := cuda.New(f)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		return err
	}
	got, err := fine.New(s).Run(t.Context(), g, p, engine.Options{Opt: map[string]string{"fine.index": index}}, nil)
	switch {
	case err == nil && (got.Matches != want || !got.Complete):
		t.Errorf("%v, complete %v, and no error; want %v", got.Matches, got.Complete, want)
	case err != nil && (!got.Matches.IsZero() || got.Complete):
		t.Errorf("%v, complete %v, with error %v", got.Matches, got.Complete, err)
	}
	if closed := s.Close(); err == nil {
		err = closed
	}
	if n := d.InUse(); n != 0 && !errors.Is(err, cuda.ErrLost) {
		t.Errorf("%d bytes are in use after error %v", n, err)
	}
	return err
}
