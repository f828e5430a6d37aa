package host_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

func config() nodiff.Config {
	return nodiff.Config{
		Engine:  host.New(),
		Compile: planner.Compile,
		Opt:     map[string]string{"host.steal": "off", "host.bitmap": "off", "host.windows": "off"},
	}
}

// TestNoDiff: every method, order and switch against the oracle on random small
// graphs, in all semantics.
func TestNoDiff(t *testing.T) {
	c := config()
	c.Techniques = slices.Concat(nodiff.Nests, []nodiff.Technique{
		nodiff.Local, nodiff.LocalOutside, nodiff.Large, nodiff.LargeListing, nodiff.Windows,
		nodiff.Cut, nodiff.Merged, nodiff.InducedSum, nodiff.Cycle, nodiff.Groups,
	})
	c.LeastRuns = 20
	nodiff.Check(t, c)
}

// TestReduced: nests find what the oracle finds in plans whose candidates the labels of edges or semijoins have reduced.
func TestReduced(t *testing.T) {
	c := config()
	filtered, joined, n := 0, 0, 0
	c.Compile = func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
		// Searches of small graphs are too short for semijoins, except where a GPU is to make them.
		o.Order, o.Given = []string{"join", plan.JoinOnGPU}[n%2], nil
		n++
		pl, err := planner.Compile(g, p, o)
		switch {
		case pl == nil || pl.Reduction == nil:
		case pl.Reduction.Joined:
			joined++
		default:
			filtered++
		}
		return pl, err
	}
	nodiff.Suite{Plans: 120, Graphs: 6}.Run(t, c, []engine.Engine{host.New()})
	if filtered < 10 || joined < 10 {
		t.Errorf("only %d plans had their candidates filtered, and %d reduced by semijoins", filtered, joined)
	}
}

// TestConditions: edges bound to data edges, and conditions that compare several
// vertices and edges, which wait for the last of them.
func TestConditions(t *testing.T) {
	c := config()
	c.Patterns = nodiff.Conditions
	nodiff.Check(t, c)
}

// TestTemporal: ORDERED and WITHIN on multigraphs with equal times.
func TestTemporal(t *testing.T) {
	c := config()
	c.Patterns, c.Columns = nodiff.Temporal, nodiff.Timed
	nodiff.Check(t, c)
	nodiff.Suite{Plans: 40, Graphs: 12}.Run(t, c, []engine.Engine{host.New()})
}

// TestLaws: counts do not change if vertices are renamed, if the pattern is permuted, or if a second
// graph is added without edges to the first.
func TestLaws(t *testing.T) { nodiff.Laws(t, config()) }

// TestThreadsAgree: more workers than cores, so that stealing happens, give the
// count of one worker; on a graph with one hub.
func TestThreadsAgree(t *testing.T) {
	g := hubGraph(t)
	for _, name := range []string{"triangle", "cycle(4)", "diamond", "gmatch:P5", "gmatch:P7", "house", "path(4)", "clique(4)", "star(4)"} {
		for _, method := range []string{"nest", "local"} {
			ps, err := pattern.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method})
			if err != nil {
				continue // no local plan
			}
			want := count(t, g, p, engine.Options{Threads: 1})
			for _, n := range []int{2, 7} {
				if got := count(t, g, p, engine.Options{Threads: n}); got != want {
					t.Errorf("%s by %s on %d threads: %v, on one %v", name, method, n, got, want)
				}
			}
		}
	}
}

func hubGraph(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "rmat", Scale: 9, M: 6000, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func count(t *testing.T, g *graph.Graph, p *plan.Plan, o engine.Options) engine.Uint128 {
	t.Helper()
	r, err := engine.Once(context.Background(), host.New(), g, p, o, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete {
		t.Fatalf("%v: not complete", p.Pattern.Name)
	}
	return r.Matches
}

// TestCancel: a count that would take far longer stops soon after its context
// and says that it is not complete.
func TestCancel(t *testing.T) {
	g := hubGraph(t)
	ps, err := pattern.ByName("path(9)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Embeddings: true})
	if err != nil {
		t.Fatal(err)
	}
	// A busy machine may need longer until there is something to count.
	var r engine.Result
	for limit := 50 * time.Millisecond; r.Matches.IsZero() && limit < time.Minute; limit *= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		r, err = engine.Once(ctx, host.New(), g, p, engine.Options{Threads: 3}, engine.Goal{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || r.Complete {
			t.Fatalf("complete %v, error %v", r.Complete, err)
		}
		if d := time.Since(start) - limit; d > 3*time.Minute {
			t.Errorf("stopped only %v later", d)
		}
	}
	if r.Matches.IsZero() {
		t.Error("no partial count")
	}
}

// TestLimit: a limited count stops early with at least that many matches.
func TestLimit(t *testing.T) {
	g := hubGraph(t)
	ps, _ := pattern.ByName("path(6)")
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Embeddings: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{Threads: 2}, engine.Goal{Limit: 1000})
	if err != nil || r.Complete || r.Matches.Cmp(engine.U64(1000)) < 0 {
		t.Errorf("%v matches, complete %v, error %v", r.Matches, r.Complete, err)
	}
}
