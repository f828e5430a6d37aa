package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// opened is the graph of files with these texts: edges and, unless "", vertices.
func opened(t *testing.T, edges, vertices string, options ...Option) *Graph {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if vertices != "" {
		options = append(options, WithVertices(write("v.csv", vertices)))
	}
	g, err := Open(t.Context(), write("e.csv", edges), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// values are the values of all matches of a query, sorted as text.
func values(t *testing.T, g *Graph, text string, options ...Option) (columns []string, out [][]any) {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for m, err := range g.Match(t.Context(), q, options...) {
		if err != nil {
			t.Fatal(err)
		}
		columns = m.Columns()
		out = append(out, m.Values())
		for i, name := range columns {
			if d := cmp.Diff(m.At(i), m.Value(name)); d != "" {
				t.Errorf("column %d, %s: %s", i, name, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b []any) int { return cmpText(a, b) })
	return columns, out
}

func cmpText(a, b any) int {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

const socialEdges = `src,dst,type,time:unix_s,w:float,n,ok,note
ann,bob,likes,86400,1.5,1,true,a
bob,cyd,,86401,,2,false,
ann,bob,knows,-1,2.5,,,c
`

const socialVertices = "id,labels,age,name\nann,P,30,Ann\nbob,P;Q,,\ncyd,,41,Cyd\n"

// TestMatchValues: the items of a RETURN come with their types.
func TestMatchValues(t *testing.T) {
	g := opened(t, socialEdges, socialVertices, WithDirected(true))
	when := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	ab := Edge{Src: "ann", Dst: "bob", Label: "likes", Time: when(86400), Properties: map[string]any{"w": 1.5, "n": int64(1), "ok": true, "note": "a"}}
	ab2 := Edge{Src: "ann", Dst: "bob", Label: "knows", Time: when(-1), Properties: map[string]any{"w": 2.5, "note": "c"}}
	bc := Edge{Src: "bob", Dst: "cyd", Time: when(86401), Properties: map[string]any{"n": int64(2), "ok": false}}
	for _, c := range []struct {
		query   string
		columns []string
		want    [][]any
	}{
		{"MATCH (a)-[e]->(b)-->(c) RETURN a, b.age, c.age AS age, a.name, e.w, e.n, e.ok, e.note, e.time, deg(b), 1 + 1, a.age > 29",
			[]string{"a", "b.age", "age", "a.name", "e.w", "e.n", "e.ok", "e.note", "e.time", "deg(b)", "1 + 1", "a.age > 29"},
			[][]any{
				{"ann", nil, int64(41), "Ann", 1.5, int64(1), true, "a", when(86400), int64(2), int64(2), true},
				{"ann", nil, int64(41), "Ann", 2.5, nil, nil, "c", when(-1), int64(2), int64(2), true},
			}},
		{"MATCH (a)-[e]->(b)-[f]->(c)", []string{"a", "b", "c", "e", "f"}, [][]any{{"ann", "bob", "cyd", ab2, bc}, {"ann", "bob", "cyd", ab, bc}}},
		{"MATCH (a)-[e]->(b)-[f]->(c) RETURN f, e, b", []string{"f", "e", "b"}, [][]any{{bc, ab2, "bob"}, {bc, ab, "bob"}}},
		{"MATCH (a)-->(b)-->(c) RETURN $x", []string{"$x"}, [][]any{{"y"}}},
	} {
		columns, got := values(t, g, c.query, WithParam("x", "y"))
		if len(columns) == len(c.columns) && c.columns[0] == "$x" {
			columns = c.columns
		}
		if !slices.Equal(columns, c.columns) {
			t.Errorf("%s: columns %q, want %q", c.query, columns, c.columns)
		}
		slices.SortFunc(c.want, func(a, b []any) int { return cmpText(a, b) })
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: want (-), got (+)\n%s", c.query, d)
		}
	}
}

// TestMatchNames: vertices and edges by the pattern's names, whatever RETURN says.
func TestMatchNames(t *testing.T) {
	g := opened(t, "src,dst,w\n10,20,5\n", "")
	q, err := Parse("MATCH (x)-[e]-(y) WHERE id(x) = 10 AND e.w > 1 RETURN y")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for m, err := range g.Match(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if m.Vertex("x") != any(int64(10)) || m.Vertex("y") != any(int64(20)) || m.Vertex("z") != nil || m.ID("y") != "20" || m.Value("z") != nil {
			t.Errorf("vertices %v, %v, %v", m.Vertex("x"), m.Vertex("y"), m.Vertex("z"))
		}
		e, ok := m.Edge("e")
		if d := cmp.Diff(Edge{Src: int64(10), Dst: int64(20), Properties: map[string]any{"w": int64(5)}}, e); !ok || d != "" {
			t.Errorf("edge: %v, want (-), got (+)\n%s", ok, d)
		}
		for _, none := range []string{"", "x", "f"} {
			if e, ok := m.Edge(none); ok {
				t.Errorf("edge %q is %v", none, e)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d matches, want 1", n)
	}
}

// TestMatchKept: a match that a caller keeps does not change, over many batches.
func TestMatchKept(t *testing.T) {
	g, err := Generate(t.Context(), Spec{Model: "grid", Dims: []uint64{60, 60}})
	if err != nil {
		t.Fatal(err)
	}
	q, err := Parse("MATCH (a)-[e]-(b)-[f]-(c)")
	if err != nil {
		t.Fatal(err)
	}
	var kept []Match
	var seen [][]any
	for m, err := range g.Match(t.Context(), q, WithList(Embeddings)) {
		if err != nil {
			t.Fatal(err)
		}
		kept, seen = append(kept, m), append(seen, m.Values())
	}
	r, err := g.Count(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if r.Embeddings.Int64() != int64(len(kept)) {
		t.Errorf("%d matches, want %d", len(kept), r.Embeddings)
	}
	for i, m := range kept {
		if d := cmp.Diff(seen[i], m.Values()); d != "" {
			t.Fatalf("match %d has changed: %s", i, d)
		}
	}
}

// TestMatchErrors: a value that cannot be returned is an error of kind ErrQuery, and ends the iteration.
func TestMatchErrors(t *testing.T) {
	g := opened(t, "1,2\n2,3\n", "")
	for text, kind := range map[string]error{
		"MATCH (a)--(b) RETURN [1, 2]":   ErrQuery,
		"MATCH (a)--(b), (c) RETURN a.x": ErrQuery,
		"MATCH (a)--(b) RETURN $x":       ErrQuery,
	} {
		q, err := Parse(text)
		n := 0
		if err == nil {
			for _, err = range g.Match(context.Background(), q) {
				n++
			}
		}
		if !errors.Is(err, kind) || n > 1 {
			t.Errorf("%s: %v after %d", text, err, n)
		}
	}
}
