package passes

import (
	"slices"

	"github.com/weftgraph/weft/internal/matcha/asg"
)

// SliceSet is intersect/diff+apply with boundary conditions: the lists are cut
// before they are combined, which is how symmetry breaking becomes cheap. Where
// something else reads the combination it is cut itself.
func SliceSet(p *asg.Program) {
	bounded(p, func(list *asg.Node) bool { return list.Op == asg.Intersect || list.Op == asg.Diff },
		func(list *asg.Node, cut func(*asg.Node) *asg.Node) *asg.Node {
			n := *list
			n.Args = slices.Clone(list.Args)
			for i, a := range n.Args {
				if a.Type.Ascending {
					n.Args[i] = cut(a)
				}
			}
			return p.Add(n)
		})
}
