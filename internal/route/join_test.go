package route

import (
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// manyLabels is a graph of the vertex labels A and B, and of the edge labels L0 to L9, of which L0 has two thirds of
// the edges.
func manyLabels() *graph.Graph {
	s := nodiff.Spec{N: 60, Directed: true, EdgeLabels: true}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{[]string{"A", "B"}[v%2]})
		for k := range 6 {
			label := "L0"
			if k < 2 {
				label = []string{"L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9"}[(v+k*k)%9]
			}
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + 7*k + 1) % s.N, Label: label})
		}
	}
	return s.Build()
}

// shortLists is a graph of the edge labels L1 to L4. A fifth of the vertices have two edges of each label.
func shortLists() *graph.Graph {
	s := nodiff.Spec{N: 1000, Directed: true, EdgeLabels: true}
	for v := range s.N / 5 {
		for k := range 8 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + 11*k*k + 1) % 205, Label: []string{"L1", "L2", "L3", "L4"}[k%4]})
		}
	}
	return s.Build()
}

// TestAutoJoins: auto reduces candidates where relations are of edge labels. It takes the join or the nest, whichever is expected to be faster, and gives both times.
func TestAutoJoins(t *testing.T) {
	few, many := shortLists(), manyLabels()
	path := "MATCH (a)-[:L1]->(b)-[:L2]->(c)-[:L3]->(d)"
	long := path + "-[:L4]->(e)-[:L1]->(f)-[:L2]->(g)-[:L3]->(h)-[:L4]->(i)-[:L1]->(j)"
	small := "MATCH (a)-[:L1]->(b)-[:L2]->(c)<-[:L3]-(d)"
	for _, c := range []struct {
		g       *graph.Graph
		text    string
		o       plan.Options
		engine  string
		reduced bool
	}{
		{few, long, plan.Options{}, "join", true},
		{few, long, plan.Options{Embeddings: true}, "join", true},
		{few, long, plan.Options{Estimates: true}, "join", true}, // explain says what a count does
		{few, long, plan.Options{Listing: true}, "host", true},   // times of listings are not known
		{few, path, plan.Options{}, "host", true},                // few levels, a nest hardly returns
		{few, path + "-[:L4]->(a)", plan.Options{}, "host", true},
		{few, long, plan.Options{Order: "gsi"}, "host", false},                              // something else was asked for
		{few, long, plan.Options{Method: "nest"}, "host", false},                            // the same
		{few, long, plan.Options{NoMotion: true}, "host", false},                            // the same
		{few, "MATCH (a)-[:L1]->(b), (a)-[:L2]->(c)", plan.Options{}, "host", true},         // a star has few candidates, too
		{few, "MATCH (a)-[e:L1]->(b)-[:L2]->(c)-[:L3]->(d)", plan.Options{}, "host", false}, // data edges are chosen
		{many, small, plan.Options{}, "host", true},
		{many, small, plan.Options{Listing: true}, "host", true},
		{many, small, plan.Options{Embeddings: true}, "host", true},
		{many, strings.Replace(small, "MATCH", "MATCH REPEATABLE ELEMENTS", 1), plan.Options{}, "host", true},
		{many, "MATCH (a)-[:L1]->(b)", plan.Options{}, "host", false},                                            // a count of pairs
		{many, "MATCH (a)-[:L1]->(b)-[:L0]->(c)-[:L0]->(d)", plan.Options{}, "host", false},                      // most of all edges
		{many, "MATCH (a)-->(b)-->(c)-->(a)", plan.Options{}, "host", false},                                     // all of them
		{many, "MATCH (a:A)-[:L1]->(b:B)-[:L2]->(c:B)<-[:L3]-(d:A)-[:L4]->(e:A)", plan.Options{}, "host", false}, // the large method filters, too
		{many, "MATCH (a:A)-->(b:B)-->(c:B)", plan.Options{}, "host", false},                                     // a short search
	} {
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Runtime: finding(0, nil), Graph: c.g, Options: engine.Options{Threads: 1}, Listing: c.o.Listing, Method: c.o.Method, Compile: func(method, order string) (*plan.Plan, error) {
			o := c.o
			o.Root, o.Method = plan.NoRoot, method
			if o.Order == "" {
				o.Order = order
			}
			return planner.Compile(c.g, q.Pattern, o)
		}}
		got, err := Pick(t.Context(), r)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		reduced := got.Plan.Reduction != nil
		if got.Engine.Name() != c.engine || reduced != c.reduced || reduced && got.Plan.OnHost != nil && !strings.HasPrefix(got.Reason, got.Plan.Reduction.By()+" leave") {
			t.Errorf("%s, %+v: engine %s, reduced %v, %s; want %s, %v", c.text, c.o, got.Engine.Name(), reduced, got.Reason, c.engine, c.reduced)
		}
		if times := got.Plan.OnHost; (times != nil) != (reduced && !c.o.Listing && got.Plan.Empty == nil) {
			t.Errorf("%s, %+v: reduced %v, times %v", c.text, c.o, reduced, times)
		} else if times != nil {
			join, nest := strings.Index(got.Reason, "a join"), strings.Index(got.Reason, "nested loops")
			if join < 0 || nest < 0 || (times.Join < times.Nest) != (c.engine == "join") || (join < nest) != (c.engine == "join") {
				t.Errorf("%s, %+v: %v are expected, engine %s, %s", c.text, c.o, *times, got.Engine.Name(), got.Reason)
			}
		} else if c.engine == "join" {
			t.Errorf("%s, %+v: a join, without times", c.text, c.o)
		}
	}
}

// TestAutoNoJoin: where auto does not compare a join with loops, the reason says why, and it says no more of joins of a pattern that
// nothing can match.
func TestAutoNoJoin(t *testing.T) {
	few, many := shortLists(), manyLabels()
	path := "MATCH (a)-[:L1]->(b)-[:L2]->(c)-[:L3]->(d)"
	for _, c := range []struct {
		g            *graph.Graph
		text, device string
		o            plan.Options
		want         string // the beginning of the reason
	}{
		{many, "MATCH (a)-->(b)-->(c)-->(a)", "", plan.Options{}, "no join: an edge of the pattern fits most of the graph; expected to be done"},
		{many, "MATCH (a)-->(b)-->(c)-->(a)", "cpu", plan.Options{}, "the processor was asked for by name; no join: an edge of the pattern fits most"},
		{many, "MATCH (a:A)-->(b:B)-->(c:B)-->(a)", "", plan.Options{}, "no join: semijoins would take "},
		{many, "MATCH (a:A)-->(b:B), (a)-->(c:B)", "", plan.Options{}, "no join: one vertex has an edge to each other"},
		{many, "MATCH (a)-[:L1]->(b)", "", plan.Options{}, "no join: the pattern has too few vertices"},
		{many, "MATCH (a:A)-[:L1]->(b:B)-[:L2]->(c:B)<-[:L3]-(d:A)-[:L4]->(e:A)", "", plan.Options{}, "no join: the method large filters"},
		{few, path, "", plan.Options{Listing: true}, "no join: how long one takes to list matches is not known"},
		{few, path, "", plan.Options{Method: "nest"}, "no join: method nest was asked for"},
		{few, path, "", plan.Options{NoMotion: true}, "no join: a part of planning is turned off"},
		{few, path, "", plan.Options{Order: "gsi"}, "no join: a matching order was asked for"},
		{few, "MATCH (a)-[e:L1]->(b)-[:L2]->(c)-[:L3]->(d)", "", plan.Options{}, "no join: data edges are chosen"},
		{few, "MATCH (a)-[:Nobody]->(b)-[:L2]->(c)", "", plan.Options{}, "expected to be done"},
		{few, "MATCH (a)-[:Nobody]->(b)-[:L2]->(c)", "cpu", plan.Options{}, "the processor was asked for by name"},
	} {
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Runtime: finding(0, nil), Device: c.device, Graph: c.g, Options: engine.Options{Threads: 1}, Listing: c.o.Listing, Method: c.o.Method, Compile: func(method, order string) (*plan.Plan, error) {
			o := c.o
			o.Root, o.Method = plan.NoRoot, method
			if o.Order == "" {
				o.Order = order
			}
			return planner.Compile(c.g, q.Pattern, o)
		}}
		got, err := Pick(t.Context(), r)
		if err != nil || got.Engine.Name() != "host" || !strings.HasPrefix(got.Reason, c.want) || strings.Contains(got.Reason, "no join") != strings.Contains(c.want, "no join") {
			t.Errorf("%s, %+v: engine %s, %s (%v); want %s", c.text, c.o, got.Engine.Name(), got.Reason, err, c.want)
		}
	}
	// Only auto asks.
	q, err := gql.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"", "join", plan.EitherOnGPU} {
		p, err := planner.Compile(few, q.Pattern, plan.Options{Root: plan.NoRoot, Order: order, Listing: true})
		if err != nil || p.NoJoin != "" {
			t.Errorf("order %q: %q, %v", order, p.NoJoin, err)
		}
	}
}

// TestAutoJoinsOnGPU: on a GPU auto takes the join where relations are small, because it needs no compilation, until the
// search is so long that a compilation pays, or the other engine is compiled.
func TestAutoJoinsOnGPU(t *testing.T) {
	d, err := cuda.New(device.Backend(t, emu.Options{Optimize: "-O0"}), nil) // nothing is compiled yet
	if err != nil {
		t.Fatal(err)
	}
	rt := finding(1, nil)
	defer rt.Close()
	if err := rt.Instead(d); err != nil {
		t.Fatal(err)
	}
	g := manyLabels()
	semijoins := time.Duration(0)
	pick := func(text, engineName string, takes time.Duration) Choice { // takes: of the join; others have little work
		t.Helper()
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Runtime: rt, Device: "gpu:0", Engine: engineName, Graph: g, Options: engine.Options{Threads: 1}, Compile: func(method, order string) (*plan.Plan, error) {
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: method, Order: order})
			if p != nil && takes > 0 {
				p.Price = 1
				if p.JoinTime > 0 {
					p.JoinTime, p.SemijoinTime = takes, semijoins
				}
			}
			return p, err
		}}
		c, err := Pick(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	small := "MATCH (a)-[:L1]->(b)-[:L2]->(c)<-[:L3]-(d)"
	for _, c := range []struct {
		text   string
		takes  time.Duration
		engine string
		why    string
	}{
		{small, 0, "join", "semijoins would take longer than they save; a join needs no compilation for the pattern"},
		{small, 50 * time.Millisecond, "join", "which stack does, and is expected to take 50ms"},
		{small, 8 * time.Minute, "stack", "worth its compilation, as a join is expected to take 8m"},
		{"MATCH (a)-[:L1]->(b)-[:L0]->(c)", 0, "", ""},
		{"MATCH (a)-->(b)-->(c)-->(a)", 0, "", ""},
	} {
		got := pick(c.text, "", c.takes)
		if (got.Engine.Name() == "join") != (c.engine == "join") || c.engine != "" && got.Engine.Name() != c.engine || !strings.Contains(got.Reason, c.why) {
			t.Errorf("%s, %s: %s, %s; want %s, %s", c.text, c.takes, got.Engine.Name(), got.Reason, c.engine, c.why)
		}
	}
	// Nobody looks at other engines if that takes longer than the join.
	semijoins = 40 * time.Millisecond
	for takes, others := range map[time.Duration]bool{50 * time.Millisecond: false, time.Second: true, 8 * time.Minute: true} {
		if got := pick(small, "", takes); (strings.Contains(got.Reason, "stack") || got.Engine.Name() == "stack") != others {
			t.Errorf("a join of %v where semijoins take %v: %s, %s", takes, semijoins, got.Engine.Name(), got.Reason)
		}
	}
	semijoins = 0
	c := pick(small, "join", 0)
	if c.Plan.OrderName != "gsi" || c.Plan.Reduction != nil {
		t.Errorf("asked for by name, a short join has the order %s and the semijoins %v", c.Plan.OrderName, c.Plan.Reduction)
	}
	c = pick(small, "stack", 0)
	want, err := c.Run(t.Context(), engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	if c = pick(small, "", time.Second); c.Engine.Name() != "stack" || !strings.Contains(c.Reason, "it is compiled for this pattern") {
		t.Errorf("%s, %s", c.Engine.Name(), c.Reason)
	}
	c = pick(small, "", 0)
	if got, err := c.Run(t.Context(), engine.Goal{}); err != nil || got.Matches != want.Matches || got.Engine != "join" {
		t.Errorf("%v by %s, %v; want %v", got.Matches, got.Engine, err, want.Matches)
	}
}
