package codegen_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestHub: if candidate sets as long as a hub's list leave no room for all blocks, fewer blocks
// count, and a note says so. codegen is not worth taking there. It is if memory is plenty.
func TestHub(t *testing.T) {
	const leaves = 6_000
	spec := &nodiff.Spec{N: leaves + 1}
	for v := 1; v <= leaves; v++ {
		spec.Edges = append(spec.Edges, nodiff.SpecEdge{U: 0, V: v})
		if v > 1 && v%50 != 0 {
			spec.Edges = append(spec.Edges, nodiff.SpecEdge{U: v - 1, V: v})
		}
	}
	g := spec.Build()
	p, want := countedNest(t, g, "gmatch:P5")
	hash := engine.Options{Opt: map[string]string{"codegen.lookup": "hash"}}
	d := device.Emulated(t, emu.Options{})
	for _, c := range []struct {
		memory int64
		suits  bool
	}{{700 << 10, false}, {400 << 20, true}} {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory, Ring: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		e := codegen.New(s)
		o := engine.Options{}
		if c.suits {
			o = hash
		}
		got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
		if err != nil || got.Matches != want {
			t.Errorf("%d bytes: %v matches, %v on host: %v", c.memory, got.Matches, want, err)
		}
		if few := strings.Contains(strings.Join(got.Notes, "\n"), "blocks have room"); few == c.suits {
			t.Errorf("%d bytes: notes %q", c.memory, got.Notes)
		}
		ready, err := e.Prepare(t.Context(), g, p, hash)
		if err != nil {
			t.Fatal(err)
		}
		if got := ready.Traits(); (got.Hashes && got.Fits) != c.suits {
			t.Errorf("%d bytes: %+v", c.memory, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
