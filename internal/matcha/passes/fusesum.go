package passes

import "github.com/weftgraph/weft/internal/matcha/asg"

// FuseSum is apply+sum: results are added as they are made, and the list between
// is gone. A list of which only the size is asked for is counted in the same way.
// Where func does something, the sum is made in the place of the apply.
func FuseSum(p *asg.Program) {
	count := uses(p)
	for _, n := range nodes(p) {
		if n.Op != asg.Sum && n.Op != asg.Size {
			continue
		}
		a := n.Args[0]
		if a.Op != asg.Apply || count[a] > 1 || a.Home != n.Home {
			continue
		}
		switch {
		case n.Op == asg.Sum:
			n.Op, n.Func, n.Effects = asg.ApplySum, a.Func, a.Effects
		case a.Effects || len(a.Func.Steps) > 0:
			continue // the function must run
		default:
			n.Op = asg.ApplySize
		}
		n.Args, n.Cond = a.Args, a.Cond
		if n.Op == asg.ApplySize && n.Cond == nil && asg.Together(n.Args) {
			n.Args = n.Args[:1] // all have as many
		}
		for i, s := range n.Home.Steps {
			if s == a {
				n.Home.Steps[i] = n
			}
		}
	}
}
