package nodiff

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Laws checks laws of counts on larger graphs, without the oracle. A count stays when the
// graph's vertices are renamed, or the pattern's are permuted. The count in two graphs side by
// side is the sum of the counts.
func Laws(t *testing.T, c Config) {
	c = c.withDefaults()
	rapid.Check(t, func(t *rapid.T) {
		g := Graphs(3*c.MaxVertices).Draw(t, "graph")
		x := plant(t, g, Patterns(g, c.MaxPattern).Filter(plain).Draw(t, "pattern"))
		s, p := x.graph, x.pattern
		want := c.count(t, s, p)
		if want.Sign() == 0 {
			t.Fatalf("%s\n%s\n%s", noMatch, pattern.Format(p), s)
		}
		if got := c.count(t, Relabel(s, permutation(t, s.N)), p); got.Cmp(want) != 0 {
			t.Fatalf("%v embeddings, %v after renaming the graph's vertices\n%s\n%s", want, got, pattern.Format(p), s)
		}
		q := Permute(p, permutation(t, len(p.Vertices)))
		if got := c.count(t, s, q); got.Cmp(want) != 0 {
			t.Fatalf("%v embeddings, %v after permuting the pattern to %s\n%s\n%s", want, got, pattern.Format(q), pattern.Format(p), s)
		}
		if !p.Connected() { // a match was planted by making an edge an absent one
			return
		}
		if got := c.count(t, Beside(s, s), p); got.Cmp(new(big.Int).Lsh(want, 1)) != 0 {
			t.Fatalf("%v embeddings, %v in the graph and a copy of it\n%s\n%s", want, got, pattern.Format(p), s)
		}
	})
}

// plain patterns are connected and do not mention ids.
func plain(p *pattern.Pattern) bool {
	ok := p.Connected()
	for _, w := range p.Where {
		pattern.Walk(w, func(x pattern.Expr) bool {
			switch x.(type) {
			case pattern.ID, pattern.Exists:
				ok = false
			}
			return ok
		})
	}
	return ok
}

func permutation(t *rapid.T, n int) []int {
	id := make([]int, n)
	for i := range id {
		id[i] = i
	}
	return rapid.Permutation(id).Draw(t, "permutation")
}

// count is the number of embeddings by the plan's own choice.
func (c Config) count(t *rapid.T, s *Spec, p *pattern.Pattern) *big.Int {
	n, err := Count(c, s.Build(), p)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, pattern.Format(p), s)
	}
	return n
}

// Count plans and counts the embeddings of p.
func Count(c Config, g *graph.Graph, p *pattern.Pattern) (*big.Int, error) {
	pl, err := c.Compile(g, p, plan.Options{Root: plan.NoRoot, AllowProduct: true})
	if err != nil {
		return nil, err
	}
	r, err := engine.Once(context.Background(), c.Engine, g, pl, engine.Options{}, engine.Goal{})
	if err != nil {
		return nil, err
	}
	n := r.Matches.Big()
	if pl.Restricted {
		n.Mul(n, pl.Aut)
	}
	return n, nil
}

// Relabel returns s with vertex i called to[i].
func Relabel(s *Spec, to []int) *Spec {
	out := *s
	out.Edges = nil
	for _, e := range s.Edges {
		e.U, e.V = to[e.U], to[e.V]
		out.Edges = append(out.Edges, e)
	}
	if s.Labels != nil {
		out.Labels = make([][]string, s.N)
	}
	if s.X != nil {
		out.X = make([]*int64, s.N)
	}
	for i, j := range to {
		if s.Labels != nil {
			out.Labels[j] = s.Labels[i]
		}
		if s.X != nil {
			out.X[j] = s.X[i]
		}
	}
	return &out
}

// Beside returns a and b, which have the same columns, in one graph without an
// edge between them.
func Beside(a, b *Spec) *Spec {
	out := *a
	out.N = a.N + b.N
	out.Labels = append(out.Labels[:len(out.Labels):len(out.Labels)], b.Labels...)
	out.X = append(out.X[:len(out.X):len(out.X)], b.X...)
	out.Edges = append([]SpecEdge(nil), a.Edges...)
	for _, e := range b.Edges {
		e.U, e.V = e.U+a.N, e.V+a.N
		out.Edges = append(out.Edges, e)
	}
	return &out
}

// Permute returns p with vertex i at place to[i].
func Permute(p *pattern.Pattern, to []int) *pattern.Pattern {
	q := *p
	q.Vertices = make([]pattern.Vertex, len(p.Vertices))
	for i, j := range to {
		q.Vertices[j] = p.Vertices[i]
	}
	move := func(r pattern.Ref) pattern.Ref {
		if r.Kind == pattern.VertexRef {
			r.Index = to[r.Index]
		}
		return r
	}
	q.Edges = nil
	for _, e := range p.Edges {
		e.From, e.To = to[e.From], to[e.To]
		q.Edges = append(q.Edges, e)
	}
	q.Where = nil
	for _, w := range p.Where {
		q.Where = append(q.Where, pattern.MapRefs(w, move))
	}
	return &q
}
