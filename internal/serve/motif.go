package serve

import (
	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/gql"
)

// Motif is the pattern that a result of motifs counts, for clients that draw it.
type Motif struct {
	Name     string   `json:"name"` // that of the result
	Directed bool     `json:"directed"`
	Edges    [][2]int `json:"edges"` // vertices count from 0; a directed edge goes from the first to the second
}

// Shapes returns the motif of each result of Motifs, in the same order.
func (r *Run) Shapes(results []weft.Result) ([]Motif, error) {
	out := make([]Motif, 0, len(results))
	for _, x := range results {
		qs, err := gql.ByName(x.Query)
		if err != nil {
			return nil, err
		}
		m := Motif{Name: x.Query, Directed: x.Graph.Directed && (r.Request.Directions == nil || *r.Request.Directions)}
		for _, e := range qs[0].Pattern.Edges {
			m.Edges = append(m.Edges, [2]int{e.From, e.To})
		}
		out = append(out, m)
	}
	return out, nil
}
