package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// inColumns is what a result says of a search in sweeps over columns.
const inColumns = "blocks of columns one after the other"

// planWedges is the plan of a count of wedges by their ends: of a pattern of the catalogue, for the local method.
func planWedges(t *testing.T, g *graph.Graph, name string, root int) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: root, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestColumns: on one device a count of wedges by their ends goes over blocks of columns. It counts the same with less and less memory, in all and by
// root, with tables that overflow, and again with the blocks of the run before; without sweeps, and where host memory has no room for
// blocks, it has a cache of lists. A device that leaves out a kernel gives no number.
func TestColumns(t *testing.T) {
	large, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 11, M: 30_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	small, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 12_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, c := range []struct {
			pattern string
			root    int
			opt     map[string]string
			memory  []int64 // in KiB
			short   bool
		}{
			{"cycle(4)", plan.NoRoot, nil, []int64{160}, true},
			{"cycle(4)", 0, nil, []int64{160}, true},
			{"cycle(4)", plan.NoRoot, nil, []int64{96}, false},
			{"cycle(4)", plan.NoRoot, map[string]string{"stack.local.table": "5"}, []int64{48}, false},
			{"cycle(4)", plan.NoRoot, map[string]string{"stack.local.table": "100", "gpu.cache": "degree"}, []int64{48}, false},
		} {
			if !c.short && !long.Asked() {
				continue
			}
			g := large
			if c.memory[0] < 64 {
				g = small // tables that overflow take long
			}
			p := planWedges(t, g, c.pattern, c.root)
			opt := map[string]string{gpu.Adjacency: "cached"}
			maps.Copy(opt, c.opt)
			off := maps.Clone(opt)
			off["gpu.sweeps"] = "off"
			goal := func() (out engine.Goal) {
				if c.root != plan.NoRoot {
					out.PerRoot = make([]engine.Uint128, g.NumVertices())
				}
				return out
			}
			byHost := goal()
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, byHost)
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			for _, memory := range c.memory {
				lists := 4*int64(len(g.Out.Adj)+2*len(g.Out.Off)) + 16*int64(len(g.Out.Off))
				for _, room := range []int64{0, lists} { // of host memory: for all, and for lists alone
					s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory << 10, Ring: 1 << 14, Host: room})
					if err != nil {
						t.Fatal(err)
					}
					var copied []int64
					for i, opt := range []map[string]string{opt, opt, off, opt} {
						got := goal()
						r, err := engine.Once(t.Context(), newStack(s), g, p, engine.Options{Opt: opt}, got)
						stats := strings.Join(r.Stats, "\n")
						if err != nil || r.Matches != want.Matches || !r.Complete || !slices.Equal(got.PerRoot, byHost.PerRoot) ||
							strings.Contains(stats, inColumns) != (i != 2 && room == 0) {
							t.Errorf("%v, %d KiB, host memory %d, run %d: %v (complete %v, %v), want %v: %s", c, memory, room, i, r.Matches, r.Complete, err, want.Matches, stats)
						}
						var f gpu.Figures
						f.Read(r.Stats)
						copied = append(copied, f.Copied)
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					t.Log(c.pattern, memory, room, copied)
				}
			}
		}
	})
	p := planWedges(t, small, "cycle(4)", plan.NoRoot)
	want, err := engine.Once(t.Context(), host.New(), small, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	two, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{}), device.Emulated(t, emu.Options{})}, session.Options{Memory: 48 << 10, Ring: 1 << 14})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Once(t.Context(), newStack(two), small, p, engine.Options{Opt: map[string]string{gpu.Adjacency: "cached"}}, engine.Goal{})
	if err != nil || r.Matches != want.Matches || !r.Complete || strings.Contains(strings.Join(r.Stats, " "), inColumns) {
		t.Errorf("on two devices: %v, complete %v, %v, want %v: %s", r.Matches, r.Complete, err, want.Matches, r.Stats)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	tries := 0
	device.Skipping(t, func(d *cuda.Device) error {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 48 << 10, Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tries++
		r, err := engine.Once(t.Context(), newStack(s), small, p, engine.Options{Opt: map[string]string{gpu.Adjacency: "cached"}}, engine.Goal{})
		if err == nil && (r.Matches != want.Matches || !r.Complete) || err != nil && (!r.Matches.IsZero() || r.Complete) {
			t.Errorf("%v, complete %v, %v; want %v", r.Matches, r.Complete, err, want.Matches)
		}
		return err
	})
	if tries < 5 {
		t.Errorf("%d devices that leave out a kernel", tries)
	}
}
