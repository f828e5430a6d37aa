package stream

import (
	"fmt"

	"github.com/weftgraph/weft/internal/graph/dynamic"
)

// Apply makes an update of g. The result says whether it changed the graph. The error is about an id that is not of the graph's
// kind, about a graph that is full, or about properties, and then the graph is as it was.
func Apply(g *dynamic.Graph, u *Update) (dynamic.Result, error) {
	if len(u.Properties) > 0 {
		return 0, fmt.Errorf("a changing graph does not keep properties, as of the update of vertex %s", u.U)
	}
	switch u.Op {
	case AddEdge:
		return g.AddEdge(u.U, u.V, g.EdgeLabel(u.Label))
	case RemoveEdge:
		label, ok := g.LookupEdgeLabel(u.Label)
		if !ok { // no edge has it
			label = g.EdgeLabel(u.Label)
		}
		return g.RemoveEdge(u.U, u.V, label)
	case AddVertex:
		return g.AddVertex(u.U, g.Class(u.Labels...))
	case RemoveVertex:
		return g.RemoveVertex(u.U)
	case SetLabels:
		return g.Relabel(u.U, g.Class(u.Labels...))
	}
	return 0, fmt.Errorf("an update %s without properties", u.Op)
}

// Outcomes counts what updates did.
type Outcomes struct {
	Applied, Duplicates, Absent, SelfLoops uint64
}

// Add counts one result.
func (o *Outcomes) Add(r dynamic.Result) {
	switch r {
	case dynamic.Applied:
		o.Applied++
	case dynamic.Duplicate:
		o.Duplicates++
	case dynamic.Absent:
		o.Absent++
	case dynamic.SelfLoop:
		o.SelfLoops++
	}
}
