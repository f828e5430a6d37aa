package delta_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// TestExplain writes plans, and the errors of patterns that have none.
func TestExplain(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans", func(t *testing.T, d *datadriven.TestData) string {
		q, err := gql.Parse(d.Input)
		if err != nil {
			return err.Error() + "\n"
		}
		p, err := delta.Compile(q.Pattern, d.Cmd == "directed")
		var query *plan.QueryError
		switch {
		case errors.As(err, &query):
			return "error: " + err.Error() + "\n"
		case err != nil:
			t.Fatal(err)
		}
		return p.Explain()
	})
}

// TestAlike checks that nests stand for all pairs of the pattern, and that restrictions leave one of |Aut| embeddings.
func TestAlike(t *testing.T) {
	for _, text := range []string{"triangle", "clique(4)", "cycle(5)", "star(4)", "house", "bipartite(2,3)", "INDUCED (a)--(b)--(c)--(d)"} {
		q, err := gql.Parse("MATCH " + text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := delta.Compile(q.Pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		alike := map[delta.Kind]int{}
		for _, n := range p.Nests {
			alike[n.Kind] += n.Alike
			if len(n.Order) != len(q.Pattern.Vertices) {
				t.Errorf("%s: order %v", text, n.Order)
			}
			// The symmetries that keep the pair turn orders of ids into each other; one of them passes.
			if n.Kind != delta.Edge {
				continue
			}
			all, passing := 0, 0
			permute(len(n.Order), func(id []int) {
				all++
				for _, lv := range n.Levels {
					for _, u := range lv.Above {
						if id[lv.Vertex] < id[u] {
							return
						}
					}
					for _, u := range lv.Below {
						if id[lv.Vertex] > id[u] {
							return
						}
					}
				}
				passing++
			})
			stabiliser := int(p.Aut.Int64()) / n.Alike
			if passing*stabiliser != all {
				t.Errorf("%s, nest of %v: %d of %d orders pass, want one of %d", text, n.Order[:2], passing, all, stabiliser)
			}
		}
		if alike[delta.Edge] != len(p.Pairs) || alike[delta.Vertex] != len(q.Pattern.Vertices) {
			t.Errorf("%s: nests for %v pairs and vertices, want %d and %d", text, alike, len(p.Pairs), len(q.Pattern.Vertices))
		}
	}
}

// permute calls f with all permutations of 0 … n-1.
func permute(n int, f func([]int)) {
	p := make([]int, 0, n)
	var rec func()
	rec = func() {
		if len(p) == n {
			f(p)
			return
		}
		for x := range n {
			if !slices.Contains(p, x) {
				p = append(p, x)
				rec()
				p = p[:len(p)-1]
			}
		}
	}
	rec()
}

// TestConditions: a condition over one edge alone stands at that edge, others at the pattern. Each vertex has a label or none, also those of EXISTS.
func TestConditions(t *testing.T) {
	compile := func(text string) *delta.Plan {
		q, err := gql.Parse("MATCH " + text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := delta.Compile(q.Pattern, true)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := compile("(a)-[e]->(b)-->(c) WHERE e.w > 3 AND e.w > a.x AND b.x = 2")
	alone := 0
	for _, x := range p.Pairs {
		for _, r := range x.Rels {
			alone += len(r.Where)
			for _, x := range r.Where {
				if len(pattern.Refs(x)) != 1 {
					t.Errorf("an edge's condition is of %v", pattern.Refs(x))
				}
			}
		}
	}
	if alone != 1 || len(p.Where) != 2 {
		t.Errorf("%d conditions stand at edges and %d at the pattern, want 1 and 2", alone, len(p.Where))
	}
	for text, want := range map[string]int{"(a)-->(b)-->(c)": 3, "(a)-->(b:7) WHERE EXISTS { (b)-->(c:8)-->(d) }": 4} {
		if got := len(compile(text).Labels); got != want {
			t.Errorf("%s: %d labels, want %d", text, got, want)
		}
	}
}
