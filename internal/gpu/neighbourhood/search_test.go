package neighbourhood

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// localCases force each class of roots, and tables that overflow, on small graphs.
var localCases = []map[string]string{
	{},
	{"stack.local.classes": "64,128"},
	{"stack.local.classes": "256"},
	{"stack.local.classes": "512", "stack.local.table": "16"},
	{"stack.local.classes": "4096", "stack.local.table": "3"},
	{"stack.local.classes": "512", "stack.local.share": "off"},
	{"stack.local.whole": "off"},
}

// TestLocalPapers counts gMatch's P1–P9 by the local schedule and on the host, each
// pattern with a case of its own forced, and over lists with an offset for each vertex and over sparse ones.
func TestLocalPapers(t *testing.T) {
	graphs := map[string]*graph.Graph{"rmat": rmat(t, 7, 600), "dense": rmat(t, 5, 300)}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i := 1; i <= 9; i++ {
			if !long.Asked() && i%3 != 2 {
				continue
			}
			for name, g := range graphs {
				p := planned(t, g, fmt.Sprintf("gmatch:P%d", i))
				want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
				if err != nil {
					t.Fatal(err)
				}
				for n, k := range []int{0, 1 + i%(len(localCases)-1), 1 + (i+3)%(len(localCases)-1)} {
					opt := localCases[k]
					w := with(t, opt)
					p := p
					if n == 2 {
						p, w.sparse = overSparse(p), lower.AsStored
					}
					l, err := newSearch(g, p, d.Info(), w)
					if err != nil {
						t.Errorf("P%d %v: %v", i, opt, err)
						continue
					}
					got, err := runOn(context.Background(), s, l, engine.Goal{})
					if err != nil || got.Matches != want.Matches || !got.Complete {
						t.Errorf("P%d on %s, case %d: %v (complete %v, %v), want %v", i, name, k, got.Matches, got.Complete, err, want.Matches)
					}
				}
			}
		}
	})
}

// TestLocalOnTwoDevices deals the roots of plans of each kind to two devices, in
// rounds; in each of them blocks help each other where classes share roots.
func TestLocalOnTwoDevices(t *testing.T) {
	devices := []*cuda.Device{device.Emulated(t, emu.Options{}), device.Emulated(t, emu.Options{})}
	s, err := session.Open(devices, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := rmat(t, 7, 600)
	shared := map[string]string{"stack.local.classes": "512", "stack.local.table": "16"}
	for _, c := range []struct {
		name   string
		opt    map[string]string
		sparse bool
	}{{"gmatch:P2", nil, false}, {"gmatch:P4", nil, false}, {"gmatch:P5", nil, false}, {"gmatch:P5", shared, false}, {"gmatch:P4", nil, true}, {"gmatch:P5", shared, true}} {
		p, w := planned(t, g, c.name), with(t, c.opt)
		if c.sparse {
			p, w.sparse = overSparse(p), lower.AsStored
		}
		l, err := newSearch(g, p, devices[0].Info(), w)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameCounts(s, g, p, l, engine.Goal{}, engine.Goal{}); err != nil {
			t.Errorf("%s %v: %v", c.name, c.opt, err)
		}
	}
}

// planned is a pattern of the catalogue, planned for the local method.
func planned(t *testing.T, g *graph.Graph, name string) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rmat(t *testing.T, scale int, edges int) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "rmat", Scale: scale, M: uint64(edges), Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// overSparse returns p over lists without an offset for each vertex, whichever vertices have lists.
func overSparse(p *plan.Plan) *plan.Plan {
	q := *p
	q.Adjs = slices.Clone(p.Adjs)
	for i := range q.Adjs {
		q.Adjs[i].Lists = graph.NewHandle(graph.Lists{Sparse: graph.NewSparse(p.Adjs[i].Lists.Flat())})
	}
	return &q
}

// with are the switches that an engine's options stand for.
func with(t *testing.T, opt map[string]string) Switches {
	t.Helper()
	v, err := Options("stack").Read(opt)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := Read("stack", v)
	return w
}

// runOn runs what was prepared for a device on a session over such devices.
func runOn(ctx context.Context, s *session.Session, l *Search, goal engine.Goal) (engine.Result, error) {
	l.name, l.s = "local", s
	l.text, l.kernels = l.source()
	return l.Run(ctx, goal)
}

// TestCliques: cliques have a matrix of the neighbours below the root, one side of
// each row, on a GPU of any size of shared memory.
func TestCliques(t *testing.T) {
	g := rmat(t, 7, 600)
	for k := 4; k <= 7; k++ {
		p := planned(t, g, fmt.Sprintf("clique(%d)", k))
		for _, shared := range []int{48 << 10, 232448} {
			l, err := newSearch(g, p, cuda.Info{SMs: 132, SharedPerBlock: shared}, Switches{})
			if err != nil || l.code.Rows.Outside || l.code.Rows.Universe != plan.LowerSide || l.code.Rows.Rows != plan.LowerSide {
				t.Errorf("clique(%d) with %d bytes: %v", k, shared, err)
			}
		}
	}
}
