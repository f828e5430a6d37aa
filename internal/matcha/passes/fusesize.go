package passes

import "github.com/weftgraph/weft/internal/matcha/asg"

// FuseSize is intersect/diff+sum of the thesis: where only the size of a
// combination is asked for, its items are counted and not stored.
func FuseSize(p *asg.Program) {
	count := uses(p)
	for _, n := range nodes(p) {
		if n.Op != asg.Size {
			continue
		}
		l := n.Args[0]
		if count[l] > 1 || l.Home != n.Home {
			continue
		}
		switch l.Op {
		case asg.Intersect:
			n.Op, n.Args = asg.IntersectSize, l.Args
		case asg.Diff:
			n.Op, n.Args = asg.DiffSize, l.Args
		}
	}
}
