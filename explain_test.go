package weft

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestProfile: PROFILE explains and runs the query with its RETURN.
func TestProfile(t *testing.T) {
	g := clique(t, 8) // 56 triangles, 336 embeddings
	for _, c := range []struct {
		text       string
		embeddings int64
		complete   bool
		shows      string
		options    []Option
	}{
		{"", 336, true, "count += ", nil},
		{"", 336, true, "a match: a, b, c", []Option{WithListing(true)}},
		{"RETURN count(*)", 336, true, "count += ", []Option{WithListing(true)}},
		{"RETURN a, id(b)", 336, true, "an embedding: a, b, c", nil},
		{"RETURN a, id(b)", 336, true, "count += ", []Option{WithListing(false)}},
		{"RETURN a LIMIT 7", 7, false, "an embedding: a, b, c", nil},
		{"RETURN exists()", 6, false, "a match: a, b, c", nil},
		{"RETURN participation(b)", 336, true, "at one place of b", nil},
	} {
		q, err := Parse("PROFILE MATCH (a)--(b)--(c)--(a) " + c.text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Explain(t.Context(), q, append(c.options, WithLevels(), WithThreads(1))...)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
		if r := e.Result; r.Embeddings.Int64() != c.embeddings || r.Complete != c.complete || !strings.Contains(b.String(), c.shows) || !strings.Contains(b.String(), "actually") {
			t.Errorf("%s: %v embeddings, complete %v, want %d, %v, %q in\n%s", c.text, r.Embeddings, r.Complete, c.embeddings, c.complete, c.shows, b.String())
		}
	}
	// Counts of JSON are numbers up to 2^53 and strings beyond.
	for text, want := range map[string]string{
		"(a)--(b)--(c)--(a)": `"actual":56[,}]`, // seconds follow where the search was slow
		// 8·7^19 ways for a and its neighbours
		"REPEATABLE ELEMENTS (a)" + strings.Repeat(", (a)--()", 19): `"actual":"91191161482985144"`,
	} {
		q, err := Parse("PROFILE MATCH " + text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := g.Explain(t.Context(), q, WithLevels(), WithThreads(1))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match(b) {
			t.Errorf("%s: no %s in\n%s", text, want, b)
		}
	}
	q, err := Parse("PROFILE MATCH (a)--(b) RETURN a LIMIT 0")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := g.Explain(t.Context(), q, WithLevels()); err != nil || e.Result != nil {
		t.Errorf("LIMIT 0 was run: %v, %v", e, err)
	}
}

// TestFilters: explain --analyze shows how many vertices each filter leaves, in text and in JSON.
func TestFilters(t *testing.T) {
	var vertices []Vertex
	for _, id := range []string{"a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4", "c1"} {
		vertices = append(vertices, Vertex{ID: id, Labels: []string{strings.ToUpper(id[:1])}, Properties: map[string]any{"n": id[1:]}})
	}
	var edges []Edge
	for _, e := range []string{"a1 b1 X", "a1 b2 X", "a2 b1 X", "a2 b2 Y", "a3 b1 Y", "a4 b3 X", "a4 b4 X", "c1 b1 X", "c1 b2 X",
		// fewer than half of the edges are of X, so that its label tells something
		"b1 b2 Y", "b2 b3 Y", "b3 b4 Y", "b1 b3 Y", "b2 b4 Y", "b1 b4 Y", "c1 b3 Y"} {
		f := strings.Fields(e)
		edges = append(edges, Edge{Src: f[0], Dst: f[1], Label: f[2]})
	}
	g, err := FromEdges(t.Context(), Edges(edges...), WithVertexRows(Vertices(vertices...)), WithDirected(true))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	q, err := Parse("MATCH (a:A WHERE a.n <> '4')-[:X]->(b:B), (a)-[:X]->(c:B)")
	if err != nil {
		t.Fatal(err)
	}
	type filter struct {
		Filter string
		Left   uint64
	}
	own := []filter{{"none", 9}, {"label", 4}, {"where", 3}, {"degree", 1}}
	for _, c := range []struct {
		options []Option
		want    []filter // of a
		text    string
	}{
		{[]Option{WithEngine("join")}, append(own[:len(own):len(own)], filter{"edges", 1}), "filter edges   1"},
		{[]Option{WithEngine("join")}, append(own[:len(own):len(own)], filter{"edges", 1}), "edge labels leave a 2 of 3, b 4 of 4, c 4 of 4"},
		{[]Option{WithEngine("join"), WithOrder("gsi"), WithEngineOption("join.filter", "signature")}, append(own, filter{"signature", 1}), "filter signature  1"},
		{[]Option{WithEngine("join"), WithOrder("gsi"), WithEngineOption("join.filter", "off")}, own, "filter degree"},
		{[]Option{WithEngine("host")}, own, "filter degree"},
		{[]Option{WithEngine("host"), WithEngineOption("plan.method", "large")}, append(own, filter{"neighbours", 1}, filter{"consistency", 1}), "filter neighbours"},
	} {
		e, err := g.Explain(t.Context(), q, append(c.options, WithLevels(), WithThreads(2))...)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.text) || strings.Contains(c.want[len(c.want)-1].Filter, "degree") && strings.Contains(b.String(), "signature") {
			t.Errorf("no %q in\n%s", c.text, b.String())
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Plan struct {
				Levels []struct {
					Vertex  string
					Filters []filter
				}
			}
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		for _, l := range got.Plan.Levels {
			if l.Vertex == "a" && !slices.Equal(l.Filters, c.want) {
				t.Errorf("filters %v, want %v", l.Filters, c.want)
			}
		}
	}
}
