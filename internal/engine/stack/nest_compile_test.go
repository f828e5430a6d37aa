package stack

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/parts"
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
		p, err := planner.Compile(g, of, plan.Options{Root: plan.NoRoot, Method: "nest", Listing: listing})
		if err != nil {
			t.Fatal(err)
		}
		s, _, _, err := parse(engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		code, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: !listing})
		if err != nil {
			t.Fatal(err)
		}
		r := &search{switches: s, code: code}
		check.CompileCheck(t, r.source())
	}
}

// TestPartsCompileForGPUs compiles the search of a plan over relations in parts.
func TestPartsCompileForGPUs(t *testing.T) {
	g := rmat(t, 5, 100)
	parts.Layouts[0].Store(g)
	ps, err := pattern.ByName("gmatch:P5")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	s, _, _, err := parse(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.unroll = 1
	code, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: true, Roomy: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s.stats = range []bool{false, true} {
		check.CompileCheck(t, (&search{switches: s, code: code, parts: true}).source())
	}
}

// TestSparseCompilesForGPUs compiles the search of a plan over sparse lists, from edges, by code and by a table.
func TestSparseCompilesForGPUs(t *testing.T) {
	g := rmat(t, 5, 100)
	parts.Sparse.Store(g)
	ps, err := pattern.ByName("gmatch:P5")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"code", "table"} {
		s, _, _, err := parse(engine.Options{Opt: map[string]string{"stack.program": program}})
		if err != nil {
			t.Fatal(err)
		}
		lo, made := lower.Options{View: lower.Sets, Counting: true, Sparse: lower.AsStored}, lower.Plan
		if s.table {
			lo.Counting, made = false, lower.Table
		}
		code, err := made(p, lo)
		if err != nil {
			t.Fatal(err)
		}
		r := &search{switches: s, p: p, code: code, edges: true}
		r.vertices = gpu.ListVertices(code.Program, code.Program.Globals[code.Sets.First], r.first())
		check.CompileCheck(t, r.source())
	}
}
