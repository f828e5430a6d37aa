package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestFaults lets the device refuse any one call. The run has an error of the fault's kind and
// no number, or the right number. Nothing is left on the device.
func TestFaults(t *testing.T) {
	g := rmat(t)
	step := 1
	if !long.Asked() {
		step = 4
		t.Log("without WEFT_LONG: the first, fifth and ninth call of each kind")
	}
	for _, x := range []search{
		{"stack", "diamond", "nest", false, newStack, nil},
		{"stack, listing", "diamond", "nest", true, newStack, nil},
		{"join", "diamond", "nest", false, newJoin, map[string]string{"join.batch": "200"}},
		{"join, Prealloc-Combine", "diamond", "nest", false, newJoin, map[string]string{"join.output": "prealloc"}},
		{"join, listing", "diamond", "nest", true, newJoin, nil},
		{"codegen", "diamond", "nest", false, newCodegen, nil},
		{"codegen, listing", "diamond", "nest", true, newCodegen, nil},
		{"codegen, lists in host memory", "diamond", "nest", false, newCodegen, map[string]string{"gpu.adjacency": "host"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := x.plan(t, g)
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			sound := &cuda.Faults{}
			if err := x.runFaulty(t, sound, g, p, want.Matches); err != nil {
				t.Fatal(err)
			}
			calls := sound.Calls()
			for _, c := range []struct {
				name string
				kind error
				f    func(n int) *cuda.Faults
			}{
				{"alloc", cuda.ErrMemory, func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} }},
				{"launch", cuda.ErrLaunch, func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} }},
				{"kernel", cuda.ErrLost, func(n int) *cuda.Faults { return &cuda.Faults{FailWork: n} }},
				{"loss", cuda.ErrLost, func(n int) *cuda.Faults { return &cuda.Faults{LoseAfter: n * calls / 12} }},
			} {
				failed := 0
				for n := 1; n <= 10; n += step {
					err := x.runFaulty(t, c.f(n), g, p, want.Matches)
					if err != nil && !errors.Is(err, c.kind) {
						t.Errorf("%s %d: %v is not of the kind %q", c.name, n, err, c.kind)
					}
					if err != nil {
						failed++
					}
				}
				if failed == 0 {
					t.Errorf("%s: no run failed", c.name)
				}
			}
		})
	}
}

func (x *search) runFaulty(t *testing.T, f *cuda.Faults, g *graph.Graph, p *plan.Plan, want engine.Uint128) error {
	t.Helper()
	f.Backend = device.Backend(t, emu.Options{})
	d, err := cuda.New(f, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{Ring: 1 << 14})
	if err != nil {
		return err
	}
	got, rows, err := x.run(t, s, g, p)
	text := fmt.Sprintf("%v matches, %d rows, complete %v", got.Matches, rows, got.Complete)
	switch {
	case err == nil && (got.Matches != want || !got.Complete || x.listing && engine.U64(uint64(rows)) != want):
		t.Errorf("%s, and no error; want %v", text, want)
	case err != nil && (!got.Matches.IsZero() || got.Complete):
		t.Errorf("%s, with error %v", text, err)
	}
	if closed := s.Close(); err == nil {
		err = closed
	}
	if n := d.InUse(); n != 0 && !errors.Is(err, cuda.ErrLost) {
		t.Errorf("%d bytes are in use after error %v", n, err)
	}
	return err
}
