package lower_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/golden"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/onelane"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestPartsAgreeWithOracle interprets random plans over relations in two and three
// parts, with deleted entries, in each view.
func TestPartsAgreeWithOracle(t *testing.T) {
	for _, e := range []interpreted{
		{o: lower.Options{Roomy: true}, room: -1},
		{o: lower.Options{Roomy: true, Lookup: true}, room: -1},
		{o: lower.Options{Roomy: true, Off: "fold,hoist,share,dead"}, room: -1},
		{o: lower.Options{View: lower.Checks, Choices: true}},
		{o: lower.Options{View: lower.Checks, Choices: true, Off: "fold,hoist,share,dead"}},
	} {
		for _, l := range []parts.Layout{
			{Runs: 2, Deleted: true, Seed: 1},
			{Runs: 3, Seed: 2, Some: true},
			{Runs: 1, Deleted: true, Plain: true, Seed: 3},
		} {
			t.Run(fmt.Sprintf("%s/%+v", e.Name(), l), func(t *testing.T) {
				x := &parts.Trial{Layout: l}
				c := nodiff.Config{Whole: true, Compile: x.Compile(nest), MaxPattern: 6}
				over := []engine.Engine{x.Engine(engines.Of(e))}
				suite := nodiff.Suite{Plans: 12, Graphs: 4}
				suite.Run(t, c, over)
				c.MaxPattern, c.Patterns = 0, nodiff.Conditions
				suite.Run(t, c, over)
				x.Enough(t)
			})
		}
	}
}

// partCases are plans over relations in parts, half of which gather lists.
func partCases(t *testing.T, want int) []textCase {
	cases := drawCases(t, want, parts.Layout{Runs: 2, Deleted: true, Seed: 7}.Store, []lower.Options{
		{Counting: true, Roomy: true}, {Roomy: true},
		{View: lower.Checks, Choices: true}, {View: lower.Checks, Counting: true, Choices: true},
	})
	merges, places := 0, 0
	for _, c := range cases {
		for _, f := range c.code.Program.Funcs {
			places += b2i(f.Name == "places" && f.Family == "Level")
			kir.WalkStmts(f.Body, func(s kir.Stmt) {
				op, ok := s.(*kir.SetOp)
				merges += b2i(ok && op.Op == kir.Merge)
			})
		}
	}
	if merges < want/4 || places < want/4 {
		t.Errorf("%d merges and %d levels over places in %d programs", merges, places, want)
	}
	return cases
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestPartsTexts compiles the texts of plans over relations in parts, as C and as C++,
// and compares them with the interpreter.
func TestPartsTexts(t *testing.T) {
	t.Run("C", func(t *testing.T) { textOfC(t, compilerOfC(t), partCases(t, 40)) })
	t.Run("C++", func(t *testing.T) {
		onelane.Skip(t)
		textOfCPP(t, partCases(t, 60))
	})
}

// TestPartsRefused: what reads lists as one run says so.
func TestPartsRefused(t *testing.T) {
	s := nodiff.Complete(5)
	g := s.Build()
	parts.Layout{Runs: 2, Seed: 1}.Store(g)
	p := golden.Pattern(t, "MATCH (a)--(b)--(c)--(a)")
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	want := func(by string, err error) {
		t.Helper()
		if text := "N is stored in 2 parts, and " + by + " reads lists that are one sorted run"; err == nil || err.Error() != text {
			t.Errorf("the error is %v, want %s", err, text)
		}
	}
	_, err = lower.Plan(pl, lower.Options{})
	want("a search that may leave sets unfiltered", err)
	_, err = lower.Plan(pl, lower.Options{View: lower.Rows, Counting: true})
	want("a bit matrix", err)
	_, err = lower.Table(pl, lower.Options{})
	want("a table", err)
}

// TestWholeGraphRefused: a condition of the whole graph, of which the plan's graph is a part, is not made into code.
func TestWholeGraphRefused(t *testing.T) {
	pl, err := planner.Compile(nodiff.Complete(5).Build(), golden.Pattern(t, "MATCH (a)--(b)--(c) WHERE id(a) < id(c) + 1"), plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lower.Plan(pl, lower.Options{View: lower.Checks}); err != nil {
		t.Fatal(err)
	}
	marked := 0
	for l := range pl.Levels {
		for i := range pl.Levels[l].Checks {
			pl.Levels[l].Checks[i].Outside = true
			marked++
		}
	}
	if marked == 0 {
		t.Fatal("the plan has no condition")
	}
	if _, err := lower.Plan(pl, lower.Options{View: lower.Checks}); err == nil || !errors.As(err, new(*plan.Refusal)) {
		t.Errorf("error %v", err)
	}
}
