package passes

import "github.com/weftgraph/weft/internal/matcha/asg"

// SliceNeighbor is neighbor+apply with boundary conditions: the items that a
// bound or a label leaves are a slice of the neighbour list, which is no new
// list. Lists of vertices, slices and ranges are cut alike.
func SliceNeighbor(p *asg.Program) {
	bounded(p, func(list *asg.Node) bool {
		switch list.Op {
		case asg.Neighbor, asg.Labelled, asg.Vertices, asg.Matching, asg.Range, asg.Slice:
			return true
		}
		return false
	}, func(list *asg.Node, cut func(*asg.Node) *asg.Node) *asg.Node { return cut(list) })
}
