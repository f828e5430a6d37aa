package codegen_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// onCPU skips the test where there is no C compiler.
func onCPU(t *testing.T) {
	t.Helper()
	if _, err := native.C(); errors.Is(err, native.ErrNoCompiler) {
		t.Skip(err)
	}
}

func TestCPUAgreesWithOracle(t *testing.T) {
	onCPU(t)
	checks(t)
	nodiff.Check(t, nodiff.Config{Engine: codegen.CPU{}, MaxVertices: 12, Compile: nest})
	nodiff.Check(t, nodiff.Config{Engine: codegen.CPU{}, Patterns: nodiff.Conditions, MaxPattern: 4, Compile: nest})
}

// TestCPUAgreesWithHost counts the papers' patterns in a graph with hubs, which
// have bitmaps, by one thread and by several.
func TestCPUAgreesWithHost(t *testing.T) {
	onCPU(t)
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 6000, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 9; i++ {
		if testing.Short() && i%4 != 1 {
			continue
		}
		qs, err := gql.ByName(fmt.Sprintf("gmatch:P%d", i))
		if err != nil {
			t.Fatal(err)
		}
		p, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		want, err := host.New().Run(t.Context(), g, p, engine.Options{Threads: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 3} {
			got, err := codegen.CPU{}.Run(t.Context(), g, p, engine.Options{Threads: threads}, nil)
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("P%d: %v by %d threads, %v on host: %v", i, got.Matches, threads, want.Matches, err)
			}
		}
	}
}
