package fine

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// nothing is a sink for a text that is compiled and not run.
type nothing struct{}

func (nothing) Emit(int, *engine.Batch) error { return nil }

// rungs is a small ladder, its vertices labelled A and B in turn.
func rungs() *nodiff.Spec {
	s := &nodiff.Spec{N: 12}
	for v := range s.N {
		s.Labels = append(s.Labels, []string{string(rune('A' + v%2))})
		for _, w := range []int{v + 1, v + 3} {
			if w < s.N {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: w})
			}
		}
	}
	return s
}

// TestCompilesForGPUs compiles the kernels of a few plans, counting with and
// without a tail and listing, for GPUs, without one.
func TestCompilesForGPUs(t *testing.T) {
	long.Only(t, "compiling kernels for GPUs takes seconds")
	t.Parallel()
	for _, c := range []struct {
		pattern        string
		labelled, tail bool
		bits, parts    bool
		sink           engine.Sink
	}{
		{"gmatch:P7", false, false, true, false, nothing{}},
		{"gmatch:P8", true, true, false, false, nil},
		{"gmatch:P4", true, true, false, true, nil},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			t.Parallel()
			ps, err := pattern.ByName(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			s := rungs()
			if c.labelled {
				ps[0].Vertices[0].Label = &pattern.Label{Op: pattern.LabelName, Name: "A"}
			} else {
				s.Labels = nil
			}
			g := s.Build()
			if c.parts {
				parts.Layouts[0].Store(g)
			}
			p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri"})
			if err != nil {
				t.Fatal(err)
			}
			code, err := lowered(p, c.tail, c.bits, lower.AsStored, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := &program{p: p, code: code, bits: c.bits, listing: c.sink != nil, opt: options{prune: !c.labelled && !c.parts}}
			check.CompileCheck(t, cuda.Source{Name: c.pattern, Text: r.text()})
		})
	}
}

// TestIndexCompilesForGPUs is the same for the candidate graph, whose text serves
// all plans with as many adjacencies and bitmaps.
func TestIndexCompilesForGPUs(t *testing.T) {
	long.Only(t, "compiling kernels for GPUs takes seconds")
	t.Parallel()
	ps, err := pattern.ByName("gmatch:P8")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(rungs().Build(), ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
	if err != nil {
		t.Fatal(err)
	}
	r := &program{p: p, indexed: true, code: lower.CandidateGraph(p, lower.AsStored)}
	check.CompileCheck(t, cuda.Source{Name: "index", Text: r.text()})
}

// TestSparseCompilesForGPUs compiles the kernels of a plan over sparse lists, over pruned ones, and of its candidate graph.
func TestSparseCompilesForGPUs(t *testing.T) {
	long.Only(t, "compiling kernels for GPUs takes seconds")
	t.Parallel()
	g := rungs().Build()
	parts.Sparse.Store(g)
	ps, err := pattern.ByName("gmatch:P7")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := lowered(p, true, false, lower.AsStored, nil)
	if err != nil {
		t.Fatal(err)
	}
	pruned := &program{p: p, code: code, opt: options{prune: true}}
	for _, r := range []*program{{p: p, code: code}, pruned, {p: p, code: lower.CandidateGraph(p, lower.AsStored), indexed: true}} {
		if r.listVertices(); (r.vertices != nil) != (r == pruned) {
			t.Fatal("vertices with lists:", r.vertices)
		}
		check.CompileCheck(t, cuda.Source{Name: "sparse", Text: r.text()})
	}
}
