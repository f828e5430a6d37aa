package neighbourhood

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestSkippedLaunches: no number comes of a device that left kernels out, whether
// roots are listed by class or one kernel goes over all.
func TestSkippedLaunches(t *testing.T) {
	g := rmat(t, 7, 900)
	for _, name := range []string{"clique(3)", "gmatch:P2"} {
		p := planned(t, g, name)
		want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		for _, whole := range []string{"on", "off"} {
			device.Skipping(t, func(d *cuda.Device) error {
				s, err := session.Open([]*cuda.Device{d}, session.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				l, err := newSearch(g, p, d.Info(), with(t, map[string]string{"stack.local.whole": whole}))
				if err != nil {
					t.Fatal(err)
				}
				got, err := runOn(context.Background(), s, l, engine.Goal{})
				if what := fmt.Sprintf("%s, whole=%s: %v, complete %v, %v", name, whole, got.Matches, got.Complete, err); err == nil &&
					(got.Matches != want.Matches || !got.Complete) || err != nil && (!got.Matches.IsZero() || got.Complete) {
					t.Errorf("%s; want %v", what, want.Matches)
				}
				return err
			})
		}
	}
}
