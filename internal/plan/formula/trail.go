package formula

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// A trail may return to a vertex, and may not take an edge twice. If two vertices have at most
// one data edge between them, two pattern edges take the same data edge only if their ends
// coincide. So the trails of a pattern are a sum over the ways to let vertices coincide such
// that no two of its edges become one. The terms are the embeddings under iso of the resulting
// patterns. Every trail is exactly one of these, with the vertices that it visits twice merged.
// Set sizes and formulas count them, and not one by one.
//
// In a directed graph an edge of either direction may take two data edges, u to v and v to u,
// and each makes a separate trail. The trails are then the sum over the directions that such
// edges take.

// trail is a pattern whose trails are counted in a graph.
type trail struct {
	g *graph.Graph
	p *pattern.Pattern
	n int
}

const (
	// maxTrailWays bounds the patterns that the sum for trails goes over: planning
	// takes some 10 µs for each, most of which are isomorphic to others.
	maxTrailWays = 1 << 16
)

// TrailsOK says why the trails of p have no formula in g, or nil.
func TrailsOK(g *graph.Graph, p *pattern.Pattern) error {
	b := &trail{g, p, len(p.Vertices)}
	switch {
	case g.Edges != nil:
		return fmt.Errorf("the graph has a table of edges, so that two may join the same vertices")
	case len(p.Vertices) > maxDecomposed:
		return fmt.Errorf("formulas are for patterns of at most %d vertices", maxDecomposed)
	case len(p.Where) > 0 || p.Order != nil:
		return fmt.Errorf("predicates have no formula under trail")
	case !p.Connected():
		return fmt.Errorf("the pattern is not connected")
	}
	for i := range b.p.Edges {
		e := &b.p.Edges[i]
		if e.Negated || e.Label != nil || len(e.Where) > 0 {
			return fmt.Errorf("edges with labels, predicates or NOT have no formula under trail")
		}
	}
	if n := b.ways(); n > maxTrailWays {
		return fmt.Errorf("there are %d ways to let vertices coincide and to direct edges: formulas are for at most %d", n, maxTrailWays)
	}
	return nil
}

// eithers are the edges that may take a data edge in either direction, as one of two.
func (b *trail) eithers() (edges []int) {
	for i := range b.p.Edges {
		if b.g.Directed && b.p.Edges[i].Dir == pattern.Either {
			edges = append(edges, i)
		}
	}
	return edges
}

// TrailWays is how many patterns the sum for the trails of p goes over.
func TrailWays(g *graph.Graph, p *pattern.Pattern) int { return (&trail{g, p, len(p.Vertices)}).ways() }

func (b *trail) ways() int {
	// row[0] becomes the next Bell number.
	row := []int{1}
	for range b.n {
		next := []int{row[len(row)-1]}
		for _, x := range row {
			next = append(next, next[len(next)-1]+x)
		}
		row = next
	}
	return row[0] << min(len(b.eithers()), 32)
}

// Trails is the number of trails of p as a sum over which vertices coincide.
func (d *Decomposer) Trails(p *pattern.Pattern) (*plan.Formula, error) {
	if err := TrailsOK(d.g, p); err != nil {
		return nil, plan.Errorf("no formula: %v", err)
	}
	b := &trail{d.g, p, len(p.Vertices)}
	d.o.Estimates = false
	var t terms
	ways := 0
	eithers := b.eithers()
	at := make([]int, b.n) // the block of each vertex
	var place func(v, blocks int) error
	place = func(v, blocks int) error {
		if v == b.n {
			for turned := range 1 << len(eithers) {
				q := b.quotient(at, blocks, eithers, turned)
				if q == nil {
					continue
				}
				ways++
				of := d.whole
				if Decomposable(q) == nil {
					of = d.Formula
				}
				f, err := of(q)
				if err != nil {
					return err
				}
				t.scaled(f, 1)
			}
			return nil
		}
		for at[v] = 0; at[v] <= blocks; at[v]++ {
			if err := place(v+1, max(blocks, at[v]+1)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := place(0, 0); err != nil {
		return nil, err
	}
	also := ""
	if len(eithers) > 0 {
		also = " and to direct edges"
	}
	return d.formula(&t, fmt.Sprintf("no two edges of a simple graph coincide unless their ends do: %d ways to let vertices do so%s", ways, also)), nil
}

// quotient is the pattern with each vertex v at at[v], under iso. The edges of eithers are
// directed as they are written, or the other way if their bit in turned is set. It is nil if an
// edge becomes a loop, or two edges become one.
func (b *trail) quotient(at []int, blocks int, eithers []int, turned int) *pattern.Pattern {
	q := &pattern.Pattern{Vertices: make([]pattern.Vertex, blocks)}
	for v, i := range at {
		w := &q.Vertices[i]
		switch l := b.p.Vertices[v].Label; {
		case w.Label == nil:
			w.Label = l
		case l != nil && l.String() != w.Label.String():
			w.Label = &pattern.Label{Op: pattern.LabelAnd, X: w.Label, Y: l}
		}
	}
	seen := map[[2]int]bool{}
	for i := range b.p.Edges {
		e := pattern.Edge{From: at[b.p.Edges[i].From], To: at[b.p.Edges[i].To], Dir: pattern.Forward, Min: 1, Max: 1}
		if k := slices.Index(eithers, i); k >= 0 && turned>>k&1 != 0 {
			e.From, e.To = e.To, e.From
		}
		if !b.g.Directed {
			e.From, e.To, e.Dir = min(e.From, e.To), max(e.From, e.To), pattern.Either
		}
		k := [2]int{e.From, e.To}
		if e.From == e.To || seen[k] {
			return nil
		}
		seen[k] = true
		q.Edges = append(q.Edges, e)
	}
	return q
}
