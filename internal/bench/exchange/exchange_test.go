package exchange

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
)

// build makes a graph of three vertices: 5 -a- 7, 7 -b- 9. Labels follow the vertices' numbers.
func build(t *testing.T, directed, vertexLabels, edgeLabels bool) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.BuildOptions{Directed: directed})
	e := &graph.EdgeChunk{Src: []uint64{5, 9}, Dst: []uint64{7, 7}}
	if edgeLabels {
		e.Label = &graph.StringColumn{Off: []uint32{0, 1, 2}, Bytes: []byte("ab")}
	}
	err := b.AddEdges(e)
	if vertexLabels {
		err = errors.Join(err, b.AddVertices(&graph.VertexChunk{ID: []uint64{5, 7, 9}, Labels: [][]string{{"X"}, {"X"}, {"Y"}}}))
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestWrite: 7 has internal id 0, and the others follow by label and number.
func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name                             string
		directed, vertexLabels, edgeLabl bool
		form                             Form
		query, wantQuery, wantGraph      string
	}{
		{"undirected without labels", false, false, false, TVE, "MATCH (a)--(b)",
			"t 2 1;v 0 0 1;v 1 0 1;e 0 1;",
			"t 3 2;v 0 0 2;v 1 0 1;v 2 0 1;e 0 1;e 0 2;"},
		{"undirected with labels of vertices", false, true, false, TVE, "MATCH (a:Y)--(b:X)",
			"t 2 1;v 0 1 1;v 1 0 1;e 0 1;",
			"t 3 2;v 0 0 2;v 1 0 1;v 2 1 1;e 0 1;e 0 2;"},
		{"undirected with labels of edges", false, false, true, TVE, "MATCH (a)-[:b]-(b)",
			"t 3 2;v 0 0 1;v 1 0 1;v 2 2 2;e 0 2;e 2 1;",
			"t 5 4;v 0 0 2;v 1 0 1;v 2 0 1;v 3 1 2;v 4 2 2;e 0 3;e 3 1;e 0 4;e 4 2;"},
		{"directed with labels of edges", true, true, true, TVE, "MATCH (a:X)<-[:b]-(b:Y)",
			"t 4 3;v 0 0 1;v 1 1 1;v 2 4 2;v 3 5 2;e 1 2;e 2 3;e 3 0;",
			"t 7 6;v 0 0 2;v 1 0 1;v 2 1 1;v 3 2 2;v 4 3 2;v 5 4 2;v 6 5 2;e 1 3;e 3 4;e 4 0;e 2 5;e 5 6;e 6 0;"},
		{"directed without labels", true, false, false, TVE, "MATCH (a)-->(b)",
			"t 4 3;v 0 0 1;v 1 0 1;v 2 1 2;v 3 2 2;e 0 2;e 2 3;e 3 1;",
			"t 7 6;v 0 0 2;v 1 0 1;v 2 0 1;v 3 1 2;v 4 2 2;v 5 1 2;v 6 2 2;e 1 3;e 3 4;e 4 0;e 2 5;e 5 6;e 6 0;"},
		{"directed with labels of edges", true, true, true, GSI, "MATCH (a:X)<-[:b]-(b:Y)",
			"t # 0;2 1 2 3;v 0 1;v 1 2;e 1 0 2;t # -1;",
			"t # 0;3 2 2 3;v 0 1;v 1 1;v 2 2;e 1 0 1;e 2 0 2;t # -1;"},
		{"undirected with labels of edges", false, false, true, GSI, "MATCH (a)-[:a]-(b)",
			"t # 0;2 2 1 3;v 0 1;v 1 1;e 0 1 1;e 1 0 1;t # -1;",
			"t # 0;3 4 1 3;v 0 1;v 1 1;v 2 1;e 0 1 1;e 1 0 1;e 0 2 2;e 2 0 2;t # -1;"},
	} {
		g := build(t, c.directed, c.vertexLabels, c.edgeLabl)
		q, err := gql.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		for what, want := range map[string]string{"graph": c.wantGraph, "query": c.wantQuery} {
			var b strings.Builder
			if what == "graph" {
				err = WriteGraph(&b, g, c.form)
			} else {
				err = WriteQuery(&b, g, q.Pattern, c.form)
			}
			if got := strings.ReplaceAll(b.String(), "\n", ";"); err != nil || got != want {
				t.Errorf("%s, %s as %s: %v\n%s\nwant\n%s", c.name, what, c.form, err, got, want)
			}
		}
	}
}

// TestRefusals: what another program would count in another way is not written.
func TestRefusals(t *testing.T) {
	g := build(t, true, true, true)
	for text, want := range map[string]string{
		"MATCH (a:X)-->(b:X)":                         "one label",
		"MATCH (a)-[:a]->(b:X)":                       "one label",
		"MATCH (a:X|Y)-[:a]->(b:X)":                   "one label",
		"MATCH (a:X)-[:a]->(b:Z)":                     "no label Z",
		"MATCH (a:X)-[:a]-(b:X)":                      "either direction",
		"MATCH (a:X)-[e:a]->(b:X)":                    "plain edges",
		"MATCH (a:X)-[:a]->(b:X) WHERE id(a) < id(b)": "conditions",
		"MATCH REPEATABLE ELEMENTS (a:X)-[:a]->(b:X)": "iso",
		"MATCH (a:X)-[:a]->(b:X), (a)-[:b]->(b)":      "parallel edges",
		"MATCH (a:X)-[:a]->(b:X), NOT (a)<-[:b]-(b)":  "plain edges",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteQuery(&strings.Builder{}, g, q.Pattern, GSI); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	b := graph.NewBuilder(graph.BuildOptions{})
	if err := b.AddVertices(&graph.VertexChunk{ID: []uint64{1, 2}, Labels: [][]string{{"X"}, nil}}); err != nil {
		t.Fatal(err)
	}
	some, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteGraph(&strings.Builder{}, some, TVE); err == nil {
		t.Error("a vertex without a label is written")
	}
	if err := WriteGraph(&strings.Builder{}, g, "xml"); err == nil {
		t.Error("a form that does not exist")
	}
}
