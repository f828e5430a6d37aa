package codegen_test

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestTableFaults lets the device refuse a call, whichever it is, of a nest that looks up in hash
// tables and has to make them: the run has an error and no number, nothing is left on
// the device, and the next run in the session, where there can be one, finds no table half
// made.
func TestTableFaults(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 7, M: 700, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	qs, err := gql.ByName("cycle(5)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	want, err := host.New().Run(t.Context(), g, p, engine.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, f *cuda.Faults, o engine.Options) error {
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
		got, err := codegen.New(s).Run(t.Context(), g, p, o, nil)
		switch {
		case err == nil && (got.Matches != want.Matches || !got.Complete):
			t.Errorf("%v, complete %v, and no error; want %v", got.Matches, got.Complete, want.Matches)
		case err != nil && (!got.Matches.IsZero() || got.Complete):
			t.Errorf("%v, complete %v, with error %v", got.Matches, got.Complete, err)
		case err != nil:
			again, failed := codegen.New(s).Run(t.Context(), g, p, o, nil)
			if failed == nil && again.Matches != want.Matches {
				t.Errorf("%v matches after error %v, want %v", again.Matches, err, want.Matches)
			}
		}
		if closed := s.Close(); err == nil {
			err = closed
		}
		if n := d.InUse(); n != 0 && !errors.Is(err, cuda.ErrLost) {
			t.Errorf("%d bytes are in use after error %v", n, err)
		}
		return err
	}
	o := engine.Options{Opt: map[string]string{"codegen.lookup": "hash"}}
	for what, fault := range map[string]func(n int) *cuda.Faults{
		"alloc":  func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} },
		"launch": func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} },
		"skip":   func(n int) *cuda.Faults { return &cuda.Faults{SkipFrom: n} },
	} {
		t.Run(what, func(t *testing.T) {
			failed := 0
			for n := 1; n <= 40 && run(t, fault(n), o) != nil; n++ {
				failed++
			}
			if failed < 2 { // the kernel that makes tables, and the search
				t.Errorf("%d calls failed", failed)
			}
		})
	}
}
