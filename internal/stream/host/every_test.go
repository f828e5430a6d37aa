package host

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// TestEveryEmit: the first vertex that satisfies an unconnected EXISTS brings all matches, and the last one takes them, for watches of
// either change.
func TestEveryEmit(t *testing.T) {
	m := New(dynamic.New(false, false), Options{Workers: 1})
	for _, emit := range []nest.Emit{nest.Both, nest.Added, nest.Removed} {
		if _, err := m.Add(emit.String(), parse(t, "MATCH (a)--(b) WHERE EXISTS { (c:Alarm) }"), nest.WatchOptions{Emit: emit}); err != nil {
			t.Fatal(err)
		}
	}
	alarm := func(op stream.Op, v uint64) stream.Update {
		return stream.Update{Op: op, U: dynamic.Num(v), Labels: []string{"Alarm"}}
	}
	sink := &lines{}
	batch := []stream.Update{
		edge(stream.AddEdge, 1, 2), alarm(stream.AddVertex, 8), alarm(stream.AddVertex, 9), alarm(stream.RemoveVertex, 8), alarm(stream.RemoveVertex, 9), edge(stream.AddEdge, 2, 3),
	}
	if _, err := m.Apply(t.Context(), batch, sink); err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for _, text := range sink.out {
		ids[text[:len("2 0 1")]]++
	}
	if want := map[string]int{"2 0 1": 1, "2 1 1": 1, "5 0 -": 1, "5 2 -": 1}; len(sink.out) != 4 || !slices.Equal(keysOf(ids), keysOf(want)) {
		t.Errorf("deltas %q", sink.out)
	}
}

func keysOf(m map[string]int) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestEveryEnds: a long search of an unconnected EXISTS ends with the context.
func TestEveryEnds(t *testing.T) {
	g := dynamic.New(false, false)
	m := New(g, Options{Workers: 1})
	if _, err := m.Add("q", parse(t, "MATCH (a:A) WHERE EXISTS { (w), (x), (y), (z) WHERE id(w) + id(x) + id(y) + id(z) < 0 }"), nest.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for v := range uint64(5000) {
		u := stream.Update{Op: stream.AddVertex, U: dynamic.Num(v)}
		if _, err := stream.Apply(g, &u); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Apply(ctx, []stream.Update{{Op: stream.AddVertex, U: dynamic.Num(6000)}}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a long search ended with %v", err)
	}
}
