package weft_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// TestCountedAgain: a second count of a query does not plan it again, unless something has changed that its plan
// depends on.
func TestCountedAgain(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := weft.Parse("MATCH (a)--(b)--(c) WHERE id(a) > $x RETURN count(*)")
	if err != nil {
		t.Fatal(err)
	}
	count := func(q *weft.Query, o ...weft.Option) weft.Result {
		t.Helper()
		r, err := g.Count(t.Context(), q, o...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, o := range [][]weft.Option{
		{weft.WithParam("x", 10)}, {weft.WithParam("x", 20)}, {weft.WithParam("x", 20), weft.WithSemantics("hom")},
		{weft.WithParam("x", 20), weft.WithInduced(true)}, {weft.WithParam("x", 20), weft.WithEngine("oracle")},
	} {
		fresh, err := weft.Parse("MATCH (a)--(b)--(c) WHERE id(a) > $x RETURN count(*)")
		if err != nil {
			t.Fatal(err)
		}
		want := count(fresh, o...)
		for i := range 3 {
			got := count(q, o...)
			if got.Embeddings.Cmp(want.Embeddings) != 0 || got.Engine != want.Engine || got.Semantics != want.Semantics {
				t.Errorf("time %d: %v by %s, want %v by %s", i, got.Embeddings, got.Engine, want.Embeddings, want.Engine)
			}
			if i > 0 && got.Plan != 0 {
				t.Errorf("time %d: planned for %v", i, got.Plan)
			}
			got.Automorphisms.SetInt64(0) // is the caller's
		}
	}
	// A limit is of one run.
	x := weft.WithParam("x", 20)
	if r := count(q, x, weft.WithLimit(2)); r.Complete || r.Embeddings.Int64() != 2 {
		t.Errorf("limit: %v, complete %v", r.Embeddings, r.Complete)
	}
	if r := count(q, x); !r.Complete || r.Plan != 0 {
		t.Errorf("without the limit: complete %v, planned for %v", r.Complete, r.Plan)
	}
	want := count(q, x).Embeddings
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if r, err := g.Count(t.Context(), q, x); err != nil || r.Embeddings.Cmp(want) != 0 {
					t.Errorf("side by side: %v, %v; want %v", r.Embeddings, err, want)
				}
			}
		})
	}
	wg.Wait()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestListedAgain: a second listing, or question whether there is a match, is not planned again, and gives the same.
func TestListedAgain(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a) WHERE id(a) > $x RETURN a, b, c.none")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []int{20, 30, 20} {
		o := []weft.Option{weft.WithParam("x", x)}
		var rows, notes, matches []int
		var plans []time.Duration
		for range 3 {
			var text strings.Builder
			r, err := g.List(t.Context(), q, &text, "csv", o...)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, err := range g.Match(t.Context(), q, o...) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			rows, notes, matches, plans = append(rows, strings.Count(text.String(), "\n")), append(notes, len(r.Notes)), append(matches, n), append(plans, r.Plan)
		}
		if rows[0] != rows[2] || notes[0] != notes[2] || notes[0] == 0 || matches[0] != matches[2] || matches[0]+1 != rows[0] || plans[1] != 0 || plans[2] != 0 {
			t.Errorf("x = %d: rows %v, matches %v, notes %v, planned for %v", x, rows, matches, notes, plans)
		}
		// A limit, and the other count, are not those of the run before.
		var text strings.Builder
		if r, err := g.List(t.Context(), q, &text, "csv", append(o, weft.WithLimit(2))...); err != nil || strings.Count(text.String(), "\n") != 3 || r.Complete {
			t.Errorf("limit: %v %v", text.String(), err)
		}
		text.Reset()
		if _, err := g.List(t.Context(), q, &text, "csv", append(o, weft.WithList(weft.Subgraphs))...); err != nil || strings.Count(text.String(), "\n") >= rows[0] {
			t.Errorf("subgraphs: %d of %d rows, %v", strings.Count(text.String(), "\n"), rows[0], err)
		}
		var again []time.Duration
		for range 2 {
			yes, r, err := g.Exists(t.Context(), q, o...)
			if !yes || err != nil {
				t.Errorf("exists: %v, %v", yes, err)
			}
			again = append(again, r.Plan)
		}
		if again[1] != 0 {
			t.Errorf("exists: planned for %v", again)
		}
	}
}

// TestPlanningTime: planning that takes too long is an error of the query, in each call that plans one. What was planned before is not.
func TestPlanningTime(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := weft.Parse("MATCH (a)--(b)--(c)--(a) RETURN participation(a)")
	if err != nil {
		t.Fatal(err)
	}
	short := weft.WithPlanning(time.Nanosecond)
	for name, call := range map[string]func(...weft.Option) error{
		"count":         func(o ...weft.Option) error { _, err := g.Count(t.Context(), q, o...); return err },
		"list":          func(o ...weft.Option) error { _, err := g.List(t.Context(), q, io.Discard, "csv", o...); return err },
		"exists":        func(o ...weft.Option) error { _, _, err := g.Exists(t.Context(), q, o...); return err },
		"explain":       func(o ...weft.Option) error { _, err := g.Explain(t.Context(), q, o...); return err },
		"participation": func(o ...weft.Option) error { _, err := g.Participation(t.Context(), q, "a", o...); return err },
	} {
		var wrong *weft.QueryError
		if err := call(short); !errors.Is(err, weft.ErrQuery) || !errors.As(err, &wrong) || !strings.Contains(err.Error(), "planning") {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(weft.WithPlanning(time.Hour)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := g.Count(t.Context(), q, short); err != nil {
		t.Errorf("a count that was planned before: %v", err)
	}
}
