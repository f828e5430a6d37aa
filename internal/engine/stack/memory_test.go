package stack_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

var setsOf = regexp.MustCompile(`sets of up to \d+ elements`)

// TestLittleMemory gives a session less and less memory: sets get what is left
// beside the graph, and a run that cannot be is refused as one without memory.
func TestLittleMemory(t *testing.T) {
	g := rmat(t, 7, 700)
	p := named(t, g, "gmatch:P5", plan.Options{})
	want := hostCount(t, g, p)
	sizes := map[string]bool{}
	refused := false
	for memory := int64(1 << 20); memory >= 1<<14; memory = memory / 4 * 3 {
		d := device.Emulated(t, emu.Options{})
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Once(context.Background(), tiny{Engine: stack.New(s)}, g, p, engine.Options{}, engine.Goal{})
		switch {
		case errors.Is(err, cuda.ErrMemory):
			refused = true
		case err != nil || r.Matches != want || !r.Complete || len(r.Notes) > 0:
			t.Errorf("%d bytes: %v (complete %v, %v, %v), want %v", memory, r.Matches, r.Complete, r.Notes, err, want)
		default:
			sizes[setsOf.FindString(strings.Join(r.Stats, "\n"))] = true
		}
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	if len(sizes) < 2 || !refused {
		t.Errorf("sizes %v, refused %v: want several, and a run that does not fit", sizes, refused)
	}
	t.Log(sizes)
}
