package stack_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/faulty"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestDivided: hubs counted by the nest and the other roots by the local method are all matches: in all and by root, up to a limit, on one device
// and on two, with all of the graph there and with lists in host memory.
func TestDivided(t *testing.T) {
	g := rmat(t, 9, 9000)
	names := []string{"gmatch:P6"}
	if long.Asked() {
		names = append(names, "gmatch:P8", "diamond")
	}
	device.Several(t, func(t *testing.T, devices []*cuda.Device) {
		type budget struct {
			devices int
			memory  int64
			place   string
		}
		budgets := []budget{{1, 0, "device"}, {1, 120 << 10, "cached"}, {2, 76 << 10, "auto"}}
		if strings.HasSuffix(t.Name(), "/gpu") { // whose many blocks need more
			budgets = []budget{{1, 0, "device"}, {1, 200 << 10, "cached"}, {min(2, len(devices)), 200 << 10, "cached"}}
		}
		for _, c := range budgets {
			s, err := session.Open(devices[:c.devices], session.Options{Memory: c.memory, Ring: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				for _, root := range []int{plan.NoRoot, 1} {
					if root == 1 && (name != "gmatch:P6" || c.devices > 1) {
						continue
					}
					ps, err := pattern.ByName(name)
					if err != nil {
						t.Fatal(err)
					}
					p, err := planner.Compile(g, ps[0], plan.Options{Root: root, Method: "local", Seed: 1})
					if err != nil {
						t.Fatal(err)
					}
					var byHost, byDevice engine.Goal
					if root != plan.NoRoot {
						byHost.PerRoot, byDevice.PerRoot = make([]engine.Uint128, g.NumVertices()), make([]engine.Uint128, g.NumVertices())
					}
					want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, byHost)
					if err != nil || want.Matches.IsZero() {
						t.Fatal(want.Matches, err)
					}
					var told [2]uint64
					byDevice.Progress = func(done, total uint64) { told = [2]uint64{done, total} }
					for _, hubs := range []string{"auto", "on", "off"} {
						o := engine.Options{Opt: map[string]string{gpu.Adjacency: c.place, "stack.hubs": hubs, "stack.local.classes": "64,128,256,512,1024,4096"}}
						if hubs != "off" {
							o.Opt["stack.local.classes"] = "64"
						}
						if hubs == "auto" && c.place == "device" {
							continue // it is too large for its classes
						}
						clear(byDevice.PerRoot)
						got, err := engine.Once(t.Context(), stack.New(s), g, p, o, byDevice)
						stats := strings.Join(got.Stats, "\n")
						if err != nil || got.Matches != want.Matches || !got.Complete || !slices.Equal(byDevice.PerRoot, byHost.PerRoot) ||
							strings.Contains(stats, "roots with more than 64 neighbours by the nest") != (hubs != "off" && name != "diamond") {
							t.Errorf("%v, %s, root %d, hubs %s: %v (complete %v, %v), want %v: %s", c, name, root, hubs, got.Matches, got.Complete, err, want.Matches, stats)
						}
						if told[0] > told[1] {
							t.Errorf("%v, %s: told of %d tasks of %d", c, name, told[0], told[1])
						}
						if hubs == "on" && root == plan.NoRoot {
							limit := int64(want.Matches.Lo - 7)
							got, err := engine.Once(t.Context(), stack.New(s), g, p, o, engine.Goal{Limit: limit})
							if err != nil || got.Matches != engine.U64(uint64(limit)) || got.Complete {
								t.Errorf("%v, %s, limit %d: %v, complete %v, %v", c, name, limit, got.Matches, got.Complete, err)
							}
							var m engine.Memory
							if _, err := engine.Once(t.Context(), stack.New(s), g, p, o, engine.Goal{Memory: &m}); err != nil || m.Search == 0 {
								t.Errorf("%v, %s, rehearsed: %+v, %v", c, name, m, err)
							}
						}
					}
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestHubsNote: stack.hubs=on says so where it has no effect.
func TestHubsNote(t *testing.T) {
	g := rmat(t, 8, 3000)
	for name, want := range map[string]bool{"triangle": true, "gmatch:P6": false} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{})}, session.Options{Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Opt: map[string]string{"stack.hubs": "on", "stack.local.classes": "64,4096", "gpu.adjacency": "cached"}}
		r, err := engine.Once(t.Context(), stack.New(s), g, p, o, engine.Goal{})
		if noted := strings.Contains(strings.Join(r.Notes, "\n"), "stack.hubs=on has no effect"); err != nil || r.Matches != hostCount(t, g, p) || noted != want {
			t.Errorf("%s: %v, %v, %v", name, r.Matches, r.Notes, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDividedEnds: whichever copy or launch fails, wherever the device is lost and wherever the context ends, there is the right number or an error
// with none, or with a part of the matches if the context ended.
func TestDividedEnds(t *testing.T) {
	g := rmat(t, 8, 3000)
	ps, err := pattern.ByName("gmatch:P6")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := hostCount(t, g, p)
	o := engine.Options{Opt: map[string]string{"stack.hubs": "on", "stack.local.classes": "64", gpu.Adjacency: "cached"}}
	count := func(f *cuda.Faults) error {
		return faulty.Count(t, f, want, func(s *session.Session) (engine.Result, error) {
			return engine.Once(context.Background(), stack.New(s), g, p, o, engine.Goal{})
		})
	}
	sound := &cuda.Faults{}
	if err := count(sound); err != nil {
		t.Fatalf("without faults: %v", err)
	}
	tries := 12
	failed := map[string]int{}
	for n := 1; n <= tries; n++ {
		for name, f := range map[string]*cuda.Faults{"copy": {FailCopy: 2 * n}, "launch": {FailLaunch: n}, "loss": {LoseAfter: n * sound.Calls() / tries}} {
			if count(f) != nil {
				failed[name]++
			}
		}
	}
	if len(failed) != 3 {
		t.Errorf("failures: %v", failed)
	}
	interrupted := errors.New("interrupted")
	ended := 0
	for n := 1; n <= tries; n++ {
		ctx, end := context.WithCancelCause(t.Context())
		f := &cuda.Faults{Backend: device.Backend(t, emu.Options{}), CallAt: n * sound.Calls() / tries, Call: func() { end(interrupted) }}
		d, err := cuda.New(f, device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open([]*cuda.Device{d}, session.Options{Ring: 1 << 14})
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.Once(ctx, stack.New(s), g, p, o, engine.Goal{})
		switch {
		case err == nil && got.Matches == want && got.Complete:
		case errors.Is(err, interrupted) && got.Matches.Cmp(want) <= 0 && !got.Complete:
			ended++
		default:
			t.Errorf("ended at call %d: %v, complete %v, %v", n*sound.Calls()/tries, got.Matches, got.Complete, err)
		}
		end(nil)
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	if ended == 0 {
		t.Error("no search ended with its context")
	}
}
