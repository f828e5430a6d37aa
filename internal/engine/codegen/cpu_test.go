package codegen_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// onCPU skips the test if there is no C compiler.
func onCPU(t *testing.T) {
	t.Helper()
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
}

func TestCPUAgreesWithOracle(t *testing.T) {
	onCPU(t)
	checks(t)
	nodiff.Check(t, nodiff.Config{Engine: codegen.CPU{Objects: device.Objects()}, MaxVertices: 12, Compile: nest})
	nodiff.Check(t, nodiff.Config{Engine: codegen.CPU{Objects: device.Objects()}, Patterns: nodiff.Choices, Columns: nodiff.Timed, MaxPattern: 4, Compile: nest})
}

// TestCPUOptions: options that only GPUs have are refused, and not ignored.
func TestCPUOptions(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 20, M: 40, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	qs, err := gql.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"codegen.local": engine.ErrOption, "plan.tail": nil} {
		if err := engines.Refusal(codegen.CPU{Objects: device.Objects()}, g, p, engine.Options{Opt: map[string]string{name: "off"}}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestCPUAgreesWithHost counts the papers' patterns in a graph with hubs, which
// have bitmaps, by one thread and by several.
func TestCPUAgreesWithHost(t *testing.T) {
	onCPU(t)
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 6000, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !long.Asked() {
		t.Log("without WEFT_LONG: P1, P5 and P9 alone, since each plan is compiled")
	}
	for i := 1; i <= 9; i++ {
		if !long.Asked() && i%4 != 1 {
			continue
		}
		p, want := countedNest(t, g, fmt.Sprintf("gmatch:P%d", i))
		for _, threads := range []int{1, 3} {
			got, err := engine.Once(t.Context(), codegen.CPU{Objects: device.Objects()}, g, p, engine.Options{Threads: threads}, engine.Goal{})
			if err != nil || got.Matches != want || !got.Complete {
				t.Errorf("P%d: %v by %d threads, %v on host: %v", i, got.Matches, threads, want, err)
			}
		}
	}
}

// rowCounter is a sink that counts rows. It stops the search after a number of rows; 0 means never.
type rowCounter struct{ rows, most atomic.Int64 }

func (c *rowCounter) Emit(_ int, b *engine.Batch) error {
	if n := c.rows.Add(int64(b.Rows)); c.most.Load() > 0 && n >= c.most.Load() {
		return engine.ErrStop
	}
	return nil
}

// TestCPUStops: runs without end stop soon after the context, a limit or the sink stops them.
func TestCPUStops(t *testing.T) {
	onCPU(t)
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 2000, M: 100_000, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	qs, err := gql.ByName("path(9)")
	if err != nil {
		t.Fatal(err)
	}
	counting, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	listing, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot, Listing: true})
	if err != nil {
		t.Fatal(err)
	}
	run := func(p *plan.Plan, goal engine.Goal, within time.Duration) (engine.Result, error) {
		t.Helper()
		o := engine.Options{Threads: 2}
		if _, err := engine.Once(stopped(t), codegen.CPU{Objects: device.Objects()}, g, p, o, goal); !errors.Is(err, context.Canceled) { // compiles
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		begin := time.Now()
		r, err := engine.Once(ctx, codegen.CPU{Objects: device.Objects()}, g, p, o, goal)
		if took := time.Since(begin); took > within+3*time.Minute { // 100 ms where nobody else works; the search takes days
			t.Errorf("it took %s", took)
		}
		if r.Complete {
			t.Error("complete")
		}
		return r, err
	}
	if _, err := run(counting, engine.Goal{}, 100*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if r, err := run(counting, engine.Goal{Limit: 1000}, 3*time.Minute); err != nil || r.Matches != engine.U64(1000) {
		t.Errorf("%v: %v", r.Matches, err)
	}
	if _, err := run(listing, engine.Goal{Sink: &rowCounter{}}, 100*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	var some rowCounter
	if r, err := run(listing, engine.Goal{Limit: 5000, Sink: &some}, 3*time.Minute); err != nil || r.Matches != engine.U64(5000) || some.rows.Load() != 5000 {
		t.Errorf("%v and %d rows: %v", r.Matches, some.rows.Load(), err)
	}
	var few rowCounter
	few.most.Store(10)
	if _, err := run(listing, engine.Goal{Sink: &few}, 3*time.Minute); err != nil {
		t.Error(err)
	}
}

// stopped is a context that has ended.
func stopped(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
