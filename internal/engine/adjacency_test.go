package engine_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/testing/device"
)

// places are ways of the engines of GPUs to search, each of which reads neighbour lists.
var places = []search{
	{"stack", "cycle(4)", "nest", false, newStack, nil},
	{"stack by a table, listing", "diamond", "nest", true, newStack, map[string]string{"stack.program": "table"}},
	{"stack, local", "clique(4)", "local", false, newStack, nil},
	{"fine", "cycle(4)", "nest", false, newFine, map[string]string{"fine.lookup": "search"}},
	{"fine, pruned", "diamond", "nest", false, newFine, map[string]string{"fine.prune": "on"}},
	{"fine by a candidate graph", "diamond", "nest", true, newFine, map[string]string{"fine.index": "hash"}},
	{"codegen", "cycle(4)", "nest", false, newCodegen, map[string]string{"codegen.lookup": "search"}},
	{"codegen, hash tables", "diamond", "nest", false, newCodegen, map[string]string{"codegen.lookup": "hash"}},
	{"codegen, listing", "clique(4)", "nest", true, newCodegen, nil},
}

// makes are the ways that make as much again as the lists in device memory.
var makes = map[string]bool{"fine, pruned": true, "fine by a candidate graph": true}

// TestAdjacency: every engine of GPUs reads neighbour lists in host memory if an option asks for it, or
// if the session may use too little device memory. Its count equals the host engine's, and a note says
// where the lists are. If lists must be in device memory and do not fit, the run has an error.
func TestAdjacency(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		spec, ring := gen.Spec{Model: "rmat", Scale: 10, M: 7000, Seed: 1}, int64(1<<14)
		if !d.Info().Emulated {
			spec = gen.Spec{Model: "rgg", Scale: 20, Degree: 8, Seed: 1} // grids need some megabytes, and reading in host memory takes its time
			ring = 0                                                     // millions of rows
		}
		g, err := gen.Generate(t.Context(), spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range places {
			t.Run(x.name, func(t *testing.T) { x.adjacency(t, d, g, ring) })
		}
	})
}

func (x search) adjacency(t *testing.T, d *cuda.Device, g *graph.Graph, ring int64) {
	lists := int64(4 * len(g.Out.Adj))
	tight := lists + int64(8*len(g.Out.Off)) // too little for these two arrays and the counters of a run
	p, own := x.plan(t, g), x.opt
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	for _, c := range []struct {
		place  string
		memory int64 // that the session may use; 0: all
		noted  bool  // every user is told
	}{{"host", 0, false}, {"managed", 0, false}, {"auto", tight, true}, {"device", tight, false}} {
		if c.place == "auto" && makes[x.name] {
			continue
		}
		x.opt = map[string]string{gpu.Adjacency: c.place}
		maps.Copy(x.opt, own)
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: c.memory, Ring: ring})
		if err != nil {
			t.Fatal(err)
		}
		ready, err := x.open(s).Prepare(t.Context(), g, p, engine.Options{Opt: x.opt, Listing: x.listing})
		if err != nil {
			t.Fatal(err)
		}
		if n := ready.Traits().Host; (n >= lists) != (c.place != "device") {
			t.Errorf("%s: %d bytes are expected in host memory; the lists take %d", c.place, n, lists)
		}
		got, rows, err := x.run(t, s, g, p)
		switch {
		case c.place == "device":
			if !errors.Is(err, session.ErrShort) || !errors.Is(err, cuda.ErrMemory) || !got.Matches.IsZero() {
				t.Errorf("%s: %v matches, error %v", c.place, got.Matches, err)
			}
		case err != nil || got.Matches != want.Matches || !got.Complete || x.listing && engine.U64(uint64(rows)) != want.Matches:
			t.Errorf("%s: %v (complete %v, %d rows, %v), the host says %v", c.place, got.Matches, got.Complete, rows, err, want.Matches)
		case !strings.Contains(strings.Join(got.Stats, "\n"), map[bool]string{false: "were read in host memory", true: "lay in managed memory"}[c.place == "managed"]) || strings.Contains(strings.Join(got.Notes, "\n"), "host memory") != c.noted:
			t.Errorf("%s: statistics %q, notes %q", c.place, got.Stats, got.Notes)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
