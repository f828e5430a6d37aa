package stack_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestMain lowers the number of random plans unless it is given: each costs a run
// of the compiler. WEFT_CHECKS=N, or -rapid.checks, raises it.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		n := os.Getenv("WEFT_CHECKS")
		switch {
		case n != "":
		case !long.Asked():
			n = "5"
		default:
			n = "15"
		}
		flag.Set("rapid.checks", n)
	}
	os.Exit(m.Run())
}

// tiny is the engine with options that make a search fit the emulated device and
// its few cores; options of a run come on top.
type tiny struct {
	*stack.Engine
	opt map[string]string
}

func (e tiny) with(o engine.Options) engine.Options {
	opt := map[string]string{"stack.blocks": "2", "stack.threads": "64", "stack.sieve": "10"}
	maps.Copy(opt, e.opt)
	maps.Copy(opt, o.Opt)
	o.Opt = opt
	return o
}

func (e tiny) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	return e.Engine.Prepare(ctx, g, p, e.with(o))
}

// onDevice runs f with the engine over each kind of device that there is.
func onDevice(t *testing.T, f func(t *testing.T, e tiny)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) { withSession(t, func(e tiny) { f(t, e) }, d) })
}

func withSession(t *testing.T, f func(e tiny), devices ...*cuda.Device) {
	t.Helper()
	engines.WithSession(t, session.Options{}, func(s *session.Session) { f(tiny{Engine: stack.New(s)}) }, devices...)
}

// options are engine options from names without "stack." and values in turn.
func options(opt ...string) engine.Options {
	o := engine.Options{Opt: map[string]string{}}
	for i := 0; i+1 < len(opt); i += 2 {
		o.Opt["stack."+opt[i]] = opt[i+1]
	}
	return o
}

func nestPlan(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Method = "nest"
	return planner.Compile(g, p, o)
}

func named(t testing.TB, g *graph.Graph, name string, o plan.Options) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Root, o.Seed = plan.NoRoot, 1
	p, err := nestPlan(g, ps[0], o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rmat(t testing.TB, scale int, edges uint64) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "rmat", Scale: scale, M: edges, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func run(t testing.TB, e engine.Engine, g *graph.Graph, p *plan.Plan, o engine.Options) engine.Result {
	t.Helper()
	r, err := engine.Once(context.Background(), e, g, p, o, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete {
		t.Fatalf("%s: not complete", p.Pattern.Name)
	}
	return r
}

func hostCount(t testing.TB, g *graph.Graph, p *plan.Plan) engine.Uint128 {
	t.Helper()
	return run(t, host.New(), g, p, engine.Options{}).Matches
}

// TestNoDiff compares random plans with the oracle, with switches on and off.
func TestNoDiff(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		nodiff.Check(t, nodiff.Config{Engine: e, Compile: nestPlan, MaxVertices: 12, Opt: switches, Techniques: techniques, LeastRuns: 1})
	})
}

// techniques are those of nests that a run says it has used.
var techniques = []nodiff.Technique{
	deep.Walked().With("a cache of lists", "gpu.adjacency", "cached").Said("a cache of"),
	deep.Walked().With("siblings' sets at once", "stack.unroll", "8", "stack.flat", "off", "stack.stats", "on").Said(`combined steps [1-9]`),
	deep.Walked().With("flat lists", "stack.flat", "on", "stack.stats", "on").Said(`flat batches [1-9]`),
	deep.Walked().With("sets left unfiltered", "stack.slot", "1", "stack.stats", "on").Said(`sets left unfiltered [1-9]`),
	deep.With("edges as tasks", "stack.roots", "edge", "stack.stats", "on").Said(`edge chunks [1-9]`),
}

// deep are nests of several sets, made as early as can be.
var deep = nodiff.Technique{Patterns: nodiff.Dense, Columns: nodiff.Simple, Force: func(o *plan.Options, opt map[string]string) {
	nodiff.Nest.Force(o, opt)
	o.NoMotion = false
}}

// switches are options that random plans run with in half of the cases.
var switches = map[string]string{
	"stack.slot": "2", "stack.flat": "off", "stack.unroll": "8",
	"stack.roots": "edge", "stack.chunk": "1", "stack.steal": "block", "stack.stats": "on", "gpu.adjacency": "host|cached",
}

// TestSwitches counts by every switch on and off, on a graph with hubs.
func TestSwitches(t *testing.T) {
	g := rmat(t, 7, 700)
	walked := plan.Options{NoTail: true}
	for _, c := range []struct {
		name string
		plan plan.Options
		opts []engine.Options
	}{
		{"triangle", plan.Options{}, []engine.Options{options(), options("flat", "off"), options("roots", "edge", "chunk", "7"), options("sieve", "0")}},
		{"diamond", plan.Options{}, []engine.Options{options("steal", "off"), options("steal", "block"), options("unroll", "1", "flat", "off"), options("unroll", "8", "flat", "off", "roots", "edge")}},
		{"gmatch:P5", plan.Options{}, []engine.Options{options(), options("slot", "3"), options("slot", "3", "flat", "off", "unroll", "2"), options("program", "table", "slot", "3")}},
		{"gmatch:P8", plan.Options{}, []engine.Options{options("stop-level", "0", "detect-level", "0"), options("flat", "off", "unroll", "8", "slot", "5")}},
		{"path(4)", plan.Options{}, []engine.Options{options(), options("program", "table", "unroll", "8")}},
		{"star(4)", plan.Options{}, []engine.Options{options(), options("flat", "off")}},
		{"triangle", walked, []engine.Options{options()}},
		{"gmatch:P5", walked, []engine.Options{options("slot", "1")}},
		{"path(4)", walked, []engine.Options{options(), options("flat", "off", "unroll", "8")}},
		{"star(4)", walked, []engine.Options{options()}},
		{"gmatch:P8", plan.Options{NoMotion: true}, []engine.Options{options()}},
	} {
		p := named(t, g, c.name, c.plan)
		want := hostCount(t, g, p)
		onDevice(t, func(t *testing.T, e tiny) {
			for _, o := range c.opts {
				if got := run(t, e, g, p, o); got.Matches != want {
					t.Errorf("%s planned with %+v, with %v: %v, want %v (%v)", c.name, c.plan, o.Opt, got.Matches, want, got.Notes)
				}
			}
		})
	}
}
