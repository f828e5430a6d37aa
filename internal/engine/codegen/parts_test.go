package codegen_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestParts compares plans over relations in parts with the oracle.
func TestParts(t *testing.T) {
	on(t, func(t *testing.T, e engine.Engine) {
		for _, l := range parts.Layouts {
			x := &parts.Trial{Layout: l}
			x.Compare(t, nodiff.Config{Compile: nest, MaxVertices: 9, Opt: lookups}, parts.Few(3), hashed(e))
		}
	})
}

// TestCPUParts is TestParts on the processor. There half of the searches, which seem short, read sparse lists as they are.
func TestCPUParts(t *testing.T) {
	onCPU(t)
	var n atomic.Int64
	short := func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
		pl, err := nest(g, p, o)
		if pl != nil && n.Add(1)%2 == 0 {
			pl.Price = 1
		}
		return pl, err
	}
	for _, l := range append(slices.Clone(parts.Layouts), parts.Sparse) {
		x := &parts.Trial{Layout: l}
		x.Compare(t, nodiff.Config{Compile: short, MaxVertices: 12}, parts.Few(3), codegen.CPU{})
	}
}

// TestSparse is TestParts over sparse lists, which mostly stay so.
func TestSparse(t *testing.T) {
	opt := map[string]string{"codegen.lookup": "bits|hash|search", "gpu.adjacency": "host|cached", gpu.Offsets: "on"}
	on(t, func(t *testing.T, e engine.Engine) {
		x := &parts.Trial{Layout: parts.Sparse}
		x.Compare(t, nodiff.Config{Compile: parts.Short(nest), MaxVertices: 9, Opt: opt}, parts.Few(3), hashed(e))
	})
}
