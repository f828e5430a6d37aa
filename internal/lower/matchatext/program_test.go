package matchatext_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	kirinterp "github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/lower/matchatext"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/cpu"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/view"
)

// TestMatchaAgreesWithOracle runs the programs of random plans: of patterns of any
// kind, of those whose edges are bound to data edges and compared, and of temporal
// ones.
func TestMatchaAgreesWithOracle(t *testing.T) {
	for _, e := range []program{{passes: "all"}, {passes: "none"}, {passes: "all", run: runCode}} {
		name := "interpreter, passes " + e.passes
		if e.run != nil {
			name = "code"
		}
		t.Run(name, func(t *testing.T) {
			c := nodiff.Config{Engine: engines.Of(e), Whole: true, Compile: withSets, MaxPattern: 6, Techniques: append([]nodiff.Technique{nodiff.Cut, nodiff.Merged, nodiff.InducedSum}, nodiff.Nests...)}
			// Programs of small patterns run in no time: more of them than usual.
			for range 4 {
				nodiff.Check(t, c)
			}
			c.MaxPattern, c.Patterns = 4, nodiff.Conditions
			nodiff.Check(t, c)
			c.Patterns, c.Columns = nodiff.Temporal, nodiff.Timed
			nodiff.Check(t, c)
		})
	}
}

// TestMatchaInC is TestMatchaAgreesWithOracle for programs compiled to C, of which
// fewer are drawn: each is compiled.
func TestMatchaInC(t *testing.T) {
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
	s := nodiff.Suite{Plans: 2, Graphs: 3}
	if !long.Asked() {
		s = nodiff.Suite{Plans: 1, Graphs: 2}
	}
	with := []engine.Engine{engines.Of(program{passes: "all", run: runC})}
	c := nodiff.Config{Whole: true, Compile: withSets, MaxPattern: 4, Patterns: nodiff.Conditions, Method: "nest"}
	s.Run(t, c, with)
	c.Patterns, c.Columns = nodiff.Temporal, nodiff.Timed
	s.Run(t, c, with)
	c.Patterns, c.Columns = nodiff.Patterns, nil
	s.Run(t, c, with)
}

// withSets makes plans that have a set program, whatever their method.
func withSets(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Estimates = true
	if o.Listing && p.Mode == pattern.Trail || p.Order != nil {
		o.Method = "nest" // a formula only counts, and windows of time are not levels
	}
	return planner.Compile(g, p, o)
}

// program is an engine that runs a plan as a Matcha program: by run, or in the
// interpreter of the language.
type program struct {
	passes string
	run    func(ctx context.Context, p *asg.Program, in *data.Set, o interp.Options) (interp.Result, error)
}

func (program) Name() string { return "matcha" }

func (program) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error {
	_, err := matchatext.Program(p, matchatext.Options{})
	return err
}

func (x program) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, _ engine.Options, goal engine.Goal) (r engine.Result, err error) {
	s := goal.Sink
	text, err := matchatext.Program(p, matchatext.Options{List: s != nil})
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil && !errors.Is(err, engine.ErrStop) {
			err = errors.Join(err, errors.New(text))
		}
	}()
	f, err := syntax.Parse(text)
	if err != nil {
		return r, err
	}
	m, err := asg.Build(f)
	if err != nil {
		return r, err
	}
	off, err := passes.Choose(x.passes)
	if err != nil {
		return r, err
	}
	passes.Optimize(m, off...)
	in, err := data.Bind(m, map[string]data.Input{"G": {Graph: g, View: view.Of{Graph: g}}})
	if err != nil {
		return r, err
	}
	out := engine.NewRows(p, s, goal.Limit)
	var times []uint64
	var assignments []uint32 // that have several rows, and how many
	rows := uint64(0)
	perRoot := func(row []types.Word) bool {
		n := engine.U64(uint64(row[1]))
		r.Matches = r.Matches.Add(n)
		goal.PerRoot[row[0]] = n
		return true
	}
	var failed error
	run := x.run
	if run == nil {
		run = interp.Run
	}
	at := map[string]int{}
	found, err := run(ctx, m, in, interp.Options{Emit: func(row []types.Word) bool {
		if goal.PerRoot != nil {
			return perRoot(row)
		}
		vertices := make([]uint32, len(row))
		for v, x := range row {
			vertices[v] = uint32(x)
		}
		rows++
		if out.Chooses() {
			key := fmt.Sprint(vertices)
			if at[key] == 0 {
				times, assignments = append(times, 0), append(assignments, vertices...)
				at[key] = len(times)
			}
			times[at[key]-1]++
			return true
		}
		failed = out.Hand(0, vertices)
		return failed == nil && (goal.Limit == 0 || rows < uint64(goal.Limit))
	}})
	if err = errors.Join(err, failed); err != nil && !errors.Is(err, engine.ErrStop) {
		return r, err
	}
	for i, n := range times {
		// A row for each way to choose the data edges.
		before, width := out.Matches(), len(p.Levels)
		failed = out.Hand(0, assignments[i*width:(i+1)*width])
		if got := out.Matches() - before; failed == nil && got != n {
			return r, fmt.Errorf("%d rows of %v, which has %d matches", n, assignments[i*width:(i+1)*width], got)
		}
	}
	r.Complete = true
	switch {
	case goal.PerRoot != nil:
	case s != nil && out.Chooses():
		r.Matches = engine.U64(out.Matches())
	case s != nil:
		r.Matches = engine.U64(rows)
	default:
		r.Matches = engine.U64(uint64(found.Words[0]))
	}
	return r, nil
}

// runCode is interp.Run for a program's generated code, with one worker.
func runCode(ctx context.Context, p *asg.Program, in *data.Set, o interp.Options) (r interp.Result, err error) {
	c, err := irgen.Lower(ctx, p, in)
	if err != nil {
		return r, err
	}
	enough := false
	m, err := kirinterp.New(c.Program, func(row []uint64) bool {
		words := make([]types.Word, len(row))
		for i, x := range row {
			words[i] = types.Word(x)
		}
		enough = enough || !o.Emit(words)
		return !enough
	})
	if err != nil {
		return r, err
	}
	mem, shared := kirinterp.Array(make([]uint32, c.Words)), kirinterp.Array(make([]uint32, c.SharedWords))
	state := kirinterp.NewRecord(c.State)
	for _, ph := range c.Phases {
		if ph.Run != nil {
			if _, ok := m.Run(ph.Run, mem, shared, state); !ok {
				return r, nil
			}
			continue
		}
		sums := kirinterp.NewRecord(ph.Sums)
		for i := range state.Rec.Fields[ph.Items].N {
			if _, ok := m.Run(ph.Item, mem, shared, state, sums, kirinterp.Value{N: i}); !ok {
				return r, nil
			}
		}
		for k, f := range ph.Into {
			state.Rec.Fields[f].N += sums.Rec.Fields[k].N
		}
	}
	for _, f := range c.Result {
		r.Words = append(r.Words, types.Word(state.Rec.Fields[f].N))
	}
	return r, nil
}

// runC is interp.Run for a program as C, with two workers.
func runC(ctx context.Context, p *asg.Program, in *data.Set, o interp.Options) (r interp.Result, err error) {
	c, err := irgen.Lower(ctx, p, in)
	if err != nil {
		return r, err
	}
	sched, err := schedule.Parse(schedule.C, "threads=2")
	if err != nil {
		return r, err
	}
	got, err := cpu.NewCode("plan", c, nil, false).Run(ctx, cpu.Options{Objects: device.Objects(), Schedule: sched, Emit: o.Emit})
	return got.Result, err
}

// TestMatchaRefuses: what a program cannot say is named.
func TestMatchaRefuses(t *testing.T) {
	g := graph.FromEdges(4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}}, true)
	for text, want := range map[string]string{
		"MATCH (a)-->(b) WHERE a.`x\ty` < b.x":                           "cannot be printed",
		"MATCH (a)-[e]->(b) WHERE e.`x\ty` < b.x":                        "cannot be printed",
		"MATCH (a)-[e]->(b)-[f]->(c) WHERE e.y < b.x AND f.`x\ty` < a.x": "cannot be printed",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []bool{false, true} {
			if _, err := matchatext.Program(p, matchatext.Options{List: list}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, listed: %t: %v", text, list, err)
			}
		}
	}
}

// TestMatchaNamesOfSeveralLines: comments that name vertices stay on their lines.
func TestMatchaNamesOfSeveralLines(t *testing.T) {
	g := graph.FromEdges(4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}}, true)
	for _, text := range []string{
		"MATCH (`x\ny`)-[`e\nf`]->(b)", "MATCH (`x\ny`)-->(b:None)", "MATCH (`x\ny` WHERE _.`p\nq` > 1)-->(b)",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Estimates: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := matchatext.Program(p, matchatext.Options{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNoEdgeIsForbidden: an induced pattern has heavy edges of any label, heavy ones of any but
// Y, and one of X. It forbids, among others, edges that have no label and yet Y. A program has
// no view of these.
func TestNoEdgeIsForbidden(t *testing.T) {
	heavy, light := int64(5), int64(1)
	g := (&nodiff.Spec{Directed: true, N: 5, EdgeLabels: true, Weights: true, Edges: []nodiff.SpecEdge{
		{U: 0, V: 1, Label: "X", W: &heavy}, {U: 0, V: 1, Label: "Z", W: &heavy}, {U: 0, V: 2, Label: "X", W: &light}, {U: 1, V: 3, Label: "Y", W: &heavy},
		{U: 0, V: 3, Label: "Z", W: &heavy}, {U: 0, V: 3, Label: "X", W: &heavy}, {U: 3, V: 4, Label: "X", W: &heavy}, {U: 2, V: 4, W: &heavy},
	}}).Build()
	q, err := gql.Parse("MATCH INDUCED (a)-[:% WHERE _.w > 2]->(b), (a)-[:!Y WHERE _.w > 2]->(b), (a)-[:X]->(c)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := withSets(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "nest", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := engine.Once(t.Context(), engines.Of(program{passes: "all"}), g, p, engine.Options{}, engine.Goal{})
	if err != nil || got.Matches != want.Matches || want.Matches == (engine.Uint128{}) {
		t.Errorf("%v matches, want %v: %v", got.Matches, want.Matches, err)
	}
}
