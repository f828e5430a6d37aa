package lower_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	kirinterp "github.com/weftgraph/weft/internal/kir/emit/interp"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/irgen"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/view"
)

// TestMatchaAgreesWithOracle runs the programs of random plans.
func TestMatchaAgreesWithOracle(t *testing.T) {
	for _, e := range []program{{passes: "all"}, {passes: "none"}, {passes: "all", code: true}} {
		t.Run(fmt.Sprintf("%+v", e), func(t *testing.T) {
			// Programs of small patterns run in no time: more of them than usual.
			for range 5 {
				nodiff.Check(t, nodiff.Config{
					Engine: e, Whole: true, Compile: withSets, MaxPattern: 6, Methods: []string{"nest", "formula"},
				})
			}
		})
	}
}

// withSets makes plans that have a set program, whatever their method.
func withSets(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Estimates = true
	if o.Listing && p.Mode == pattern.Trail {
		o.Method = "nest" // a formula only counts, and Check would take it
	}
	return plan.Compile(g, p, o)
}

// program is an engine that runs a plan as a Matcha program, in the interpreter of
// the language or, with code, its generated code in that of the kernel IR.
type program struct {
	passes string
	code   bool
}

func (program) Name() string { return "matcha" }

func (program) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error {
	_, err := lower.Matcha(p, lower.MatchaOptions{})
	return err
}

func (x program) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, s engine.Sink) (r engine.Result, err error) {
	text, err := lower.Matcha(p, lower.MatchaOptions{List: s != nil})
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
	rows, group := uint64(0), int64(1)
	if p.Rooted && p.Restricted {
		group = p.Pattern.Automorphisms().Stabilizer([]int{p.Order[0]}).Order().Int64()
	}
	perRoot := func(row []types.Word) bool {
		n := engine.U64(uint64(int64(row[1]) / group))
		r.Matches = r.Matches.Add(n)
		o.PerRoot[row[0]] = n
		return true
	}
	out := engine.NewRows(p, s, o.Limit)
	var failed error
	run := interp.Run
	if x.code {
		run = runCode
	}
	found, err := run(ctx, m, in, interp.Options{Emit: func(row []types.Word) bool {
		if o.PerRoot != nil {
			return perRoot(row)
		}
		vertices := make([]uint32, len(row))
		for v, x := range row {
			vertices[v] = uint32(x)
		}
		rows++
		failed = out.Hand(0, vertices)
		return failed == nil && (o.Limit == 0 || rows < uint64(o.Limit))
	}})
	if err = errors.Join(err, failed); err != nil && !errors.Is(err, engine.ErrStop) {
		return r, err
	}
	r.Complete = true
	switch {
	case o.PerRoot != nil:
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

// TestMatchaRefuses: what a program cannot say is named.
func TestMatchaRefuses(t *testing.T) {
	g := graph.FromEdges(4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}}, true)
	for text, want := range map[string]string{
		"MATCH DIFFERENT EDGES (a)-->(b)-->(c)": "DIFFERENT EDGES",
		"MATCH (a)-[e]->(b)":                    "bind e",
		"MATCH (a)-->(b) WHERE deg(a) < deg(b)": "deg(a) < deg(b)",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lower.Matcha(p, lower.MatchaOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
