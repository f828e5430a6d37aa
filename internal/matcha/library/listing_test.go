package library_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/pattern"
)

// listed are the edges of the patterns whose matches programs list, between the vertices of a row.
var listed = map[string][][2]int{
	"q1": {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}},
	"q2": {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
	"q3": {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 4}, {3, 4}},
	"q4": {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}},
	"q5": {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {2, 1}, {1, 3}, {3, 4}},
	"q6": {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {0, 4}},
}

// patternOf is the query of a program with labels, or without if there are none.
func patternOf(t failer, edges [][2]int, labels []int) *pattern.Pattern {
	t.Helper()
	var parts []string
	for i, l := range labels {
		parts = append(parts, fmt.Sprintf("(v%d:`%d`)", i, l))
	}
	for _, e := range edges {
		parts = append(parts, fmt.Sprintf("(v%d)--(v%d)", e[0], e[1]))
	}
	return query(t, "%s", "MATCH "+strings.Join(parts, ", "))
}

// found are the matches of a pattern, by the oracle: each subgraph once as its edges, or each embedding.
func found(t failer, g *graph.Graph, p *pattern.Pattern, key func(at func(i int) uint32) string) (out []string) {
	t.Helper()
	place := map[string]int{}
	for v := range p.Vertices {
		place[p.VertexName(v)] = v
	}
	err := oracle.Embeddings(context.Background(), g, p, func(m oracle.Match) bool {
		out = append(out, key(func(i int) uint32 { return m.Vertices[place[fmt.Sprint("v", i)]] }))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// TestListings compares what programs list with the oracle. Without labels each subgraph is listed once, and
// with labels each embedding.
func TestListings(t *testing.T) {
	for name, edges := range listed {
		plain, labelled := load(t, name), load(t, name+"_labelled")
		passes.Optimize(plain)
		passes.Optimize(labelled)
		vertices := 0
		for _, e := range edges {
			vertices = max(vertices, e[0]+1, e[1]+1)
		}
		// subgraph is a match by its edges, and embedding by its vertices.
		subgraph := func(at func(i int) uint32) string {
			var all []string
			for _, e := range edges {
				a, b := at(e[0]), at(e[1])
				all = append(all, fmt.Sprintf("%d-%d", min(a, b), max(a, b)))
			}
			slices.Sort(all)
			return strings.Join(all, " ")
		}
		embedding := func(at func(i int) uint32) string {
			var all []uint32
			for i := range vertices {
				all = append(all, at(i))
			}
			return fmt.Sprint(all)
		}
		rapid.Check(t, func(t *rapid.T) {
			g := drawGraph(t, 2)
			in := map[string]data.Input{"G": {Graph: g}}
			var rows []string
			take := func(key func(at func(i int) uint32) string) func(row []types.Word) bool {
				rows = nil
				return func(row []types.Word) bool {
					rows = append(rows, key(func(i int) uint32 { return uint32(row[i]) }))
					return true
				}
			}
			r := result(t, plain, in, take(subgraph))
			slices.Sort(rows)
			if want := slices.Compact(found(t, g, patternOf(t, edges, nil), subgraph)); !slices.Equal(rows, want) || int(r.Words[0]) != len(want) {
				t.Fatalf("%s lists %v and counts %d, want %v", name, rows, r.Words[0], want)
			}
			var labels []int
			for i := range vertices {
				labels = append(labels, rapid.IntRange(0, 1).Draw(t, "query label"))
				in[fmt.Sprint("l", i)] = data.Input{Var: types.Word(labels[i])}
			}
			r = result(t, labelled, in, take(embedding))
			slices.Sort(rows)
			if want := found(t, g, patternOf(t, edges, labels), embedding); !slices.Equal(rows, want) || int(r.Words[0]) != len(want) {
				t.Fatalf("%s with labels %v lists %v and counts %d, want %v", name, labels, rows, r.Words[0], want)
			}
		})
	}
}
