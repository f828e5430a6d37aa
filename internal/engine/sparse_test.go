package engine_test

import (
	"fmt"
	"maps"
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
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "nest", Listing: listing, Seed: 1})
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
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: v, Label: "B"})
		}
		return s.Build()
	}
	const small, large = 1 << 12, 1 << 14
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, x := range []search{
			{"stack", "", "nest", false, newStack, map[string]string{"stack.roots": "edge"}},
			{"fine", "", "nest", false, newFine, map[string]string{"fine.index": "none", "fine.lookup": "search"}},
			{"codegen", "", "nest", false, newCodegen, map[string]string{"codegen.lookup": "search"}},
		} {
			arrays := func(n int, offsets string) (f gpu.Figures) {
				g := build(n)
				s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 30, Ring: 1 << 16})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				x.opt[gpu.Offsets] = offsets
				r, _, err := x.run(t, s, g, labelled(t, g, "MATCH (a)-[:A]->(b)-[:A]->(c)<-[:B]-(d)", false))
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
			if with.Arrays < many.Arrays+8*large {
				t.Errorf("%s: %d bytes of arrays with offsets, %d without", x.name, with.Arrays, many.Arrays)
			}
		}
	})
}
