package route

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/testing/device"
)

// watchRuntime has one emulated GPU, or none.
func watchRuntime(t *testing.T, gpus int) *runtime.Runtime {
	return runtime.New(runtime.Options{
		Count: func() (int, error) { return gpus, nil },
		Open: func(int) (*cuda.Device, error) {
			return cuda.New(device.Backend(t, emu.Options{}), device.Objects().Images)
		},
	})
}

// TestWatchEngines: each engine matches, and gives back what it holds.
func TestWatchEngines(t *testing.T) {
	q, err := gql.Parse("MATCH triangle")
	if err != nil {
		t.Fatal(err)
	}
	rt := watchRuntime(t, 1)
	for _, r := range []WatchRequest{{Engine: "host"}, {Engine: "cached"}, {Engine: "pipeline"}, {Device: "gpu:0"}, {Switches: map[string]string{"cached.cache": "off"}}, {}} {
		r.Runtime, r.Graph, r.Workers = rt, dynamic.New(false, false), 1
		c, err := Watch(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		want := r.Engine
		if want == "" {
			want = "cached"
			if r.Device == "" && r.Switches == nil {
				want = "host"
			}
		}
		if _, err := c.Add("q", q.Pattern, nest.WatchOptions{CountsOnly: true}); err != nil {
			t.Fatal(err)
		}
		edges := [][2]uint64{{1, 2}, {2, 3}, {1, 3}}
		res, err := c.Steps(t.Context(), func() (done dynamic.Result, ok bool, err error) {
			if len(edges) == 0 {
				return 0, false, nil
			}
			e := edges[0]
			edges = edges[1:]
			done, err = r.Graph.AddEdge(dynamic.Num(e[0]), dynamic.Num(e[1]), dynamic.NoLabel)
			return done, true, err
		}, nil)
		if err != nil || len(res.Counts) != 1 || res.Counts[0].Added != engine.U64(1) || c.Engine != want {
			t.Errorf("%+v: engine %s, %v, %v", r, c.Engine, res.Counts, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAutoWatch: auto says why it chose an engine, and asks for a GPU only if the graph and the batches are large.
func TestAutoWatch(t *testing.T) {
	large, small := dynamic.New(false, false), dynamic.New(false, false)
	for v := range uint64(3) {
		if _, err := large.AddEdge(dynamic.Num(v), dynamic.Num(v+1), dynamic.NoLabel); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		r            WatchRequest
		gpus         int
		engine, says string
	}{
		{WatchRequest{Graph: small, Batch: 4096}, 1, "host", "the graph has 0 edges"},
		{WatchRequest{Graph: large}, 1, "host", "not known"},
		{WatchRequest{Graph: large, Batch: 64}, 1, "host", "at most 64 updates"},
		{WatchRequest{Graph: large, Batch: 4096}, 0, "host", "no GPU"},
		{WatchRequest{Graph: large, Batch: 4096, Memory: 1}, 1, "host", "of memory"},
		{WatchRequest{Graph: large, Batch: 4096, Device: "cpu"}, 1, "host", "cpu was asked for"},
		{WatchRequest{Graph: large, Batch: 4096}, 1, "cached", "up to 4096 updates"},
		{WatchRequest{Graph: small, Device: "gpu:0"}, 1, "cached", "gpu:0 was asked for"},
	} {
		c.r.Runtime = watchRuntime(t, c.gpus)
		if engine, reason := autoWatch(t.Context(), &c.r, 3); engine != c.engine || !strings.Contains(reason, c.says) {
			t.Errorf("%+v: %s: %s; want %s, %s", c.r, engine, reason, c.engine, c.says)
		}
	}
}

// TestWatchRefused: wrong names, and engines on devices where they do not run.
func TestWatchRefused(t *testing.T) {
	for _, c := range []struct {
		r    WatchRequest
		gpus int
		err  error
	}{
		{WatchRequest{Engine: "fine"}, 1, ErrName},
		{WatchRequest{Engine: "host", Device: "gpu:0"}, 1, ErrName},
		{WatchRequest{Engine: "cached", Device: "cpu"}, 1, ErrName},
		{WatchRequest{Engine: "pipeline", Device: "cpu"}, 1, ErrName},
		{WatchRequest{Engine: "cached", Switches: map[string]string{"pipeline.batch": "8"}}, 1, engine.ErrOption},
		{WatchRequest{Switches: map[string]string{"pipeline.batch": "0"}}, 1, engine.ErrOption},
		{WatchRequest{Engine: "cached", Device: "gpu:0,1"}, 2, ErrName},
		{WatchRequest{Engine: "cached", Device: "gpu:1"}, 1, ErrDevice},
		{WatchRequest{Engine: "host", Switches: map[string]string{"cached.cache": "off"}}, 1, engine.ErrOption},
		{WatchRequest{Switches: map[string]string{"cached.cache": "some"}}, 1, engine.ErrOption},
		{WatchRequest{Switches: map[string]string{"host.steal": "on"}}, 1, engine.ErrOption},
		{WatchRequest{Switches: map[string]string{"host.late": "never"}}, 1, engine.ErrOption},
		{WatchRequest{Engine: "cached", Switches: map[string]string{"host.late": "off"}}, 1, engine.ErrOption},
	} {
		c.r.Runtime, c.r.Graph = watchRuntime(t, c.gpus), dynamic.New(false, false)
		if x, err := Watch(context.Background(), c.r); !errors.Is(err, c.err) {
			t.Errorf("%+v: %v, want %v", c.r, err, c.err)
			if err == nil {
				_ = x.Close()
			}
		}
	}
}
