package data

import (
	"strconv"

	"github.com/weftgraph/weft/internal/matcha/types"
)

// Append writes a Var, or a component of a Tuple: a vertex of an input graph by
// the user's id.
func (s *Set) Append(b []byte, t *types.Type, x types.Word) []byte {
	switch {
	case t.Vertex != "":
		if g := s.inputs[t.Vertex].Graph; x >= 0 && x < types.Word(g.NumVertices()) {
			return g.IDs.Append(b, uint32(x))
		}
	case t.Kind == types.Float:
		return strconv.AppendFloat(b, x.Float(), 'g', -1, 64)
	case t.Kind == types.Bool && x != 0:
		return append(b, "True"...)
	case t.Kind == types.Bool:
		return append(b, "False"...)
	}
	return strconv.AppendInt(b, int64(x), 10)
}

// TypeName is the type of Value's result: int, float, bool, or string for vertices of a graph
// whose ids are text.
func (s *Set) TypeName(t *types.Type) string {
	switch {
	case t.Vertex != "" && !s.inputs[t.Vertex].Graph.IDs.Numeric():
		return "string"
	case t.Kind == types.Float:
		return "float"
	case t.Kind == types.Bool:
		return "bool"
	}
	return "int"
}

// Value is a Var, or a component of a Tuple, as a value of Go: int64, float64 or bool. A vertex
// of an input graph becomes the user's id, int64 or string.
func (s *Set) Value(t *types.Type, x types.Word) any {
	switch {
	case t.Vertex != "":
		g := s.inputs[t.Vertex].Graph
		if x < 0 || x >= types.Word(g.NumVertices()) {
			return int64(x)
		}
		if g.IDs.Numeric() {
			return g.IDs.Int(uint32(x))
		}
		return g.IDs.String(uint32(x))
	case t.Kind == types.Float:
		return x.Float()
	case t.Kind == types.Bool:
		return x != 0
	}
	return int64(x)
}
