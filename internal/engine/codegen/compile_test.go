package codegen

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestCompilesForGPUs compiles whole loop nests, counting and listing, by vertices
// and by places of lists, and with all ways to look neighbours up.
func TestCompilesForGPUs(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 5, M: 100, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		counting bool
		options  []string
		lookup   membership.Lookup
	}{
		{"gmatch:P5", true, []string{"-DARCS=64"}, membership.Search},
		{"gmatch:P5", true, []string{"-DARCS=64"}, membership.Hash},
		{"gmatch:P7", true, []string{"-DARCS=64"}, membership.Bits},
		{"gmatch:P9", false, []string{"-DARCS=64"}, membership.Search},
		{"star(3)", true, nil, membership.Search},
	} {
		ps, err := pattern.ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Listing: !c.counting})
		if err != nil {
			t.Fatal(err)
		}
		code, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: c.counting, Roomy: true, Lookup: c.lookup != membership.Search})
		if err != nil {
			t.Fatal(err)
		}
		check.CompileCheck(t, cuda.Source{Name: c.name, Text: (&program{code: code, lookup: c.lookup}).text(), Options: c.options})
	}
}

// TestPartsCompileForGPUs compiles a loop nest over relations in parts.
func TestPartsCompileForGPUs(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 5, M: 100, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	parts.Layouts[0].Store(g)
	ps, err := pattern.ByName("gmatch:P7")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: true, Roomy: true})
	if err != nil {
		t.Fatal(err)
	}
	check.CompileCheck(t, cuda.Source{Name: "parts", Text: (&program{code: code, lookup: membership.Search}).text()})
}

// TestConditionsCompileForGPUs compiles what conditions and data edges need.
func TestConditionsCompileForGPUs(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 5, M: 100, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse(`MATCH (a)-[e]-(b)-[f]-(c) WHERE (id(a) + 0.5) % 2 < id(c) * id(b) / 3 AND e <> f AND NOT EXISTS { (a)--(z)--(c) }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: true, Roomy: true})
	if err != nil {
		t.Fatal(err)
	}
	check.CompileCheck(t, cuda.Source{Name: "conditions", Text: kircuda.Text(code.Program) + nestText})
}

// TestSparseCompilesForGPUs compiles loop nests over sparse lists, by places of these, and with all ways to look neighbours up.
func TestSparseCompilesForGPUs(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 5, M: 100, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	parts.Sparse.Store(g)
	ps, err := pattern.ByName("gmatch:P7")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []membership.Lookup{membership.Search, membership.Hash, membership.Bits} {
		code, err := lower.Plan(p, lower.Options{View: lower.Sets, Counting: true, Roomy: true, Lookup: how != membership.Search, Sparse: lower.AsStored})
		if err != nil {
			t.Fatal(err)
		}
		text := (&program{code: code, lookup: how}).text()
		check.CompileCheck(t, cuda.Source{Name: "sparse", Text: text, Options: []string{"-DARCS=64", "-DARCS_SPARSE"}})
	}
}
