package fine_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestRoomForBits: fine looks neighbours up in rows of bits by itself where the lists, and
// those that it makes without vertices of few neighbours, leave room for them.
func TestRoomForBits(t *testing.T) {
	const n = 512
	ps, err := pattern.ByName("diamond")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(nodiff.Complete(n).Build(), ps[0], plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	lists, bits := int64(4*n*(n-1)+8*(n+1)+8*n), int64(n*n/8)
	d := device.Emulated(t, emu.Options{})
	for _, c := range []struct {
		memory int64
		prune  string
		bits   bool
	}{
		{lists + bits, "off", false},
		{lists + 4*bits, "off", true},
		{lists + 4*bits, "on", false},
		{2*lists + 4*bits, "on", true},
	} {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory})
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Opt: map[string]string{"fine.prune": c.prune}}
		if got := fine.New(s).LooksUpBits(p, o); got != c.bits {
			t.Errorf("%+v: %v", c, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
