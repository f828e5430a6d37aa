package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// sparseWays are ways of the engines of GPUs to read lists of edge labels.
var sparseWays = []search{
	{"stack from edges", "", "nest", false, newStack, map[string]string{"stack.roots": "edge"}},
	{"stack from edges, listing, with little room", "", "nest", true, newStack, map[string]string{"stack.roots": "edge", "stack.slot": "2"}},
	{"stack by a table", "", "nest", false, newStack, map[string]string{"stack.program": "table"}},
	{"fine", "", "nest", false, newFine, map[string]string{"fine.index": "none", "fine.lookup": "search"}},
	{"fine by a candidate graph", "", "nest", false, newFine, map[string]string{"fine.index": "hash"}},
	{"codegen", "", "nest", false, newCodegen, map[string]string{"codegen.lookup": "search"}},
	{"codegen, hash tables", "", "nest", true, newCodegen, map[string]string{"codegen.lookup": "hash", "membership.short": "1"}},
	{"codegen, rows of bits", "", "nest", false, newCodegen, map[string]string{"codegen.lookup": "bits"}},
}

func labelled(t *testing.T, g *graph.Graph, text string, listing bool) *plan.Plan {
	t.Helper()
	return labelledBy(t, g, text, "nest", listing)
}

func labelledBy(t *testing.T, g *graph.Graph, text, method string, listing bool) *plan.Plan {
	t.Helper()
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: method, Listing: listing, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSparse: the engines of GPUs count and list patterns over edge labels that few vertices have and over others, with one level of bitmaps
// and with two, by hubs and by vertices with few neighbours, as the host engine does.
func TestSparse(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 14, M: 12_000, Directed: true, EdgeLabels: 40, Skew: 1, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	und, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 13, M: 60_000, EdgeLabels: 30, Skew: 1, Seed: 4}, 1)
	if err != nil {
		t.Fatal(err)
	}
	levels := map[int]bool{}
	dense, none := 0, 0
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 30, Ring: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i, c := range []struct {
			g    *graph.Graph
			text string
		}{
			{g, "MATCH (a)-[:2]->(b)<-[:2]-(c), NOT (a)-[:0]->(c)"},            // one with offsets, and an absent edge
			{g, "MATCH (a)-[:5]->(b)-[:0]->(c)<-[:20]-(d)"},                    // several labels
			{und, "MATCH (a)-[:28]-(b)-[:28]-(c)-[:28]-(d), NOT (a)-[:0]-(d)"}, // without directions
			{g, "MATCH (a)-[:38]->(b)-[:1]->(c) WHERE EXISTS { (a)-[:3]->(e) }"},
		} {
			for _, x := range sparseWays {
				if (x.opt["fine.index"] == "hash" || x.opt["stack.program"] == "table") && i == 3 {
					continue // conditions
				}
				t.Run(fmt.Sprintf("%d/%s", i, x.name), func(t *testing.T) {
					p := labelled(t, c.g, c.text, x.listing)
					sparse := 0
					for _, a := range p.Adjs {
						if s := a.Lists.Sparse; s != nil {
							levels[s.Index().Levels] = true
							sparse++
						} else {
							dense++
						}
					}
					want, err := engine.Once(t.Context(), host.New(), c.g, p, engine.Options{}, engine.Goal{})
					if err != nil || sparse == 0 {
						t.Fatal(err, sparse)
					}
					if want.Matches.IsZero() {
						none++
						t.Log("nothing is found")
					}
					x.opt = maps.Clone(x.opt)
					x.opt[gpu.Offsets] = "off"
					r, rows, err := x.run(t, s, c.g, p)
					if err != nil || r.Matches != want.Matches || !r.Complete || x.listing && engine.U64(uint64(rows)) != want.Matches {
						t.Errorf("%v, %d rows, %v on host: %v", r.Matches, rows, want.Matches, err)
					}
				})
			}
		}
	})
	if !t.Failed() && (!levels[1] || !levels[2] || dense == 0 || none > 0) {
		t.Errorf("lists have %v levels of bitmaps, %d have offsets, and %d searches found nothing", levels, dense, none)
	}
}

// TestSparseMemory: the arrays of a label of few edges take as much device memory in a large graph as in a small one, and with offsets more.
func TestSparseMemory(t *testing.T) {
	build := func(n int) *graph.Graph {
		s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true}
		for v := range 300 {
			if v%4 == 0 {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 3, Label: "A"}) // squares
			}
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: v, Label: "B"})
		}
		return s.Build()
	}
	const small, large = 1 << 12, 1 << 14
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		const path, square = "MATCH (a)-[:A]->(b)-[:A]->(c)<-[:B]-(d)", "MATCH (a)-[:A]-(b)-[:A]-(c)-[:A]-(d)-[:A]-(a)"
		for _, x := range []search{
			{"stack", path, "nest", false, newStack, map[string]string{"stack.roots": "edge"}},
			{"fine", path, "nest", false, newFine, map[string]string{"fine.index": "none", "fine.lookup": "search"}},
			{"codegen", path, "nest", false, newCodegen, map[string]string{"codegen.lookup": "search"}},
			{"stack, local", square, "local", false, newStack, map[string]string{}},
			{"fine, pruned", square, "nest", false, newFine, map[string]string{"fine.index": "none", "fine.lookup": "search", "fine.prune": "on"}},
		} {
			arrays := func(n int, offsets string) (f gpu.Figures) {
				g := build(n)
				s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 30, Ring: 1 << 16})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				x.opt[gpu.Offsets] = offsets
				r, _, err := x.run(t, s, g, labelledBy(t, g, x.pattern, x.method, false))
				if err != nil || r.Matches.IsZero() || !f.Read(r.Stats) {
					t.Fatal(x.name, r.Matches, r.Stats, err)
				}
				return f
			}
			few, many, with := arrays(small, "off"), arrays(large, "off"), arrays(large, "on")
			if more := many.Arrays - few.Arrays; more >= large/64 {
				t.Errorf("%s: %d bytes of arrays in a graph of %d vertices, %d with %d", x.name, few.Arrays, small, many.Arrays, large)
			}
			if more := many.Copied - few.Copied; more >= large/64 {
				t.Errorf("%s: %d bytes are copied in a graph of %d vertices, %d with %d", x.name, few.Copied, small, many.Copied, large)
			}
			if more := many.Search - few.Search; more >= large/64 {
				t.Errorf("%s: the search takes %d bytes in a graph of %d vertices, %d with %d", x.name, few.Search, small, many.Search, large)
			}
			if with.Arrays < many.Arrays+8*large {
				t.Errorf("%s: %d bytes of arrays with offsets, %d without", x.name, with.Arrays, many.Arrays)
			}
		}
	})
}

// sparseLocal are ways of the local method. Classes and tables are so small that roots have several classes and the tables of wedges overflow.
var sparseLocal = []search{
	{"stack, local", "", "local", false, newStack, nil},
	{"stack, local, small tables", "", "local", false, newStack, map[string]string{"stack.local.table": "3", "stack.local.whole": "off"}},
	{"codegen, local", "", "local", false, newCodegen, nil},
	{"codegen, local, classes", "", "local", false, newCodegen, map[string]string{"codegen.local.classes": "64,512", "codegen.local.table": "16"}},
}

// communities is a graph in which two labels have edges of few vertices, in communities, and a third has edges of all vertices.
func communities(directed bool) *graph.Graph {
	const n = 12_000
	r := rand.New(rand.NewPCG(1, 2))
	s := nodiff.Spec{N: n, Directed: directed, EdgeLabels: true}
	for v := range n { // whose ids are then far apart
		s.Labels = append(s.Labels, []string{fmt.Sprint("L", v%50)})
	}
	for range 2 * n {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: r.IntN(n), V: r.IntN(n), Label: "B"})
	}
	some := func(label string, sizes ...int) {
		for _, size := range sizes {
			in := r.Perm(n)[:size]
			for i, u := range in {
				for _, v := range in[:i] {
					if r.IntN(2) == 0 {
						s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v, Label: label})
					}
				}
			}
		}
	}
	some("A", 110, 20, 20, 20, 20, 20, 20, 20, 20, 20, 15, 10, 5)
	some("C", 25, 10)
	return s.Build()
}

// TestSparseLocal: the local method counts over the sparse lists of a label as the host does, in graphs with directions, whose edges are then of
// either direction, and without: of inside and of outside vertices, with one level of bitmaps and two, also
// with lists in host memory.
func TestSparseLocal(t *testing.T) {
	und, dir := communities(false), communities(true)
	levels := map[int]bool{}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 30, Ring: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i, c := range []struct {
			g           *graph.Graph
			text, place string
		}{
			{und, "MATCH (a)-[:A]-(b)-[:A]-(c)-[:A]-(a)", "device"},
			{und, "MATCH (a)-[:C]-(b)-[:C]-(c)-[:C]-(d)-[:C]-(a)", "device"},
			{und, "MATCH (a)-[:A]-(b)-[:A]-(c)-[:A]-(a)-[:A]-(d)-[:A]-(b), NOT (c)-[:A]-(d)", "cached"},
			{dir, "MATCH (a)-[:A]-(b)-[:A]-(c)-[:A]-(d)-[:A]-(a)", "host"},
			{dir, "MATCH (a)-[:C]-(b)-[:C]-(c)-[:C]-(a), (a)-[:C]-(d), (b)-[:C]-(d), (c)-[:C]-(d)", "device"},
		} {
			for k, x := range sparseLocal {
				if (i+k)%2 == 1 && !long.Asked() {
					continue
				}
				t.Run(fmt.Sprintf("%d/%s", i, x.name), func(t *testing.T) {
					p := labelledBy(t, c.g, c.text, "local", false)
					for _, a := range p.Adjs {
						if a.Lists.Sparse == nil {
							t.Fatal("lists are not sparse")
						}
						levels[a.Lists.Sparse.Index().Levels] = true
					}
					want, err := engine.Once(t.Context(), host.New(), c.g, p, engine.Options{}, engine.Goal{})
					if err != nil || want.Matches.IsZero() || p.Method != plan.Local {
						t.Fatal(err, want.Matches, p.Method)
					}
					x.opt = maps.Clone(x.opt)
					if x.opt == nil {
						x.opt = map[string]string{}
					}
					x.opt[gpu.Offsets], x.opt[gpu.Adjacency] = "off", c.place
					r, _, err := x.run(t, s, c.g, p)
					if err != nil || r.Matches != want.Matches || !r.Complete {
						t.Errorf("%v, %v on host: %v", r.Matches, want.Matches, err)
					}
				})
			}
		}
	})
	if !t.Failed() && (!levels[1] || !levels[2]) {
		t.Errorf("lists have %v levels of bitmaps", levels)
	}
}
