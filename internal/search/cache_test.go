package search

import (
	"io"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/setting"
)

// TestCacheOfParameters: jobs are found by the values of their parameters, and those with large values are not kept.
func TestCacheOfParameters(t *testing.T) {
	c := cache{most: 4}
	q := &gql.Query{}
	with := func(x any) *setting.Settings { return &setting.Settings{Params: map[string]any{"x": x}} }
	c.put(&Job{Question: Question{Query: q, Settings: with(int64(1))}}, counting)
	c.put(&Job{Question: Question{Query: q, Settings: with(strings.Repeat("x", mostSettings))}}, counting)
	if len(c.last) != 1 {
		t.Fatalf("%d jobs are kept, and one is small", len(c.last))
	}
	if c.take(Question{Query: q, Settings: with(int64(2))}, counting) != nil {
		t.Error("another value has the job of the first")
	}
	if c.take(Question{Query: q, Settings: with(int64(1))}, counting) == nil || len(c.last) != 0 {
		t.Error("the same value does not have the job")
	}
}

// TestPlanUnchanged: what a listing remarks is not added to its plan, which earlier callers may still read.
func TestPlanUnchanged(t *testing.T) {
	data, err := format.ReadFrom(t.Context(), strings.NewReader("1 2\n2 3\n"), "g.txt", format.ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rt := runtime.New(runtime.Options{})
	defer rt.Close()
	g := NewGraph(rt, data)
	defer g.Close()
	q, err := gql.Parse("MATCH (a)--(b) RETURN a.size")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := g.List(t.Context(), Question{Query: q, Settings: &setting.Settings{}}, io.Discard, "ndjson")
		if err != nil || len(r.Notes) != 1 {
			t.Errorf("%v %v", r.Notes, err)
		}
		if n := len(g.cache.last); n != 1 || len(g.cache.last[0].job.Plan.Warnings) > 0 || g.cache.last[0].job.notes != nil {
			t.Errorf("%d jobs are kept, or the plan has notes", n)
		}
	}
}
