package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// hubs is a graph of n leaves, each of which has an edge L1 to one hub and an edge L2 to another. Three leaves also have an edge L3
// to the vertex after them. Each vertex has an edge L4 to the next but one.
func hubs(n int) *graph.Graph {
	s := nodiff.Spec{N: n + 2, Directed: true, EdgeLabels: true}
	for v := range n {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: n, Label: "L1"}, nodiff.SpecEdge{U: v, V: n + 1, Label: "L2"}, nodiff.SpecEdge{U: v, V: (v + 2) % n, Label: "L4"})
		if v < 3 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "L3"})
		}
	}
	return s.Build()
}

// TestSemijoinsOnGPU: a plan for a GPU has semijoins where its search in GSI's order is expected to take longer than they
// do, or where nothing reliable is known of the search. A processor's plan has them for the same patterns without
// regard to that.
func TestSemijoinsOnGPU(t *testing.T) {
	g := hubs(2000)
	chain := func(n int) string {
		return "MATCH (v0)" + strings.Join(func() (s []string) {
			for i := range n {
				s = append(s, fmt.Sprintf("-[:L4]->(v%d)", i+1))
			}
			return s
		}(), "")
	}
	for _, c := range []struct {
		name, text     string
		o              plan.Options
		order, rule    string
		reduced, joins bool
	}{
		{"few rows", chain(3), plan.Options{}, plan.JoinOnGPU, "gsi", false, true},
		{"few rows", chain(3), plan.Options{}, plan.EitherOnGPU, "gsi", false, true},
		{"few rows, a processor", chain(3), plan.Options{}, "join", "join", true, false},
		{"few rows, listed", chain(3), plan.Options{Listing: true}, plan.JoinOnGPU, "gsi", false, true},
		{"few rows, explained", chain(3), plan.Options{Estimates: true}, plan.JoinOnGPU, "gsi", false, true},
		{"a row for each pair of leaves", "MATCH (x)-[:L1]->(h)<-[:L1]-(y)-[:L2]->(g)<-[:L2]-(z)-[:L3]->(w)", plan.Options{}, plan.JoinOnGPU, "join", true, true},
		{"the same, either engine", "MATCH (x)-[:L1]->(h)<-[:L1]-(y)-[:L2]->(g)<-[:L2]-(z)-[:L3]->(w)", plan.Options{}, plan.EitherOnGPU, "join", true, true},
		{"many levels of few rows", chain(8), plan.Options{}, plan.JoinOnGPU, "gsi", false, true},
		{"no walk arrives", "MATCH (a)-[:L4]->(b)-[:L4]->(c)-[:L4]->(d)-[:L4]->(a)", plan.Options{}, plan.JoinOnGPU, "join", true, true},
		{"data edges are chosen", "MATCH (a)-[e:L4]->(b)-[:L4]->(c)", plan.Options{}, plan.EitherOnGPU, "cost", false, false},
		{"an edge of any label", "MATCH (a)-->(b)-[:L4]->(c)", plan.Options{}, plan.EitherOnGPU, "cost", false, false},
		{"a method is asked for", chain(3), plan.Options{Method: "nest"}, plan.EitherOnGPU, "cost", false, false},
	} {
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		o := c.o
		o.Order, o.Root = c.order, plan.NoRoot
		p, err := planner.Compile(g, q.Pattern, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if p.OrderName != c.rule || (p.Reduction != nil) != c.reduced || (p.JoinTime > 0) != c.joins {
			t.Errorf("%s, order %s: rule %s, reduced %v, %s in a join; want %s, %v, %v: %s", c.name, c.order, p.OrderName, p.Reduction != nil, p.JoinTime, c.rule, c.reduced, c.joins, p.Why)
		}
		if c.rule == "gsi" && !strings.Contains(p.Why, "semijoins would take") {
			t.Errorf("%s: no reason: %s", c.name, p.Why)
		}
	}
}

// TestSemijoinsOnHost: a plan for a processor has its candidates filtered by the labels of edges. It has semijoins where the search is
// expected to take several times as long as they do. A search that takes little longer would gain less by them than they take.
func TestSemijoinsOnHost(t *testing.T) {
	path, short := "MATCH (a)-[:A]->(b)-[:A]->(c)-[:A]->(d)-[:A]->(e)", "MATCH (a)-[:C]->(b)-[:A]->(c)-[:A]->(d)"
	for _, c := range []struct {
		n, degree int
		text      string
		joined    bool
	}{
		{1500, 1, short, false},
		{12000, 12, path + ", (c)-[:C]->(f)", true},
		{12000, 12, path, false}, // each vertex with an A has one in both directions
		{12000, 12, "MATCH (a)-[:A]->(b), (a)-[:C]->(c)", false},
	} {
		n := c.n
		s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true}
		for v := range n / 2 {
			for i := range c.degree {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v*31 + i*i*17 + 1) % (n / 2), Label: "A"})
			}
		}
		for v := range n / 2 { // more edges that the pattern does not have, so that its label is not that of most
			for i := range c.degree + 1 {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: n/2 + v, V: n/2 + (v+i+1)%(n/2), Label: "B"})
			}
		}
		for v := 0; v < n/2; v += 3 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + 1) % (n / 2), Label: "C"})
		}
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []string{"join", plan.EitherOrder} {
			p, err := planner.Compile(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot, Order: order, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if p.Reduction == nil || p.Reduction.Joined != c.joined {
				t.Errorf("%s, %d vertices, %d edges each, order %s: %+v, want semijoins: %v", c.text, n, c.degree, order, p.Reduction, c.joined)
			}
		}
	}
}

// TestFilterOfLargeGraph: in a graph of many vertices candidates are filtered for searches that take longer than that.
func TestFilterOfLargeGraph(t *testing.T) {
	s := nodiff.Spec{N: 1 << 19, Directed: true, EdgeLabels: true}
	for v := range 300 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: v, Label: "B"})
		for i := range 40 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: 1000 + v, V: 2000 + (v*7+i*13)%300, Label: "C"}, nodiff.SpecEdge{U: 2000 + v, V: 1000 + (v*11+i*17)%300, Label: "D"})
		}
	}
	g := s.Build()
	for text, filtered := range map[string]bool{
		"MATCH (a)-[:A]->(b)-[:A]->(c)<-[:B]-(d)":                          false,
		"MATCH (a)-[:C]->(b)-[:D]->(c)-[:C]->(d)-[:D]->(e)-[:C]->(f)":      true,
		"MATCH (a)-[:C]->(b)-[:D]->(c)-[:C]->(d)-[:D]->(e), (a)-[:C]->(f)": true,
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: plan.EitherOrder, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if (p.Reduction != nil) != filtered {
			t.Errorf("%s: %+v, want filtered: %v", text, p.Reduction, filtered)
		}
	}
}
