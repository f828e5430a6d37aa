package join

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestCutKept: a relation is cut once for all plans that cut it the same way, until its graph is closed. One that lasts as long as a query
// is cut for each.
func TestCutKept(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 2000, Directed: true, EdgeLabels: 2, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{})}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept := g.Handle(g.Out.Lists())
	if !kept.Kept {
		t.Fatal("the graph's relation is not kept")
	}
	labels, _, err := layout.Open(t.Context(), nil, "", g, layout.Intervals, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	part, err := labels.Relation(t.Context(), kept, 1)
	if err != nil {
		t.Fatal(err)
	}
	own := &graph.Handle{ID: kept.ID, Parts: kept.Parts, Caps: kept.Caps}
	for _, c := range []struct {
		name string
		h    *graph.Handle
		part layout.Partition
		same bool
	}{{"of the graph", kept, nil, true}, {"of a partition", kept, part, true}, {"of a query", own, nil, false}} {
		cut := func(room int64) *relation {
			x := &onGPU{s: s, prepared: &prepared{g: g}}
			r := x.keptRelation(c.h, c.part)
			if len(r.segments) > 0 {
				t.Fatalf("%s: cut before it is", c.name)
			}
			x.keptCut(r, room, 1)
			return r
		}
		first, again, other := cut(3000), cut(3000), cut(5000)
		if same := &first.segments[0] == &again.segments[0]; same != c.same {
			t.Errorf("%s: cut once: %v", c.name, same)
		}
		if len(other.segments) >= len(first.segments) {
			t.Errorf("%s: %d segments with more room, %d with less", c.name, len(other.segments), len(first.segments))
		}
		if same := &first.off[0] == &again.off[0]; c.same && !same {
			t.Errorf("%s: two arrays of offsets", c.name)
		}
		if err := s.ForgetOwner(g); err != nil {
			t.Fatal(err)
		}
		if later := cut(3000); &first.segments[0] == &later.segments[0] {
			t.Errorf("%s: kept after its graph was closed", c.name)
		}
	}
}
