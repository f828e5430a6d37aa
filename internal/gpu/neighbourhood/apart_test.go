package neighbourhood

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// posing is an emulated device that passes for a GPU.
type posing struct{ cuda.Backend }

func (b posing) Open() (cuda.Info, error) {
	i, err := b.Backend.Open()
	i.Emulated = false
	return i, err
}

// TestApart: kernels of classes that are programs of their own, as on GPUs.
func TestApart(t *testing.T) {
	long.Only(t, "every class is compiled by itself")
	g := rmat(t, 7, 600)
	d, err := cuda.New(posing{device.Backend(t, emu.Options{})}, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := planned(t, g, "gmatch:P8")
	want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := New("stack", s, g, p, Switches{}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Run(context.Background(), engine.Goal{})
	if err != nil || got.Matches != want.Matches || len(l.classes) < 2 {
		t.Errorf("%v matches in %d classes, not %v: %v", got.Matches, len(l.classes), want.Matches, err)
	}
}
