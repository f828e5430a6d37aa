package weft

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchema: the names are those that Info has, and a closed graph has none.
func TestSchema(t *testing.T) {
	g := opened(t, socialEdges, socialVertices, WithDirected(true))
	in, err := g.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := g.Schema()
	if d := cmp.Diff(Schema{[]string{"P", "Q"}, []string{"knows", "likes"}, in.VertexProps, in.EdgeProps, true}, s); d != "" {
		t.Error(d)
	}
	if len(s.VertexProps) != 2 || len(s.EdgeProps) != 4 {
		t.Errorf("%+v", s)
	}
	vertices, edges := g.LabelCounts()
	if d := cmp.Diff([][]LabelCount{in.VertexLabels, in.EdgeLabels}, [][]LabelCount{vertices, edges}); d != "" || len(vertices) != 3 || len(edges) < 2 {
		t.Errorf("%v, %v: %s", vertices, edges, d)
	}
	g.Close()
	if vertices, edges := g.LabelCounts(); vertices != nil || edges != nil {
		t.Errorf("%v, %v", vertices, edges)
	}
	if d := cmp.Diff(Schema{}, g.Schema()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Schema{}, (*Graph)(nil).Schema()); d != "" {
		t.Error(d)
	}
}

// TestColumns: a query has the names of its answer's columns before it runs.
func TestColumns(t *testing.T) {
	for text, want := range map[string][]string{
		"MATCH (a)-[e]->(b)-[]->(c)":                                          {"a", "b", "c", "e"},
		"MATCH (a)-[e]->(b) RETURN b.x + 1, a AS who, $p + b.y":               {"b.x + 1", "who", "$p + b.y"},
		"MATCH (a)-->(b) RETURN count(*)":                                     {"count(*)"},
		"MATCH (a)-->(b) RETURN count(*) AS n":                                {"n"},
		"MATCH (a)-->(b) RETURN count(DISTINCT SUBGRAPHS)":                    {"count(DISTINCT SUBGRAPHS)"},
		"MATCH (a)-->(b) RETURN exists()":                                     {"exists()"},
		"MATCH (a)-->(b) RETURN participation(b)":                             {"b", "participation"},
		"MATCH (a)-->(b) RETURN participation(b) AS n GROUP BY b.x, b.y AS y": {"b.x", "y", "n"},
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, q.Columns()); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

// TestParticipationRows: vertices come with labels and properties, groups with their values.
func TestParticipationRows(t *testing.T) {
	g := opened(t, socialEdges, socialVertices, WithDirected(true))
	for text, want := range map[string][]string{
		"MATCH (a)-[e]->(b) RETURN participation(a)":                 {`[ann ["P"] age=30 name=Ann] 2`, `[bob ["P" "Q"]] 1`, `[cyd [] age=41 name=Cyd] 0`},
		"MATCH (a)-[e]->(b) RETURN participation(a) GROUP BY a.name": {"[<nil>] 1", "[Ann] 2", "[Cyd] 0"},
	} {
		q, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Participation(t.Context(), q, "a")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for values, n := range p.Rows() {
			for i, x := range values {
				if e, ok := x.(Element); ok {
					values[i] = described(e)
				}
			}
			got = append(got, fmt.Sprint(values, " ", n))
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}
