package bind_test

import (
	"context"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestReduceThreads: semijoins leave the same candidates for any number of threads, over lists with an
// offset for each vertex, sparse ones, and those of either direction.
func TestReduceThreads(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 13, M: 150000, Directed: true, EdgeLabels: 20, Skew: 1, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"MATCH (a)-[:0]->(b)-[:1]->(c)-[:2]->(a)",
		"MATCH (a)-[:0]->(b)-[:17]->(c), (b)<-[:19]-(d)",
		"MATCH (a)-[:3]-(b)-[:18]-(c)-[:0]-(d)-[:2]->(a)",
		"MATCH (a)-->(b)-[:12]->(c)-->(d)-[:15]->(a)",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		reduce := func(threads int) *bind.Binding {
			b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			b.Reduce()
			return b
		}
		want := reduce(1)
		if reflect.DeepEqual(want.Reduction.Before, want.Reduction.After) {
			t.Fatalf("%s: semijoins drop no candidate", text)
		}
		for _, threads := range []int{2, 7} {
			got := reduce(threads)
			if !reflect.DeepEqual(got.Reduction, want.Reduction) || !reflect.DeepEqual(got.Vertices, want.Vertices) {
				t.Errorf("%s: %d threads leave %v candidates, one leaves %v", text, threads, got.Reduction.After, want.Reduction.After)
			}
		}
	}
}

// TestReduceCandidates: a filter leaves the vertices that have a neighbour by each link. Semijoins leave each vertex that is left when they are repeated until nothing changes, and
// none without a neighbour by each link. The numbers of candidates are those of the bits.
func TestReduceCandidates(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 1000, M: 3000, Directed: true, EdgeLabels: 3, Seed: 5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"MATCH (a)-[:0]->(b)",
		"MATCH (a)-[:0]->(b)-[:1]->(c)",
		"MATCH (a)-[:0]->(b)-[:1]->(c)-[:2]->(a)",
		"MATCH (a)-[:0]-(b)-[:1]->(c)-[:2]->(d)",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		// near reports whether x, for v, has a neighbour in sets by each link of v.
		near := func(sets []map[uint32]bool, v int, x uint32) bool {
			for _, l := range b.Links {
				adj, other := l.Adj, l.V
				if l.V == v {
					adj, other = b.Adjs[l.Adj].Rev, l.U
				} else if l.U != v {
					continue
				}
				if !slices.ContainsFunc(b.Adjs[adj].Lists.List(x, new(graph.Scratch)), func(y uint32) bool { return sets[other][y] }) {
					return false
				}
			}
			return true
		}
		all := map[uint32]bool{}
		for x := range uint32(g.NumVertices()) {
			all[x] = true
		}
		once, fixed := make([]map[uint32]bool, b.N), make([]map[uint32]bool, b.N)
		every := slices.Repeat([]map[uint32]bool{all}, b.N)
		for v := range b.N {
			once[v] = map[uint32]bool{}
			for x := range all {
				if near(every, v, x) {
					once[v][x] = true
				}
			}
			fixed[v] = maps.Clone(once[v])
		}
		for changed := true; changed; {
			changed = false
			for v := range b.N {
				before := len(fixed[v])
				maps.DeleteFunc(fixed[v], func(x uint32, _ bool) bool { return !near(fixed, v, x) })
				changed = changed || len(fixed[v]) < before
			}
		}
		b.Filter()
		for v, bv := range b.Vertices {
			for x := range uint32(g.NumVertices()) {
				if left := bv.Bits[x/64]>>(x%64)&1 != 0; left != once[v][x] {
					t.Errorf("%s: the filter leaves %d for vertex %d: %v", text, x, v, left)
				}
			}
			if bv.Count != len(once[v]) || b.Reduction.After[v] != bv.Count || b.Reduction.Joined {
				t.Errorf("%s: vertex %d: %d candidates by the filter, and %+v", text, v, bv.Count, b.Reduction)
			}
		}
		b.Reduce()
		for v, bv := range b.Vertices {
			n := 0
			for x := range uint32(64 * len(bv.Bits)) {
				left := bv.Bits[x/64]>>(x%64)&1 != 0
				if left {
					n++
				}
				if left && !once[v][x] || !left && fixed[v][x] {
					t.Errorf("%s: vertex %d may be %d: %v", text, v, x, left)
				}
			}
			if n == 0 || n == len(all) || n != bv.Count || n != b.Reduction.After[v] {
				t.Errorf("%s: vertex %d: %d candidates by the bits, %d and %d by the numbers", text, v, n, bv.Count, b.Reduction.After[v])
			}
		}
	}
}

// TestSemijoinReads: each link is read from the end with fewer candidates. A relation of either direction has twice as
// many pairs as edges, and is compared with twice the graph's. A relation of most pairs tells nothing, except at an end
// with candidates of its own.
func TestSemijoinReads(t *testing.T) {
	s := nodiff.Spec{N: 6, Directed: true, EdgeLabels: true, Edges: []nodiff.SpecEdge{
		{U: 0, V: 1, Label: "X"}, {U: 1, V: 2, Label: "Y"}, {U: 2, V: 3, Label: "Y"}, {U: 3, V: 4, Label: "Y"},
	}}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{[]string{"A", "B", "B"}[v%3]})
	}
	g := s.Build()
	for _, c := range []struct {
		text                string
		reads               float64
		selective, labelled bool
	}{
		{"MATCH (a)-[:X]->(b)", 1, true, true},
		{"MATCH (a)-[:X]-(b)", 2, true, true},
		{"MATCH (a)-[:X]-(b:A)", 2.0 / 3, true, true},
		{"MATCH (a)-[:Y]-(b)-[:X]->(c)", 7, false, false},
		{"MATCH (a:A)-[:Y]->(b)-[:X]-(c)", 3, true, false},
		{"MATCH (a)--(b:B)", 8 * 2.0 / 3, true, false},
		{"MATCH (a)--(b)", 8, false, false},
	} {
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		if reads, selective, labelled := b.SemijoinReads(); math.Abs(reads-c.reads) > 1e-9 || selective != c.selective || labelled != c.labelled {
			t.Errorf("%s: %g reads, %v, %v; want %g, %v, %v", c.text, reads, selective, labelled, c.reads, c.selective, c.labelled)
		}
	}
}

// TestReduceEnds: semijoins whose context has ended change nothing.
func TestReduceEnds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 300, Directed: true, EdgeLabels: 2, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)-[:0]->(b)-[:1]->(c)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if b.Reduce(); b.Reduction != nil {
		t.Error("candidates were reduced after the context had ended")
	}
	b.Filter()
	before := slices.Clone(b.Reduction.After)
	if b.Reduce(); b.Reduction.Joined || !slices.Equal(b.Reduction.After, before) {
		t.Error("candidates that a filter had left were reduced after the context had ended")
	}
}

// TestSemijoinWork: each link's lists are read from the end with fewer candidates, and their neighbours are the candidates of the
// other end from then on, at most.
func TestSemijoinWork(t *testing.T) {
	// 100 vertices have an X to a hub each, 4 of them also a Y to the vertex after them.
	s := nodiff.Spec{N: 110, Directed: true, EdgeLabels: true}
	for v := range 100 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: 100 + v%10, Label: "X"})
	}
	for v := range 4 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "Y"})
	}
	g := s.Build()
	for _, c := range []struct {
		text           string
		lists, entries float64
	}{
		// All Y are from 4 vertices to 4 that have an X. Then X from these 4, with one entry each.
		{"MATCH (a)-[:Y]->(b)-[:X]->(c)", 4, 4},
		// Y from the 3 of its ends that have another. X from these, and from the 4 that have an X and an Y.
		{"MATCH (a)-[:Y]->(b)-[:Y]->(c)-[:X]->(d)", 3 + 3 + 3, 3 + 3 + 3},
		// X from the 10 hubs of which all vertices with an X have one.
		{"MATCH (a)-[:X]->(h)<-[:X]-(b)", 0, 0},
	} {
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		b.Filter()
		if lists, entries := b.SemijoinWork(); lists != c.lists || entries != c.entries {
			t.Errorf("%s: %g lists and %g entries, want %g and %g", c.text, lists, entries, c.lists, c.entries)
		}
	}
}

// TestReduceParts: semijoins over lists in parts, which tell no filter which of them are empty, leave what those over lists of
// one run leave.
func TestReduceParts(t *testing.T) {
	q, err := gql.Parse("MATCH (a)-[:0]->(b)-[:1]->(c)-[:2]->(a)")
	if err != nil {
		t.Fatal(err)
	}
	reduced := func(store func(*graph.Graph)) []int {
		g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 400, M: 1500, Directed: true, EdgeLabels: 3, Seed: 5}, 2)
		if err != nil {
			t.Fatal(err)
		}
		store(g)
		b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		b.Reduce()
		return b.Reduction.After
	}
	want := reduced(func(*graph.Graph) {})
	got := reduced(parts.Layout{Runs: 2, Deleted: true, Seed: 1}.Store)
	if slices.Contains(got, 400) || slices.Contains(want, 400) || slices.Contains(want, 0) {
		t.Errorf("of 400 candidates are left %v, and %v in parts", want, got)
	}
	for v := range got {
		if got[v] < want[v]/2 || got[v] > 2*want[v]+4 { // rounds begin with other numbers
			t.Errorf("of 400 candidates are left %v, and %v in parts", want, got)
		}
	}
}
