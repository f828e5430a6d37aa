package interp

import (
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// bytesOf is the most bytes that the interpreter has for a room. It makes lists as they grow, graphs with the tables
// that find a vertex, and tables for the sets that it looks items up in.
func bytesOf(r data.Room) float64 {
	items := float64(r.Items)
	bytes := float64(r.Bytes) * grows
	switch r.Node.Type.Kind {
	case types.Graph:
		bytes = items * (6*8*grows + 2*entry) // edges, sorted and in columns; rows and labels of vertices
	case types.Counter:
		bytes = items * (8 + 8*grows/8)
		if r.Node.Type.Hashed {
			bytes = items * entry
		}
	}
	return bytes
}

// besides is the most bytes of what is no room: tables of the items that a list is compared with, and the items that
// are counted without being kept.
func besides(p *asg.Program, in *data.Set) (bytes float64) {
	asg.Walk(p, func(n *asg.Node) {
		switch n.Op {
		case asg.Intersect, asg.Diff, asg.IntersectSize, asg.DiffSize:
		default:
			return
		}
		if l := n.Args[1].Type; !l.Ascending {
			bytes += entry * float64(in.Most(l.Max))
		}
		if n.Type.Kind != types.List {
			bytes += 8 * grows * float64(in.Most(n.Args[0].Type.Max))
		}
	})
	return bytes
}

// grows is the share of memory that an array has which grows by an item at a time.
const grows = 2.25

// entry is the bytes of an entry of a table, while the table grows.
const entry = 64
