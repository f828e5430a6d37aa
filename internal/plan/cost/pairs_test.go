package cost_test

import (
	"math"
	"testing"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestPairs: the estimate of joined pairs is exact in a ring whose vertices all have the same
// neighbourhood. It counts neighbours of the asked label only, and of them the share that
// passes the condition.
func TestPairs(t *testing.T) {
	s := &nodiff.Spec{N: 40}
	for v := range s.N {
		x, label := int64(1), "B"
		switch v % 4 {
		case 0:
			label = "A"
		case 3:
			x = 0
		}
		s.X, s.Labels = append(s.X, &x), append(s.Labels, []string{label})
		for d := 1; d <= 4; d++ {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + d) % s.N})
		}
	}
	name := func(name string) pattern.Vertex {
		return pattern.Vertex{Label: &pattern.Label{Op: pattern.LabelName, Name: name}}
	}
	passes := pattern.Binary{
		Op: pattern.OpEq, X: pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef, Index: 1}, Key: "x"}, Y: pattern.Lit{Value: int64(1)},
	}
	for _, c := range []struct {
		where []pattern.Expr
		want  float64
	}{{nil, 60}, {[]pattern.Expr{passes}, 40}} {
		p := &pattern.Pattern{Vertices: []pattern.Vertex{name("A"), name("B")}, Edges: []pattern.Edge{{From: 0, To: 1, Min: 1, Max: 1}}, Where: c.where}
		b, err := bind.Bind(s.Build(), p, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		if got := cost.NewStatistics(b).Card(3); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v pairs, want %v", pattern.Format(p), got, c.want)
		}
	}
}

// TestApart: a pattern of two parts has as many embeddings as one part times those of the
// other. A triangle is one cycle, and the square next to it is longer.
func TestApart(t *testing.T) {
	s := &nodiff.Spec{N: 30}
	for v := range s.N {
		for d := 1; d <= 3; d++ {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + d) % s.N})
		}
	}
	p := &pattern.Pattern{Vertices: make([]pattern.Vertex, 7)}
	for _, e := range [][2]int{{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {5, 6}, {3, 6}} {
		p.Edges = append(p.Edges, pattern.Edge{From: e[0], To: e[1], Min: 1, Max: 1})
	}
	b, err := bind.Bind(s.Build(), p, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	card := cost.NewStatistics(b).Card
	const triangle, square = 0b111, 0b1111000
	if got, want := card(triangle|square), card(triangle)*card(square); math.Abs(got-want) > 1e-9*want {
		t.Errorf("%v embeddings of a triangle and a square, want %v · %v = %v", got, card(triangle), card(square), want)
	}
}
