package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/matcha/asg"
)

// Share computes common sub-expressions once: of two nodes that do the same with
// the same, the inner one becomes the outer one. Nodes with functions, and steps,
// are left as they are.
func Share(p *asg.Program) {
	all := nodes(p)
	// Nodes further out come first; an argument is never further in.
	slices.SortStableFunc(all, func(a, b *asg.Node) int { return a.Home.Depth() - b.Home.Depth() })
	known := map[string][]*asg.Node{}
	by := map[*asg.Node]*asg.Node{}
	for _, n := range all {
		if n.Op.Step() || len(inner(n)) > 0 {
			continue
		}
		if n.Op == asg.Const {
			continue // has no place and costs nothing
		}
		key := identity(n, by)
		i := slices.IndexFunc(known[key], func(o *asg.Node) bool { return n.Home.Within(o.Home) })
		if i < 0 {
			known[key] = append(known[key], n)
			continue
		}
		by[n] = known[key][i]
		if by[n].Given == "" {
			by[n].Given = n.Given
		}
	}
	replace(p, by)
}

// identity is equal for nodes that compute the same.
func identity(n *asg.Node, by map[*asg.Node]*asg.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %d %s", n.Op, n.Name, n.At, n.Type)
	for _, a := range n.Args {
		if other := by[a]; other != nil {
			a = other
		}
		if a.Op == asg.Const {
			fmt.Fprintf(&b, " =%d:%d", a.Type.Kind, a.Words[0])
		} else {
			fmt.Fprintf(&b, " %d", a.ID)
		}
	}
	return b.String()
}
