package passes

import "github.com/weftgraph/weft/internal/matcha/asg"

// SliceNeighbor is neighbor+apply with boundary conditions. The items within a bound or with a
// label are a slice of the neighbour list, which is not a new list. Lists of vertices, slices
// and ranges are cut in the same way.
func SliceNeighbor(p *asg.Program) {
	bounded(p, func(list *asg.Node) bool {
		switch list.Op {
		case asg.Neighbor, asg.Labelled, asg.Vertices, asg.Matching, asg.Range, asg.Slice:
			return true
		}
		return false
	}, func(list *asg.Node, cut func(*asg.Node) *asg.Node) *asg.Node { return cut(list) })
}
