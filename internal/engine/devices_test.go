package engine_test

import (
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
)

// search is a way of an engine of GPUs to run a plan.
type search struct {
	name, pattern, method string
	listing               bool
	open                  func(*session.Session) engine.Engine
	opt                   map[string]string
}

func (x *search) plan(t *testing.T, g *graph.Graph) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(x.pattern)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: x.method, Listing: x.listing, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run counts or lists the plan: rows are those of a listing.
func (x *search) run(t *testing.T, s *session.Session, g *graph.Graph, p *plan.Plan) (r engine.Result, rows int64, err error) {
	t.Helper()
	var sink engine.Sink
	counted := new(rowCounter)
	if x.listing {
		sink = counted
	}
	r, err = engine.Once(t.Context(), x.open(s), g, p, engine.Options{Opt: x.opt}, engine.Goal{Sink: sink})
	return r, counted.Load(), err
}

// rowCounter counts the rows that it is given.
type rowCounter struct{ atomic.Int64 }

func (c *rowCounter) Emit(_ int, b *engine.Batch) error {
	c.Add(int64(b.Rows))
	return nil
}

func newStack(s *session.Session) engine.Engine   { return stack.New(s) }
func newFine(s *session.Session) engine.Engine    { return fine.New(s) }
func newCodegen(s *session.Session) engine.Engine { return codegen.New(s) }

func newJoin(s *session.Session) engine.Engine { return join.NewGPU(s) }

func rmat(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 7, M: 600, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestDevices: one, two, four and eight devices count what the host does.
func TestDevices(t *testing.T) {
	var devices []*cuda.Device
	numbers := []int{1, 2, 4, 8}
	if !long.Asked() {
		numbers = []int{1, 8}
		t.Log("without WEFT_LONG: one and eight devices alone")
	}
	for range 8 {
		devices = append(devices, device.Emulated(t, emu.Options{SMs: 1}))
	}
	g := rmat(t)
	for _, x := range []search{
		{"stack", "cycle(4)", "nest", false, newStack, nil},
		{"fine", "cycle(4)", "nest", false, newFine, nil},
		{"codegen", "cycle(4)", "nest", false, newCodegen, nil},
		{"join", "cycle(4)", "nest", false, newJoin, map[string]string{"join.batch": "50"}},
		{"join, listing", "clique(4)", "nest", true, newJoin, nil},
		{"stack, local", "clique(4)", "local", false, newStack, nil},
		{"codegen, listing", "clique(4)", "nest", true, newCodegen, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := x.plan(t, g)
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || want.Matches.IsZero() {
				t.Fatal(want.Matches, err)
			}
			for _, n := range numbers {
				s, err := session.Open(devices[:n], session.Options{Ring: 1 << 14})
				if err != nil {
					t.Fatal(err)
				}
				got, rows, err := x.run(t, s, g, p)
				if err != nil || got.Matches != want.Matches || !got.Complete || x.listing && engine.U64(uint64(rows)) != want.Matches {
					t.Errorf("%d devices: %v (complete %v, %d rows, %v), the host says %v", n, got.Matches, got.Complete, rows, err, want.Matches)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
