package graph

import (
	"fmt"

	"github.com/weftgraph/weft/internal/memory"
)

// Bytes that building takes at the least: of a vertex its offset, the user's id, degree, order and place, and of
// an edge its pair. Measured are 40 to 46 and 15.
const (
	bytesVertex = 32
	bytesEdge   = 8
)

// Room returns a *memory.Error if a graph of that many vertices and edges does not fit the budget (0 means no
// budget) or the system's limits. The error's text begins with promise, such as "the header promises".
func Room(promise string, vertices, edges uint64, budget int64) error {
	need := min(vertices, 1<<56)*bytesVertex + min(edges, 1<<56)*bytesEdge
	return memory.Check(fmt.Sprintf("%s %d vertices and %d edges, which", promise, vertices, edges), need, budget)
}
