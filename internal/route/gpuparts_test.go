package route

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestAutoParts: a graph that does not fit the GPU is searched in parts if these are kept next to its file, and counts the
// same. With other parts, without parts, where it fits, or where many edges are between parts, it is not.
func TestAutoParts(t *testing.T) {
	t.Run("few edges are cut", func(t *testing.T) { autoParts(t, gen.Spec{Model: "grid", Dims: []uint64{12, 300}}, "gpu:0", true) })
	t.Run("chosen by itself", func(t *testing.T) { autoParts(t, gen.Spec{Model: "grid", Dims: []uint64{12, 300}}, "", true) })
	t.Run("many edges are cut", func(t *testing.T) {
		autoParts(t, gen.Spec{Model: "rmat", Scale: 10, M: 5000, Seed: 1}, "gpu:0", false)
	})
}

func autoParts(t *testing.T, spec gen.Spec, name string, pays bool) {
	made, compile := cyclesOf(t, spec)
	file := filepath.Join(t.TempDir(), "g.weft")
	if err := made.WriteFile(vfs.OS{}, file); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(t.Context(), file, graph.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p, err := compile("", "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), made, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	tight := int64(4*len(g.Out.Adj)+8*len(g.Out.Off)) * 9 / 10 // so that there are 3 parts
	for _, c := range []struct {
		parts  int // that are made before
		memory int64
		taken  bool
	}{{0, tight, false}, {2, tight, false}, {3, 1 << 20, false}, {3, tight, pays}} {
		if c.parts > 0 {
			if _, _, err := partition.Open(t.Context(), nil, file, g, partition.Options{Parts: c.parts, Slack: partition.DefaultSlack}); err != nil {
				t.Fatal(err)
			}
		}
		rt := runtime.New(runtime.Options{
			Count: func() (int, error) { return 1, nil },
			Open: func(int) (*cuda.Device, error) {
				return cuda.New(device.Backend(t, emu.Options{SMs: 1}), device.Objects().Images)
			},
		})
		choice, err := Pick(t.Context(), Request{
			Runtime: rt, Graph: g, Device: name, GPUMemory: c.memory, Options: engine.Options{Threads: 1, Opt: map[string]string{}},
			Compile: func(method, _ string) (*plan.Plan, error) {
				q, err := planner.Compile(g, p.Pattern, plan.Options{Root: plan.NoRoot, Method: method})
				if q != nil {
					q.Price = 1e12
				}
				return q, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		why := map[string]string{"gpu:0": "g.weft.parts", "": "by engine partition"}[name]
		if taken := choice.Engine.Name() == "partition"; taken != c.taken || taken != strings.Contains(choice.Reason, why) {
			t.Errorf("%+v: engine %s, because %s", c, choice.Engine.Name(), choice.Reason)
		}
		if c.taken {
			got, err := choice.Run(t.Context(), engine.Goal{})
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%+v: %v (complete %v, %v), want %v", c, got.Matches, got.Complete, err, want.Matches)
			}
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}
