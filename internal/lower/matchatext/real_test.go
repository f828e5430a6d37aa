package matchatext_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestMatchaOnRealGraph compares the programs of the papers' patterns, and of all
// motifs, with the engine of a user's count.
func TestMatchaOnRealGraph(t *testing.T) {
	file := "ca-grqc-cut.csv"
	if testing.Short() {
		t.Log("-short: on karate alone, since the interpreter takes seconds on larger graphs")
		file = "karate.txt"
	}
	path := filepath.Join("..", "..", "..", "testdata", "graphs", file)
	g, err := format.Read(context.Background(), path, format.ReadOptions{Direction: format.Undirected}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []*pattern.Pattern
	names := []string{"motifs(3)", "motifs(4)", "star(7)"}
	for i := range 9 {
		names = append(names, "gmatch:P"+string(rune('1'+i)))
	}
	for _, name := range names {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ps...)
	}
	formulas := 0
	for _, p := range all {
		for _, o := range []plan.Options{{Method: "nest"}, {Method: "formula"}, {Method: "nest", NoTail: true, NoMotion: true}} {
			if o.NoTail && file != "karate.txt" {
				continue // goes over every match
			}
			o.Root, o.Seed, o.Estimates = plan.NoRoot, 1, true
			pl, err := planner.Compile(g, p, o)
			if err != nil {
				t.Log(err)
				continue
			}
			if pl.Formula != nil {
				formulas++
			}
			got, err := engine.Once(context.Background(), engines.Of(program{passes: "all"}), g, pl, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(context.Background(), host.New(), g, pl, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Matches != want.Matches {
				t.Errorf("%s, %+v: %v, want %v", p.Name, o, got.Matches, want.Matches)
			}
		}
	}
	if formulas < 3 {
		t.Errorf("%d plans had a formula", formulas)
	}
}
