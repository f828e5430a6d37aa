package planner_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// ending is a context that ends when it was looked at so often, and notes the
// longest time that nobody looked.
type ending struct {
	context.Context
	mu      sync.Mutex
	end     context.CancelCauseFunc
	looks   int // 0: it does not end
	seen    int
	last    time.Time
	longest time.Duration
}

func (e *ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	e.longest, e.last = max(e.longest, now.Sub(e.last)), now
	if e.seen++; e.seen == e.looks {
		e.end(errEnd)
	}
	return e.Context.Err()
}

var errEnd = errors.New("the end")

// TestEnds: plans that take long, each for another reason, end soon after their
// context, with its cause.
func TestEnds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 13, M: 100_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	parts := []int{0, 10, 50, 90} // in the hundred, of the looks at a context that does not end
	if testing.Short() {
		parts = []int{10}
		t.Log("-short: contexts end after a tenth of the looks alone")
	}
	for _, c := range []struct {
		query string
		o     plan.Options
	}{
		{"clique(32)", plan.Options{}},
		{"path(6)", plan.Options{}},                  // a formula of many plans
		{"cycle(5)", plan.Options{}},                 // closed walks
		{"cycle(7)", plan.Options{Method: "nest"}},   // all orders
		{"path(12)", plan.Options{Method: "nest"}},   // a beam of orders
		{"path(6)", plan.Options{Order: "tests"}},    // walks that count tests
		{"gmatch:P5", plan.Options{Method: "local"}}, // many roots
		{"MATCH (a)--(b)--(c) WHERE deg(a) % 7 = 3 AND deg(b) > 2", plan.Options{}},
	} {
		qs, err := gql.ByName(c.query)
		if err != nil {
			q, perr := gql.Parse(c.query)
			if perr != nil {
				t.Fatal(err, perr)
			}
			qs = append(qs[:0], q)
		}
		compile := func(looks int) (*ending, error) {
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			e := &ending{Context: ctx, end: end, looks: looks, last: time.Now()}
			o := c.o
			o.Root, o.Context = plan.NoRoot, e
			pl, err := planner.Compile(g, qs[0].Pattern, o)
			if (pl == nil) != (err != nil) {
				t.Errorf("%s: plan %v with error %v", c.query, pl, err)
			}
			e.longest = max(e.longest, time.Since(e.last))
			return e, err
		}
		whole, err := compile(0)
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		t.Logf("%s %s %s: %d looks, the longest time between two %v", c.query, c.o.Method, c.o.Order, whole.seen, whole.longest)
		for _, part := range parts {
			e, err := compile(1 + part*whole.seen/100)
			if err != errEnd {
				t.Errorf("%s: %v, ended at %d of %d looks", c.query, err, e.looks, whole.seen)
			}
			if after := e.seen - e.looks; after > 100 {
				t.Errorf("%s: %d looks after its end at %d of %d", c.query, after, e.looks, whole.seen)
			}
		}
	}
}

// TestConditionEnds: binding a long condition looks at the context all along.
func TestConditionEnds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "star", N: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const parts = 5000
	q, err := gql.Parse("MATCH (a)--(b) WHERE " + strings.Repeat("deg(a) = id(b) OR ", parts) + "id(a) = 1")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(looks int) (int, error) {
		ctx, end := context.WithCancelCause(t.Context())
		defer end(nil)
		e := &ending{Context: ctx, end: end, looks: looks, last: time.Now()}
		_, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Context: e})
		return e.seen, err
	}
	whole, err := compile(0)
	if err != nil || whole < parts {
		t.Fatalf("%d looks at the context for %d parts of a condition, %v", whole, parts, err)
	}
	if seen, err := compile(parts / 2); err != errEnd || seen > parts/2+100 {
		t.Errorf("%d looks after the end, %v", seen-parts/2, err)
	}
}
