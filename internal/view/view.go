// Package view finds what texts of the pattern language select of a graph: the
// vertices that one vertex of a pattern accepts, and the edges that one edge does.
// Programs in Matcha look at labels and properties through it.
//
// It knows the language and plans. It must not know programs or engines.
package view

import (
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Of is the views of one graph.
type Of struct{ Graph *graph.Graph }

// Relation is the data edges that "(a)-[…]->(b)", with a WHERE perhaps, accepts:
// of each vertex a the ascending list of b. The lists may be the graph's own.
func (o Of) Relation(text string) (*graph.CSR, error) {
	p, err := read(text)
	if err != nil {
		return nil, err
	}
	if len(p.Vertices) != 2 || len(p.Edges) != 1 || p.Edges[0].Negated {
		return nil, fmt.Errorf("%s is no edge between two vertices", text)
	}
	for v := range p.Vertices {
		if p.Vertices[v].Label != nil {
			return nil, fmt.Errorf("%s: only the edge may have labels and conditions", text)
		}
	}
	for _, x := range p.Where {
		for _, r := range pattern.Refs(x) {
			if r.Kind == pattern.VertexRef {
				return nil, fmt.Errorf("%s: only the edge may have labels and conditions", text)
			}
		}
	}
	pl, err := o.compile(p, []int{0, 1})
	if err != nil {
		return nil, err
	}
	if back := pl.Levels[1].Back; pl.Empty == nil && len(back) > 0 {
		return pl.Adjs[back[0].Adj].CSR, nil
	}
	return &graph.CSR{Off: make([]uint64, o.Graph.NumVertices()+1)}, nil
}

// Vertices are those that "(a:Label)", with a WHERE perhaps, accepts, ascending.
func (o Of) Vertices(text string) ([]uint32, error) {
	p, err := read(text)
	if err != nil {
		return nil, err
	}
	if len(p.Vertices) != 1 || len(p.Edges) > 0 {
		return nil, fmt.Errorf("%s is not one vertex", text)
	}
	pl, err := o.compile(p, []int{0})
	if err != nil {
		return nil, err
	}
	lv := &pl.Levels[0]
	ranges := lv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(o.Graph.NumVertices())}}
	}
	out := []uint32{}
	for _, r := range ranges {
		for v := r.First; v < r.End; v++ {
			if lv.Bits == nil || lv.Bits[v/64]>>(v%64)&1 != 0 {
				out = append(out, v)
			}
		}
	}
	return out, nil
}

// read reads the pattern of a query that has nothing else.
func read(text string) (*pattern.Pattern, error) {
	q, err := gql.Parse("MATCH " + text)
	var mistake *gql.Error
	if errors.As(err, &mistake) {
		return nil, fmt.Errorf("%s: %s", text, mistake.Msg)
	}
	if err != nil {
		return nil, err
	}
	return q.Pattern, nil
}

// compile plans a pattern as it is written; what it accepts does not depend on
// the semantics that it would be matched by.
func (o Of) compile(p *pattern.Pattern, order []int) (*plan.Plan, error) {
	return plan.Compile(o.Graph, p, plan.Options{
		Order: "given", Given: order, Root: plan.NoRoot, Embeddings: true, Listing: true, Method: "nest", Quick: true,
	})
}
