package device

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestSkippedLaunches: no number comes of a device that left phases out.
func TestSkippedLaunches(t *testing.T) {
	g := cliques(t, 9)
	o, err := schedule.Parse(schedule.CUDA, "group=8,threads=64,block=64")
	if err != nil {
		t.Fatal(err)
	}
	device.Skipping(t, func(d *cuda.Device) error {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		p, in, c := ready(t, named(t, "triangles"), g)
		got, err := Run(t.Context(), s, p, in, c, Options{Schedule: o})
		const triangles = 84 // 9 over 3
		if err == nil && (len(got.Words) != 1 || got.Words[0] != triangles) || err != nil && len(got.Words) > 0 {
			t.Errorf("%v, %v; want %d", got.Words, err, triangles)
		}
		return err
	})
}
