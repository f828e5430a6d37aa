package stream

import "github.com/weftgraph/weft/internal/graph/dynamic"

// Op is a kind of update.
type Op uint8

// Kinds of updates.
const (
	AddEdge         Op = iota // from U to V, with Label, Time and Properties
	RemoveEdge                // from U to V, with Label, and with Time on a graph that keeps times
	AddVertex                 // U, with Labels and Properties
	RemoveVertex              // U and its edges
	SetLabels                 // U has exactly Labels
	SetProperty               // the property of Properties of the vertex U; its others stay
	SetEdgeProperty           // that of the edge from U to V with Label, and with Time on a graph that keeps times
)

// String returns the sign of the operation, as updates have it.
func (op Op) String() string {
	return [...]string{"+", "-", "+v", "-v", "=v", "=v", "="}[op]
}

// OfEdge reports whether the operation is about an edge.
func (op Op) OfEdge() bool { return op == AddEdge || op == RemoveEdge || op == SetEdgeProperty }

// Update is one update of a graph. Fields that its operation does not have are zero.
type Update struct {
	Op   Op
	U, V dynamic.ID
	// Label is that of an edge. "" means none.
	Label string
	// Labels are those of a vertex.
	Labels     []string
	Properties []Property
	// Time is in the unit of the graph's times. It is meaningful if HasTime is set.
	Time    int64
	HasTime bool
}

// reset makes u an update without content, which keeps the room of its slices.
func (u *Update) reset() {
	*u = Update{Labels: u.Labels[:0], Properties: u.Properties[:0]}
}

// Property is a property with its value.
type Property struct {
	Name  string
	Value dynamic.Value
}
