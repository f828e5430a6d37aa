package lower_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestGlobalsAreCounted: the text says how many adjacencies and bitmaps the program has, from
// which device code finds their places.
func TestGlobalsAreCounted(t *testing.T) {
	s := &nodiff.Spec{N: 4, Edges: []nodiff.SpecEdge{{U: 0, V: 1}, {U: 1, V: 2}, {U: 0, V: 2}, {U: 2, V: 3}}}
	for v := range s.N {
		x := int64(v * 3 % 4)
		s.X = append(s.X, &x)
	}
	p := &pattern.Pattern{Vertices: make([]pattern.Vertex, 2), Edges: []pattern.Edge{{From: 0, To: 1, Min: 1, Max: 1}}}
	for v := range 2 {
		p.Where = append(p.Where, pattern.Binary{
			Op: pattern.OpNe, X: pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: v}, Key: "x"}, Y: pattern.Lit{Value: int64(v + 1)},
		})
	}
	pl, err := nest(s.Build(), p, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	code, err := lower.Plan(pl, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []*lower.Code{code, lower.CandidateGraph(pl, lower.KeptOffsets)} {
		got, want := map[string]int{}, map[string]int{"W_ADJS": 0, "W_BITS": 0}
		for _, g := range code.Program.Globals {
			switch g.Kind {
			case kir.Adj:
				want["W_ADJS"]++
			case kir.Bits:
				want["W_BITS"]++
			}
		}
		for _, d := range code.Program.Defines {
			got[d.Name] = int(d.Value)
		}
		if want["W_BITS"] < 2 {
			t.Errorf("%s has %d bitmaps", code.Program.Name, want["W_BITS"])
		}
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s: %s is %d, want %d", code.Program.Name, name, got[name], n)
			}
		}
	}
}
