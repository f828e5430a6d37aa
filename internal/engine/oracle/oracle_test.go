package oracle

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// kite is a clique of four with a tail: 4 triangles.
var kite = [][2]uint32{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}

func named(t *testing.T, name string) *pattern.Pattern {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return ps[0]
}

func count(t *testing.T, g *graph.Graph, p *pattern.Pattern) (n int) {
	t.Helper()
	if err := Embeddings(context.Background(), g, p, func(Match) bool { n++; return true }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSemantics(t *testing.T) {
	g := graph.FromEdges(5, kite, false)
	for _, c := range []struct {
		name    string
		mode    pattern.Mode
		induced bool
		want    int
	}{
		{"triangle", pattern.Iso, false, 24},
		{"triangle", pattern.Hom, false, 24},
		{"triangle", pattern.Trail, false, 24},
		{"wedge", pattern.Iso, false, 2 * (3*3 + 6)},
		{"wedge", pattern.Hom, false, 2*(3*3+6) + 14},
		{"wedge", pattern.Iso, true, 6},
		{"cycle(4)", pattern.Iso, false, 24},
		{"cycle(4)", pattern.Iso, true, 0},
		// Closed walks of four steps: 24 cycles, 14 that go one edge to and fro
		// twice, 30 + 30 that see one vertex twice in the middle.
		{"cycle(4)", pattern.Hom, false, 24 + 14 + 60},
		{"cycle(4)", pattern.Trail, false, 24},
	} {
		p := named(t, c.name)
		p.Mode, p.Induced = c.mode, c.induced
		if got := count(t, g, p); got != c.want {
			t.Errorf("%s under %v, induced=%v: %d, want %d", c.name, c.mode, c.induced, got, c.want)
		}
	}
}

func TestDirected(t *testing.T) {
	g := graph.FromEdges(3, [][2]uint32{{0, 1}, {1, 2}, {2, 0}, {1, 0}}, true)
	cycle := named(t, "cycle(3)")
	if got := count(t, g, cycle); got != 6 {
		t.Errorf("undirected pattern: %d, want 6: -- means either way, once", got)
	}
	for i := range cycle.Edges {
		cycle.Edges[i].Dir = pattern.Forward
	}
	if got := count(t, g, cycle); got != 3 {
		t.Errorf("directed cycle: %d, want 3", got)
	}
	cycle.Induced = true
	if got := count(t, g, cycle); got != 0 {
		t.Errorf("induced directed cycle: %d, want 0 because of the edge back", got)
	}
}

func TestThreeValues(t *testing.T) {
	s := newSearch(context.Background(), newWorld(context.Background(), graph.FromEdges(2, [][2]uint32{{0, 1}}, false)), named(t, "path(2)"), nil)
	null, yes, no := pattern.Lit{}, pattern.Lit{Value: true}, pattern.Lit{Value: false}
	num := func(x any) pattern.Expr { return pattern.Lit{Value: x} }
	for i, c := range []struct {
		x    pattern.Expr
		want any
	}{
		{pattern.Binary{Op: pattern.OpAnd, X: null, Y: no}, false},
		{pattern.Binary{Op: pattern.OpAnd, X: null, Y: yes}, nil},
		{pattern.Binary{Op: pattern.OpOr, X: null, Y: yes}, true},
		{pattern.Unary{Op: pattern.OpNot, X: null}, nil},
		{pattern.Binary{Op: pattern.OpEq, X: null, Y: null}, nil},
		{pattern.Unary{Op: pattern.OpIsNull, X: null}, true},
		{pattern.Binary{Op: pattern.OpEq, X: num(int64(1)), Y: num(1.0)}, true},
		{pattern.Binary{Op: pattern.OpEq, X: num(int64(1)), Y: num("1")}, false},
		{pattern.Binary{Op: pattern.OpLt, X: num(int64(1)), Y: num("1")}, nil},
		{pattern.Binary{Op: pattern.OpDiv, X: num(int64(1)), Y: num(int64(0))}, nil},
		{pattern.Binary{Op: pattern.OpIn, X: num(int64(1)), Y: pattern.List{Items: []pattern.Expr{null, num(int64(1))}}}, true},
		{pattern.Binary{Op: pattern.OpIn, X: num(int64(2)), Y: pattern.List{Items: []pattern.Expr{null, num(int64(1))}}}, nil},
	} {
		if got := (evaluator{s: s}).value(c.x); got != c.want {
			t.Errorf("case %d: %v, want %v", i, got, c.want)
		}
	}
}

// sink collects rows.
type sink struct{ rows [][]uint32 }

func (s *sink) Emit(_ int, b *engine.Batch) error {
	for i := range b.Rows {
		s.rows = append(s.rows, append([]uint32(nil), b.Vertices[i*b.Width:(i+1)*b.Width]...))
	}
	return nil
}

func TestRestricted(t *testing.T) {
	g := graph.FromEdges(5, kite, false)
	p := named(t, "triangle")
	pl := &plan.Plan{Graph: g, Pattern: p, Order: []int{0, 1, 2}, Restricted: true, Aut: Automorphisms(p)}
	r, err := engine.Once(context.Background(), New(), g, pl, engine.Options{}, engine.Goal{})
	if r.Search <= 0 {
		t.Errorf("the search took %v", r.Search)
	}
	if err != nil || r.Matches != engine.U64(4) || !r.Complete {
		t.Errorf("count: %+v, %v", r, err)
	}
	var s sink
	if r, err = engine.Once(context.Background(), New(), g, pl, engine.Options{}, engine.Goal{Sink: &s}); err != nil || len(s.rows) != 4 || r.Matches != engine.U64(4) {
		t.Errorf("listing: %v, %+v, %v", s.rows, r, err)
	}
	pl.Rooted = true
	per := make([]engine.Uint128, 5)
	if r, err = engine.Once(context.Background(), New(), g, pl, engine.Options{}, engine.Goal{PerRoot: per}); err != nil || r.Matches != engine.U64(12) {
		t.Errorf("rooted: %+v, %v", r, err)
	}
	for v, n := range per {
		want := uint64(3)
		if g.IDs.Int(uint32(v)) == 4 {
			want = 0
		}
		if n != engine.U64(want) {
			t.Errorf("vertex %s is in %v triangles, want %d", g.IDs.String(uint32(v)), n, want)
		}
	}
}
