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
