package stack_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestSkippedLaunches: no number comes of a device that left kernels out.
func TestSkippedLaunches(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 300, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("gmatch:P1")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := host.New().Run(t.Context(), g, p, engine.Options{}, nil)
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	device.Skipping(t, func(d *cuda.Device) error {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, err := stack.New(s).Run(t.Context(), g, p, engine.Options{}, nil)
		if err == nil && (got.Matches != want.Matches || !got.Complete) || err != nil && (!got.Matches.IsZero() || got.Complete) {
			t.Errorf("%v, complete %v, %v; want %v", got.Matches, got.Complete, err, want.Matches)
		}
		return err
	})
}
