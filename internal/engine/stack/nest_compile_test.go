package stack

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestNestCompilesForGPUs compiles the search of two plans, counting with the flat
// leaves and listing.
func TestNestCompilesForGPUs(t *testing.T) {
	g := rmat(t, 5, 100)
	for name, listing := range map[string]bool{"gmatch:P5": false, "gmatch:P9": true, "": true} {
		of := &pattern.Pattern{Vertices: make([]pattern.Vertex, 1)} // without a name: a vertex alone
		if name != "" {
			ps, err := pattern.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			of = ps[0]
		}
		p, err := plan.Compile(g, of, plan.Options{Root: plan.NoRoot, Method: "nest", Listing: listing})
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		prog, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: !listing})
		if err != nil {
			t.Fatal(err)
		}
		r := &search{switches: s, prog: prog}
		check.CompileCheck(t, r.source())
	}
}
