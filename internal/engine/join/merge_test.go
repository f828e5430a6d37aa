package join_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// sparse draws patterns of up to nine vertices with few labels: trees with some further edges, some of them directed or excluded. Rows of theirs
// become equal, and vertices with equal labels bar each other.
func sparse(s *nodiff.Spec, _ int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		n := rapid.IntRange(4, 9).Draw(t, "vertices")
		label := rapid.SampledFrom([]string{"", "", ":A", ":B"})
		arrow := rapid.SampledFrom([]string{"-->", "<--", "--", "--"})
		name := func(v int) string { return fmt.Sprintf("v%d", v) }
		parts := []string{"(v0" + label.Draw(t, "label") + ")"}
		for v := 1; v < n; v++ {
			to := rapid.IntRange(max(0, v-3), v-1).Draw(t, "neighbour")
			parts = append(parts, "("+name(to)+")"+arrow.Draw(t, "arrow")+"("+name(v)+label.Draw(t, "label")+")")
		}
		for range rapid.IntRange(0, 2).Draw(t, "further") {
			u := rapid.IntRange(0, n-2).Draw(t, "u")
			parts = append(parts, "("+name(u)+")"+arrow.Draw(t, "arrow")+"("+name(rapid.IntRange(u+1, n-1).Draw(t, "v"))+")")
		}
		mode := rapid.SampledFrom([]string{"", "", "REPEATABLE ELEMENTS ", "INDUCED "}).Draw(t, "mode")
		q, err := gql.Parse("MATCH " + mode + strings.Join(parts, ", "))
		if err != nil {
			t.Fatal(err)
		}
		return q.Pattern
	})
}

// merging is the technique: each phase but the first and the last may have a merge behind it.
func merging() nodiff.Technique {
	x := nodiff.Technique{MaxPattern: 9, Columns: func(w *nodiff.Columns) { w.Labels = true }, Patterns: sparse}
	return x.With("merges", "join.merge", "on").Said("merge")
}

// TestMergeNoDiff: counts by weights of merged rows, in tables that are full and others, against the oracle.
func TestMergeNoDiff(t *testing.T) {
	c := config()
	c.Opt = map[string]string{"join.extend": "multi|single", "join.batch": "1|3", "join.filter": "off"}
	c.Techniques = []nodiff.Technique{merging()}
	nodiff.Check(t, c)
}

// TestGPUMergeNoDiff is the same on devices.
func TestGPUMergeNoDiff(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Opt = map[string]string{"join.extend": "multi|single", "join.batch": "3|50", "join.filter": "off"}
		c.Techniques = []nodiff.Technique{merging()}
		compare(t, c, e, nodiff.Suite{Plans: 200, Graphs: 4}, nodiff.Suite{Plans: 30, Graphs: 2})
	})
}

// TestMergeWide: weights have 128 bits, and a sum that passes them is an error. Walks over 12 and 24 vertices in a complete graph of 64 are
// 64·63¹¹ > 2⁶⁴ and 64·63²³ > 2¹²⁸.
func TestMergeWide(t *testing.T) {
	const n = 64
	g := nodiff.Complete(n).Build()
	count := func(t *testing.T, e engine.Engine, k int, opt map[string]string) (engine.Result, error) {
		text := "(v0)"
		for v := 1; v < k; v++ {
			text += fmt.Sprintf("--(v%d)", v)
		}
		q, err := gql.Parse("MATCH REPEATABLE ELEMENTS " + text)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]int, k)
		for v := range order {
			order[v] = v
		}
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: order})
		if err != nil {
			t.Fatal(err)
		}
		return engine.Once(t.Context(), e, g, p, engine.Options{Threads: 2, Opt: opt}, engine.Goal{})
	}
	for _, batch := range []string{"1500", "0"} { // a table of merged rows holds all vertices
		opt := map[string]string{"join.merge": "on", "join.extend": "single", "join.filter": "off", "join.batch": batch}
		check := func(t *testing.T, e engine.Engine) {
			want := big.NewInt(n)
			for range 11 {
				want.Mul(want, big.NewInt(n-1))
			}
			if r, err := count(t, e, 12, opt); err != nil || !r.Complete || r.Matches.Big().Cmp(want) != 0 {
				t.Errorf("batch %s: %v (complete %v, %v), want %v", batch, r.Matches, r.Complete, err, want)
			}
			if r, err := count(t, e, 24, opt); !errors.Is(err, engine.ErrOverflow) {
				t.Errorf("batch %s: %v, %v, want an overflow", batch, r.Matches, err)
			}
		}
		check(t, join.New())
		onDevice(t, check)
	}
}

// TestMergeRows: a path whose inner vertices have labels of their own has one row for each vertex behind a merge, and a leaf of a label of
// its own makes no row.
func TestMergeRows(t *testing.T) {
	s := &nodiff.Spec{N: 60, Labels: make([][]string, 60)}
	layer := func(v int) int { return v / 10 }
	for v := range s.N {
		s.Labels[v] = []string{string(rune('A' + layer(v)))}
		for u := range s.N {
			if layer(u) == layer(v)+1 {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: u})
			}
		}
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (a:A)--(b:B)--(c:C)--(d:D)--(e:E)--(f:F)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given []int
		want  string
	}{
		{[]int{0, 1, 2, 3, 4, 5}, "rows by phase: 10, 100, 10, 100, 10, 100, 10, 100, 10;"},
		{[]int{1, 0, 2, 3, 4, 5}, "rows by phase: 10, 10, 100, 10, 100, 10, 100, 10;"},
	} {
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: c.given, NoTail: true})
		if err != nil {
			t.Fatal(err)
		}
		check := func(t *testing.T, e engine.Engine) {
			o := engine.Options{Threads: 1, Opt: map[string]string{"join.merge": "on", "join.extend": "single", "join.filter": "off"}}
			r, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
			if said := strings.Join(r.Stats, "\n"); err != nil || r.Matches != engine.U64(1e6) || !strings.Contains(said, c.want) {
				t.Errorf("%v: %v, %v, %s; want %s", c.given, r.Matches, err, said, c.want)
			}
		}
		check(t, join.New())
		onDevice(t, check)
	}
}

// TestMergeLax: merges that leave all rows go on without comparing them, and the rows keep their weights. Each vertex of a forest has one
// parent, so that no two rows are equal, and the leaves of the roots are factors of weights.
func TestMergeLax(t *testing.T) {
	s := &nodiff.Spec{}
	add := func(label string) int {
		s.N++
		s.Labels = append(s.Labels, []string{label})
		return s.N - 1
	}
	want := uint64(0)
	for i := range 40 {
		b := add("B")
		for range i%5 + 1 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: add("A"), V: b})
		}
		for range 10 {
			c := add("C")
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: b, V: c})
			for range 3 {
				d, e := add("D"), add("E")
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: c, V: d}, nodiff.SpecEdge{U: d, V: e})
				want += uint64(i%5 + 1)
			}
		}
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (a:A)--(b:B)--(c:C)--(d:D)--(e:E)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{1, 0, 2, 3, 4}, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, e engine.Engine) {
		for _, batch := range []string{"1", "16", "50"} {
			o := engine.Options{Threads: 1, Opt: map[string]string{"join.merge": "on", "join.extend": "single", "join.filter": "off", "join.batch": batch}}
			r, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
			if said := strings.Join(r.Stats, "\n"); err != nil || r.Matches != engine.U64(want) || !strings.Contains(said, "rows by phase: 40, 40, 400, 400, 1200, 1200;") {
				t.Errorf("batch %s: %v, %v, %s; want %d", batch, r.Matches, err, said, want)
			}
		}
	}
	check(t, join.New())
	onDevice(t, check)
}

// TestMergeNote: join.merge=on says so where it has no effect.
func TestMergeNote(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 60, M: 200, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)--(b)--(c)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	for _, levels := range []bool{false, true} {
		r, err := engine.Once(t.Context(), join.Host{}, g, p, engine.Options{Threads: 1, Levels: levels, Opt: map[string]string{"join.merge": "on"}}, engine.Goal{})
		if noted := strings.Contains(strings.Join(r.Notes, "\n"), "join.merge=on has no effect"); err != nil || noted != levels {
			t.Errorf("by level %v: %v, %v", levels, r.Notes, err)
		}
	}
}

// TestOrderOnGPU: orders for merges are those of joins that merge.
func TestOrderOnGPU(t *testing.T) {
	for opt, want := range map[string]string{
		"": plan.MergeOnGPU, "join.merge=on": plan.MergeOnGPU, "join.merge=off": plan.JoinOnGPU, "join.segments=2": plan.JoinOnGPU, "join.share=on": plan.JoinOnGPU,
		"join.balance=on": plan.JoinOnGPU, "join.output=twopass": plan.JoinOnGPU, "join.extend=multi": "geneva",
	} {
		given := map[string]string{}
		if name, value, ok := strings.Cut(opt, "="); ok {
			given[name] = value
		}
		if got := join.OrderOnGPU(given); got != want {
			t.Errorf("%s: %s, want %s", opt, got, want)
		}
	}
}
