package lower_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
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
	for _, off := range []string{"all", "none"} {
		t.Run(off, func(t *testing.T) {
			// Programs of small patterns run in no time: more of them than usual.
			for range 5 {
				nodiff.Check(t, nodiff.Config{
					Engine: program{off}, Whole: true, Compile: withSets, MaxPattern: 6, Methods: []string{"nest", "formula"},
				})
			}
		})
	}
}

// withSets makes plans that have a set program, whatever their method.
func withSets(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Estimates = true
	return plan.Compile(g, p, o)
}

// program is an engine that runs a plan as a Matcha program, in the interpreter.
type program struct{ passes string }

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
	found, err := interp.Run(ctx, m, in, interp.Options{Emit: func(row []types.Word) bool {
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
