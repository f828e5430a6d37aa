package gql

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
)

// TestFormatKeepsStructure writes patterns whose vertices and edges come in any
// order, with and without names, and reads them back: indexes stay.
func TestFormatKeepsStructure(t *testing.T) {
	names := []string{"triangle", "path(5)", "star(4)", "bifan", "house", "temporal_cycle(4)", "bipartite(2,3)", "fan_in(3)", "motifs(4)"}
	rapid.Check(t, func(t *rapid.T) {
		ps, err := pattern.ByName(rapid.SampledFrom(names).Draw(t, "name"))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SampledFrom(ps).Draw(t, "motif")
		p = p.Permute(rapid.Permutation(indexes(len(p.Vertices))).Draw(t, "vertices"))
		if p.Order == nil {
			p.Edges = rapid.Permutation(p.Edges).Draw(t, "edges")
		}
		for i := range p.Edges {
			e := &p.Edges[i]
			if rapid.Bool().Draw(t, "mirror") && e.Dir == pattern.Either {
				e.From, e.To = e.To, e.From
			}
			if p.Order == nil {
				e.Negated = rapid.IntRange(0, 3).Draw(t, "not") == 0
			}
			if rapid.IntRange(0, 3).Draw(t, "predicate") == 0 {
				of := pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef, Index: i}, Key: "w"}
				e.Where = []pattern.Expr{pattern.Binary{Op: pattern.OpGt, X: of, Y: pattern.Lit{Value: int64(i)}}}
			}
		}
		for v := range p.Vertices {
			if rapid.IntRange(0, 2).Draw(t, "anonymous") == 0 {
				p.Vertices[v].Name = ""
			}
		}
		if rapid.Bool().Draw(t, "where") {
			p.Where = []pattern.Expr{pattern.Binary{Op: pattern.OpLt, X: pattern.ID{Vertex: 0}, Y: pattern.Deg{Vertex: 1}}}
		}
		q, err := Parse(pattern.Format(p))
		if err != nil {
			t.Fatalf("%s\n%v", pattern.Format(p), err)
		}
		got := q.Pattern
		got.Name = p.Name
		for v := range got.Vertices {
			// A vertex that must be mentioned twice gets a name.
			if p.Vertices[v].Name == "" && got.Vertices[v].Name == "_"+strconv.Itoa(v) {
				got.Vertices[v].Name = ""
			}
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Fatalf("%s\n%s", pattern.Format(p), d)
		}
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
