package weft_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// watching is a watch of some queries over a path of four vertices.
func watching(t *testing.T, texts ...string) *weft.Watch {
	t.Helper()
	g, err := weft.FromEdges(t.Context(), weft.Edges(weft.Edge{Src: 1, Dst: 2}, weft.Edge{Src: 2, Dst: 3}, weft.Edge{Src: 3, Dst: 4}))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var qs []*weft.Query
	for _, text := range texts {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		qs = append(qs, q)
	}
	w, err := g.Watch(t.Context(), qs)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func edge(op weft.UpdateOp, u, v any) weft.Update {
	return weft.Update{Op: op, Edge: weft.Edge{Src: u, Dst: v}}
}

// changes are the changes of some updates as text.
func changes(t *testing.T, w *weft.Watch, us ...weft.Update) (out []string) {
	t.Helper()
	for c, err := range w.Apply(t.Context(), us...) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(c.Seq, c.Query, c.Added, c.Columns(), c.Values()))
	}
	return out
}

// TestWatch: queries come and go while a graph changes, and a new one can begin with the present matches.
func TestWatch(t *testing.T) {
	w := watching(t, "CREATE WATCH tri AS MATCH (a)--(b)--(c)--(a)")
	defer w.Close()
	want := func(got []string, want ...string) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	want(changes(t, w, edge(weft.AddEdge, 1, int8(3)), edge(weft.AddEdge, 1, 3), edge(weft.RemoveEdge, 7, 8)), "1tritrue [a b c] [1 2 3]")
	q, err := weft.Parse("CREATE WATCH wedge AS MATCH (a)-[e]-(b)--(c) WHERE id(b) = 4 RETURN b, e EMIT ADDED")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(q); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(q); !errors.Is(err, weft.ErrQuery) {
		t.Errorf("a second query of one name: %v", err)
	}
	for range w.Present(t.Context(), "wedge") {
		t.Error("there is a wedge")
	}
	want(changes(t, w, edge(weft.AddEdge, 4, 2)),
		"4tritrue [a b c] [2 3 4]", "4wedgetrue [b e] [4 {2 4  <nil> map[]}]", "4wedgetrue [b e] [4 {3 4  <nil> map[]}]")
	n := 0
	for c, err := range w.Present(t.Context(), "tri") {
		if err != nil || c.Seq != 4 || !c.Added || c.Value("a") == nil || c.Value("z") != nil {
			t.Errorf("%v, %v", c, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d triangles are present", n)
	}
	if err := w.Drop("tri"); err != nil {
		t.Fatal(err)
	}
	if err := w.Drop("tri"); !errors.Is(err, weft.ErrUsage) {
		t.Errorf("dropped twice: %v", err)
	}
	want(changes(t, w, weft.Update{Op: weft.RemoveVertex, Vertex: weft.Vertex{ID: 2}}))
	want(changes(t, w, edge(weft.AddEdge, 2, 4)), "6wedgetrue [b e] [4 {2 4  <nil> map[]}]", "6wedgetrue [b e] [4 {3 4  <nil> map[]}]")
}

// TestWatchErrors: a wrong update is an error with its number, and those before it are made.
func TestWatchErrors(t *testing.T) {
	w := watching(t, "CREATE WATCH e AS MATCH (a)--(b)")
	for what, u := range map[string]weft.Update{
		"a text as id":       edge(weft.AddEdge, "x", 2),
		"no id":              edge(weft.AddEdge, nil, 2),
		"a negative id":      edge(weft.AddEdge, 2, -1),
		"no such kind":       {Op: 77},
		"a time as a text":   {Edge: weft.Edge{Src: 1, Dst: 9, Time: "now"}},
		"a time, no unit":    {Edge: weft.Edge{Src: 1, Dst: 9, Time: time.Now()}},
		"a property's value": {Op: weft.SetVertex, Vertex: weft.Vertex{ID: 1, Properties: map[string]any{"x": []int{1}}}},
	} {
		var last error
		for _, err := range w.Apply(t.Context(), u) {
			last = err
		}
		if !errors.Is(last, weft.ErrInput) || !strings.HasPrefix(last.Error(), "update 1: ") {
			t.Errorf("%s: %v", what, last)
		}
	}
	// A loop that is left has made its updates, and calls in a loop are refused.
	for c, err := range w.Apply(t.Context(), edge(weft.AddEdge, 5, 6), edge(weft.AddEdge, 6, 7)) {
		if err != nil || c.Seq != 1 {
			t.Errorf("%v, %v", c, err)
		}
		for _, err := range w.Apply(t.Context(), edge(weft.AddEdge, 7, 8)) {
			if !errors.Is(err, weft.ErrUsage) {
				t.Errorf("in a loop: %v", err)
			}
		}
		if err := w.Close(); !errors.Is(err, weft.ErrUsage) {
			t.Errorf("Close in a loop: %v", err)
		}
		break
	}
	if got := changes(t, w, edge(weft.AddEdge, 6, 7), edge(weft.AddEdge, 7, 8)); len(got) != 1 || !strings.HasPrefix(got[0], "4e") {
		t.Errorf("after a loop that was left: %q", got)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, err := range w.Apply(t.Context()) {
		if !errors.Is(err, weft.ErrUsage) {
			t.Errorf("after Close: %v", err)
		}
	}
	g, err := weft.Generate(t.Context(), weft.Spec{Model: "star", N: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, text := range []string{
		"MATCH (a)--(b), (c)--(d)", "MATCH (a)--(b) RETURN count(*)", "MATCH (a)--(b) RETURN a.x IN [1]", "MATCH (a)--(b) WHERE a.x = $x RETURN a", "MATCH (a)-[*1..2]-(b)",
	} {
		q, err := weft.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Watch(t.Context(), []*weft.Query{q}); !errors.Is(err, weft.ErrQuery) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestWatchApplyRefused: the changes of updates before one that cannot be made are yielded before the error.
func TestWatchApplyRefused(t *testing.T) {
	w := watching(t, "CREATE WATCH tri AS MATCH (a)--(b)--(c)--(a)")
	with := func(u, v int, x any) weft.Update {
		return weft.Update{Edge: weft.Edge{Src: u, Dst: v, Properties: map[string]any{"w": x}}}
	}
	var got []string
	for c, err := range w.Apply(t.Context(), with(1, 3, 1), with(2, 4, "text"), with(1, 4, 2)) {
		if err != nil {
			got = append(got, strings.Fields(err.Error())[1])
			continue
		}
		got = append(got, fmt.Sprint(c.Seq, c.Values()))
	}
	if want := []string{"1 [1 2 3]", "2:"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWatchProduct: a pattern with unconnected parts needs WithProduct, as for a search. An EXISTS that nothing connects to the match does not.
func TestWatchProduct(t *testing.T) {
	w := watching(t, "CREATE WATCH quiet AS MATCH (a)--(b) WHERE NOT EXISTS { (c)--(d)--(e)--(c) }")
	defer w.Close()
	q, err := weft.Parse("CREATE WATCH both AS MATCH (a)--(b), (c)--(d)")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(q); !errors.Is(err, weft.ErrQuery) || !strings.Contains(err.Error(), "allow-product") {
		t.Errorf("without consent: %v", err)
	}
	g, err := weft.FromEdges(t.Context(), weft.Edges(weft.Edge{Src: 1, Dst: 2}, weft.Edge{Src: 3, Dst: 4}))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p, err := g.Watch(t.Context(), []*weft.Query{q}, weft.WithProduct())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := changes(t, p, edge(weft.AddEdge, 5, 6), edge(weft.RemoveEdge, 3, 4))
	want := []string{"1bothtrue [a b c d] [1 2 5 6]", "1bothtrue [a b c d] [3 4 5 6]", "2bothfalse [a b c d] [1 2 3 4]", "2bothfalse [a b c d] [3 4 5 6]"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
