package stream

import (
	"strconv"

	"github.com/weftgraph/weft/internal/graph/dynamic"
)

// Op is a kind of update.
type Op uint8

// Kinds of updates.
const (
	AddEdge           Op = iota // from U to V, with Label, Time and Properties
	RemoveEdge                  // from U to V, with Label, and with Time on a graph that keeps times
	AddVertex                   // U, with Labels and Properties
	RemoveVertex                // U and its edges
	SetLabels                   // U has exactly Labels
	SetProperties               // of the vertex U: those of Properties; its others stay
	SetEdgeProperties           // of the edge from U to V with Label, and with Time on a graph that keeps times
)

// String returns the sign of the operation, as updates have it.
func (op Op) String() string {
	return [...]string{"+", "-", "+v", "-v", "=v", "=v", "="}[op]
}

// OfEdge reports whether the operation is about an edge.
func (op Op) OfEdge() bool { return op == AddEdge || op == RemoveEdge || op == SetEdgeProperties }

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
	Value Value
}

// Value is the value of a property.
type Value struct {
	Kind  ValueKind
	Int   int64   // of an Int; 1 or 0 of a Bool
	Float float64 // of a Float
	Text  string  // of a Text
}

// ValueKind is the type of a value.
type ValueKind uint8

// Types of values.
const (
	Null ValueKind = iota
	Int
	Float
	Bool
	Text
)

// String returns the value as JSON has it, except that a text is as it is.
func (v Value) String() string {
	switch v.Kind {
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Float:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case Bool:
		return strconv.FormatBool(v.Int != 0)
	case Text:
		return v.Text
	}
	return "null"
}
