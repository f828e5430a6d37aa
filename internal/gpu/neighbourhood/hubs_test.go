package neighbourhood

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// hubs is a graph in which the order of vertices says nothing about X edges. Y edges make a
// clique of n of its vertices, which have two leaves each and come first. X edges join
// neighbours in a ring, random pairs, and all of the clique to each of a few vertices behind
// them.
func hubs(n, random, stars int, seed uint64) *graph.Graph {
	r := rand.New(rand.NewPCG(seed, 0))
	s := nodiff.Spec{N: 3*n + stars, EdgeLabels: true}
	add := func(u, v int, label string) { s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v, Label: label}) }
	for i := range n {
		for j := range i {
			add(i, j, "Y")
			if i-j <= 2 {
				add(i, j, "X")
			}
		}
		add(i, n+2*i, "Y")
		add(i, n+2*i+1, "Y")
		for k := range stars {
			add(i, 3*n+k, "X")
		}
	}
	for range random {
		add(r.IntN(n), r.IntN(n), "X")
	}
	return s.Build()
}

// complete is a graph in which any two of n vertices are neighbours.
func complete(n int) *graph.Graph {
	s := nodiff.Spec{N: n}
	for i := range n {
		for j := range i {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: i, V: j})
		}
	}
	return s.Build()
}

// overX is a pattern of the catalogue whose edges are X edges, planned for the
// local method.
func overX(t *testing.T, g *graph.Graph, name string) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	x := &pattern.Label{Op: pattern.LabelName, Name: "X"}
	for i := range ps[0].Edges {
		ps[0].Edges[i].Label = x
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLocalHubsOverFilteredEdges counts over edges whose lists have nothing to do
// with the order of vertices: universes are as large as those lists.
func TestLocalHubsOverFilteredEdges(t *testing.T) {
	shapes := []struct {
		random, stars int
		names         []string
	}{
		{0, 1, []string{"clique(4)"}},
		{900, 3, []string{"clique(4)", "gmatch:P2"}},
	}
	if device.Required() {
		for k := range 8 {
			shapes = append(shapes, shapes[0])
			s := &shapes[len(shapes)-1]
			s.random, s.stars, s.names = 500*k, k, []string{"triangle", "diamond", "clique(4)", "gmatch:P1", "gmatch:P2", "gmatch:P4", "gmatch:P5"}
		}
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !long.Asked() {
			t.Log("without WEFT_LONG: clique(4) alone, since each pattern's kernels are compiled")
		}
		for i, c := range shapes {
			g := hubs(300, c.random, c.stars, uint64(i))
			for _, name := range c.names {
				if !long.Asked() && name != "clique(4)" {
					continue
				}
				p := overX(t, g, name)
				var opt map[string]string
				if i%2 == 1 {
					opt = map[string]string{"stack.local.classes": "64,128,4096"} // rows of the hubs are in global memory
				}
				l, err := newSearch(g, p, d.Info(), with(t, opt))
				if err != nil {
					t.Fatal(err)
				}
				if c.stars > 0 && l.most < 300 && l.most > 0 {
					t.Errorf("%s: universes of at most %d, and some vertex has 300 neighbours", name, l.most)
				}
				if err := sameCounts(s, g, p, l, engine.Goal{}, engine.Goal{}); err != nil {
					t.Errorf("%s with %d stars: %v", name, c.stars, err)
				}
			}
		}
	})
}

// TestLocalNoRoom: a root that no class has room for is searched by none; the run
// fails.
func TestLocalNoRoom(t *testing.T) {
	g := hubs(260, 0, 1, 1)
	p := overX(t, g, "clique(4)")
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l, err := newSearch(g, p, d.Info(), Switches{})
		if err != nil {
			t.Fatal(err)
		}
		l.most = 30
		if err := l.choose(d.Info()); err != nil {
			t.Fatal(err)
		}
		if _, err := runOn(context.Background(), s, l, engine.Goal{}); !errors.Is(err, ErrUniverse) {
			t.Errorf("a universe of 260 in classes for 256: %v", err)
		}
		l, err = newSearch(g, p, d.Info(), Switches{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameCounts(s, g, p, l, engine.Goal{}, engine.Goal{}); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}

// TestLocalStops: a run that is stopped, by a limit or by its context, does not
// search the roots that it has begun to their end.
func TestLocalStops(t *testing.T) {
	g := complete(90)
	p := planned(t, g, "clique(7)")
	d := device.Emulated(t, emu.Options{})
	defer d.Close()
	ses, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ses.Close()
	l, err := newSearch(g, p, d.Info(), Switches{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runOn(context.Background(), ses, l, engine.Goal{Limit: 1000})
	if err != nil || r.Complete || r.Matches != engine.U64(1000) {
		t.Errorf("limit 1000: %v (complete %v, %v)", r.Matches, r.Complete, err)
	}
	const all uint64 = 7471375560 // 90 over 7
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	r, err = runOn(ctx, ses, l, engine.Goal{})
	if !errors.Is(err, context.DeadlineExceeded) || r.Complete || r.Matches.Hi > 0 || r.Matches.Lo > all/2 {
		t.Errorf("a context that ends at once: %v of %d (complete %v, %v)", r.Matches, all, r.Complete, err)
	}
	t.Logf("%v of %d in %v", r.Matches, all, r.Search)
}

// TestLocalHelp: what lies below a root is the work of blocks that have no root of
// their own, and is counted once.
func TestLocalHelp(t *testing.T) {
	g := complete(36)
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		ses, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer ses.Close()
		// Without and with an outside vertex.
		for _, name := range []string{"clique(5)", "gmatch:P5"} {
			p := planned(t, g, name)
			want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			for _, share := range []string{"on", "off"} {
				opt := map[string]string{"stack.local.classes": "512", "stack.local.table": "16", "stack.local.share": share}
				l, err := newSearch(g, p, d.Info(), with(t, opt))
				if err != nil {
					t.Fatal(err)
				}
				helped := false
				// The first grid may be through with all of it before the second begins.
				for range 50 {
					r, err := runOn(context.Background(), ses, l, engine.Goal{})
					if err != nil || r.Matches != want.Matches || len(r.Notes) > 0 {
						t.Fatalf("%s: %v matches (%v, %v), want %v", name, r.Matches, r.Notes, err, want.Matches)
					}
					if helped = !strings.Contains(strings.Join(r.Stats, ""), " 0 times with help"); helped || share == "off" {
						break
					}
				}
				if helped != (share == "on") && (helped || d.Info().Emulated) {
					t.Errorf("%s with share=%s: helped %v", name, share, helped)
				}
			}
		}
	})
}
