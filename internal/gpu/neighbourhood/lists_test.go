package neighbourhood

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestListsAsLong: where memory is short the lists of roots are as long as there are roots, and not as
// there are vertices in each class. A device that leaves out the kernel which counts them gives no number.
func TestListsAsLong(t *testing.T) {
	g := rmat(t, 12, 20_000)
	p := planned(t, g, "gmatch:P4")
	want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	arrays := int64(4*len(g.Out.Adj) + 16*len(g.Out.Off))
	n := int64(g.NumVertices())
	run := func(d *cuda.Device, memory int64) (f gpu.Figures, classes int, got engine.Result, err error) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l, err := newSearch(g, p, d.Info(), with(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		got, err = runOn(context.Background(), s, l, engine.Goal{})
		f.Read(got.Stats)
		return f, len(l.classes), got, err
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, memory := range []int64{0, arrays + 24*n} {
			f, classes, got, err := run(d, memory)
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%d bytes: %v (complete %v, %v), want %v", memory, got.Matches, got.Complete, err, want.Matches)
			}
			// Besides the lists there are the counters and a line for each class.
			if most := 4*n + 24<<10; (f.Search <= most) != (memory > 0) {
				t.Errorf("%d bytes, %d classes: the search took %d", memory, classes, f.Search)
			}
		}
	})
	device.Skipping(t, func(d *cuda.Device) error {
		_, _, got, err := run(d, arrays+24*n)
		if what := fmt.Sprintf("%v, complete %v, %v", got.Matches, got.Complete, err); err == nil && (got.Matches != want.Matches || !got.Complete) ||
			err != nil && (!got.Matches.IsZero() || got.Complete) {
			t.Errorf("%s; want %v", what, want.Matches)
		}
		return err
	})
}
