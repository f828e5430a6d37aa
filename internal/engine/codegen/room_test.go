package codegen_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestRoomForBits: rows of bits are a small part of the memory in a dense graph, and are
// not chosen where its lists leave less than that; the nest is counted without them.
func TestRoomForBits(t *testing.T) {
	const n = 512
	g := nodiff.Complete(n).Build()
	p, want := countedNest(t, g, "gmatch:P1")
	lists := int64(4*n*(n-1) + 8*(n+1) + 8*n)
	d := device.Emulated(t, emu.Options{})
	for _, c := range []struct {
		left int64
		how  membership.Lookup
	}{{40 << 10, membership.Search}, {4 * n * n / 8, membership.Bits}} {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: lists + c.left, Ring: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		e := codegen.New(s)
		if how := e.Lookup(p, engine.Options{}); how != c.how {
			t.Errorf("%d bytes left: looks up by %v, want %v", c.left, how, c.how)
		}
		got, err := engine.Once(t.Context(), e, g, p, engine.Options{}, engine.Goal{})
		if err != nil || got.Matches != want {
			t.Errorf("%d bytes left: %v matches, want %v: %v", c.left, got.Matches, want, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
