package engine_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestSkippedLaunches: no number comes of a device that left kernels out.
func TestSkippedLaunches(t *testing.T) {
	g := rmat(t)
	for _, x := range []search{
		{"stack", "gmatch:P1", "nest", false, newStack, nil},
		{"join", "gmatch:P1", "nest", false, newJoin, nil},
		{"join, Prealloc-Combine", "gmatch:P1", "nest", false, newJoin, map[string]string{"join.output": "prealloc"}},
		{"join, two passes", "gmatch:P1", "nest", false, newJoin, map[string]string{"join.output": "twopass"}},
		{"join, layers", "gmatch:P1", "nest", false, newJoin, map[string]string{"join.balance": "on"}},
		{"join, several vertices", "gmatch:P1", "nest", false, newJoin, map[string]string{"join.extend": "multi"}},
		{"codegen", "gmatch:P1", "nest", false, newCodegen, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := x.plan(t, g)
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			device.Skipping(t, func(d *cuda.Device) error {
				s, err := session.Open([]*cuda.Device{d}, session.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				got, _, err := x.run(t, s, g, p)
				if err == nil && (got.Matches != want.Matches || !got.Complete) || err != nil && (!got.Matches.IsZero() || got.Complete) {
					t.Errorf("%v, complete %v, %v; want %v", got.Matches, got.Complete, err, want.Matches)
				}
				return err
			})
		})
	}
}
