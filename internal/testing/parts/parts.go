// Package parts stores the relations of a graph in another way than the graph does. A relation
// then has several runs or deleted entries, or lacks the capabilities that make plans faster.
// Plans and engines must find the same matches in it.
package parts

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// Layout says how to store relations.
type Layout struct {
	// Runs is the number of runs of each list; an entry is left in one of them, by
	// chance. 1: lists stay one run.
	Runs int
	// Deleted adds entries that are deleted: pairs that the relation does not have, and
	// pairs that are in another run.
	Deleted bool
	// Some stores about one relation of three as one run.
	Some bool
	// Plain takes away what Caps say.
	Plain bool
	// Sparse stores lists of one run without an offset for each vertex, whichever vertices have
	// lists. Without it they have such offsets.
	Sparse bool
	Seed   uint64
}

// Store has the graph's relations stored so. It is called before g is used.
func (l Layout) Store(g *graph.Graph) {
	rnd := rand.New(rand.NewPCG(l.Seed, uint64(g.NumVertices())))
	g.Stored = func(h *graph.Handle) *graph.Handle {
		out := &graph.Handle{ID: graph.NewRelationID(), Kept: h.Kept, Caps: h.Caps}
		run := h.Flat()
		out.Parts = []graph.Part{{Run: &graph.CSR{Off: slices.Clone(run.Off), Adj: slices.Clone(run.Adj)}}}
		if l.Sparse {
			out.Sparse = graph.NewSparse(out.Parts[0].Run)
			out.Parts = nil
		} else if !l.Some || rnd.IntN(3) > 0 {
			out.Parts = l.split(run, rnd)
		}
		if l.Plain {
			out.Caps = graph.Caps{}
		}
		return out
	}
}

// split makes parts of the lists of run.
func (l Layout) split(run *graph.CSR, rnd *rand.Rand) []graph.Part {
	n := run.NumVertices()
	lists, gone := make([][][]uint32, l.Runs), make([][][]uint32, l.Runs)
	for k := range l.Runs {
		lists[k], gone[k] = make([][]uint32, n), make([][]uint32, n)
	}
	for v := range n {
		for x := range uint32(n) {
			in := -1
			if run.Has(uint32(v), x) {
				in = rnd.IntN(l.Runs)
				lists[in][v] = append(lists[in][v], x)
			}
			if k := rnd.IntN(l.Runs); l.Deleted && k != in && rnd.IntN(3) == 0 {
				lists[k][v] = append(lists[k][v], x)
				gone[k][v] = append(gone[k][v], x)
			}
		}
	}
	var parts []graph.Part
	for k := range l.Runs {
		p := graph.Part{Run: flat(lists[k])}
		if l.Deleted {
			p.Gone = flat(gone[k])
		}
		parts = append(parts, p)
	}
	return parts
}

func flat(lists [][]uint32) *graph.CSR {
	c := &graph.CSR{Off: make([]uint64, 1, len(lists)+1)}
	for _, l := range lists {
		c.Adj = append(c.Adj, l...)
		c.Off = append(c.Off, uint64(len(c.Adj)))
	}
	return c
}

// Trial has plans compiled and run over relations that are stored in another way, and
// counts what came of it.
type Trial struct {
	Layout
	// All is the number of runs, Found that of those that found something, and Ran that
	// of those whose plans read relations in parts, or sparse ones.
	All, Found, Ran atomic.Int64
}

// Compile is compile for graphs that are stored so.
func (x *Trial) Compile(compile Compiler) Compiler {
	return func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
		x.Store(g)
		return compile(g, p, o)
	}
}

// Short is compile with plans of searches that seem short: generated code then reads sparse lists as they are.
func Short(compile Compiler) Compiler {
	return func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
		pl, err := compile(g, p, o)
		if pl != nil {
			pl.Price = 1
		}
		return pl, err
	}
}

// Compiler is the type of planner.Compile.
type Compiler = func(*graph.Graph, *pattern.Pattern, plan.Options) (*plan.Plan, error)

// Engine is e for a graph whose own lists cannot be read while it runs: those of the
// handles are all that there is.
func (x *Trial) Engine(e engine.Engine) engine.Engine { return trialEngine{e, x} }

type trialEngine struct {
	engine.Engine
	x *Trial
}

func (e trialEngine) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	defer Hide(g)()
	ready, err := e.Engine.Prepare(ctx, g, p, o)
	return trialRun{ready, e.x, g, p}, err
}

type trialRun struct {
	engine.Prepared
	x *Trial
	g *graph.Graph
	p *plan.Plan
}

func (e trialRun) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	defer Hide(e.g)()
	r, err := e.Prepared.Run(ctx, goal)
	e.x.All.Add(1)
	if !r.Matches.IsZero() {
		e.x.Found.Add(1)
	}
	sparse := func(a plan.Adjacency) bool { return a.Lists.Sparse != nil }
	if lower.InParts(e.p) || slices.ContainsFunc(e.p.Adjs, sparse) {
		e.x.Ran.Add(1)
	}
	return r, err
}

// Hide puts other lists in the place of those that the graph itself has, until restore is called.
func Hide(g *graph.Graph) (restore func()) {
	var undo []func()
	seen := map[*uint64]bool{}
	for _, c := range []*graph.CSR{&g.Out, &g.In, g.Any()} {
		if seen[&c.Off[0]] {
			continue
		}
		seen[&c.Off[0]] = true
		g.Flat(c) // the handle is made of the true lists
		off, adj := slices.Clone(c.Off), slices.Clone(c.Adj)
		// The last vertex has all entries, and each is vertex 0.
		clear(c.Off[:len(c.Off)-1])
		clear(c.Adj)
		undo = append(undo, func() {
			copy(c.Off, off)
			copy(c.Adj, adj)
		})
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

// Enough fails a test in which fewer than half of the runs found something, or, of a
// layout with parts or sparse lists, none read any.
func (x *Trial) Enough(t *testing.T) {
	t.Helper()
	all, found, ran := x.All.Load(), x.Found.Load(), x.Ran.Load()
	t.Logf("%d runs, %d of them with matches; %d over parts or sparse lists", all, found, ran)
	if all == 0 || found < all/2 {
		t.Errorf("%d of %d runs had matches", found, all)
	}
	if parts := x.Layout.Runs > 1 || x.Deleted || x.Sparse; parts && ran < all/4 || !parts && ran > 0 {
		t.Errorf("%d of %d runs were over parts or sparse lists", ran, all)
	}
}

// Compare compares an engine with the oracle over relations that are stored so: plans
// of c, each on several graphs.
func (x *Trial) Compare(t *testing.T, c nodiff.Config, s nodiff.Suite, e engine.Engine) {
	t.Helper()
	c.Compile = x.Compile(c.Compile)
	s.Run(t, c, []engine.Engine{x.Engine(e)})
	x.Enough(t)
}

// Layouts are two that between them have what relations in parts may have, for engines
// whose plans are costly to compile.
var Layouts = []Layout{{Runs: 2, Deleted: true, Seed: 1}, {Runs: 3, Some: true, Plain: true, Seed: 2}}

// Sparse stores all relations sparse.
var Sparse = Layout{Runs: 1, Sparse: true, Seed: 3}

// Few is the size of a comparison for such an engine. A short test has plans plans, and one
// where long tests are asked for has four times as many.
func Few(plans int) nodiff.Suite {
	if long.Asked() {
		plans *= 4
	}
	return nodiff.Suite{Plans: plans, Graphs: 8}
}
