package fine_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// hashed has all lists but those of a vertex or two in hash tables where a test asks for these:
// random graphs have none so long as they begin at otherwise. Some of the graphs have lists long
// enough that filters are asked first.
func hashed(e engine.Engine) engine.Engine {
	return engines.With(e, map[string]string{"membership.short": "2", "membership.long": "5"})
}

// cores are nests of patterns in which every vertex has two neighbours at least.
var cores = nodiff.Technique{Patterns: nodiff.Dense, Columns: nodiff.Simple, Force: nodiff.Nest.Force, Plan: func(pl *plan.Plan) bool {
	degree := make([]int, len(pl.Pattern.Vertices))
	for _, e := range pl.Pattern.Edges {
		degree[e.From]++
		degree[e.To]++
	}
	return slices.Min(degree) > 1
}}

// techniques are those that a run says it has used.
var techniques = []nodiff.Technique{
	nodiff.Nest.Walked().With("a pool", "fine.pool", "8", "fine.index", "none").Said("a pool of"),
	nodiff.LabelledNest.With("a candidate graph of bitmaps", "fine.index", "bitmap").Said("a candidate graph of"),
	nodiff.LabelledNest.With("a candidate graph of hash tables", "fine.index", "hash").Said("a candidate graph of"),
	nodiff.Nest.Walked().With("a cache of lists", "gpu.adjacency", "cached", "fine.index", "none", "fine.lookup", "search").Said("a cache of"),
	cores.Walked().With("pruning", "fine.prune", "on", "fine.index", "none").Said("are left out"),
}

// TestGPUNoDiff compares with the oracle as TestAgreesWithOracle does, at length
// where a GPU is required.
func TestGPUNoDiff(t *testing.T) {
	c := nodiff.Config{Compile: nest, MaxVertices: 12, Opt: map[string]string{
		"fine.batch": "off", "fine.steal": "block|off", "fine.pool": "8|0", "fine.prune": "on",
		"fine.index": "bitmap|hash|none", "fine.lookup": "hash|search", "fine.siblings": "off|on",
	}, Techniques: techniques}
	nodiff.OnDevices(t, c, func(s *session.Session) engine.Engine { return hashed(fine.New(s)) })
}
