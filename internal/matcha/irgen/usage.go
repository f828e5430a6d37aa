package irgen

import "github.com/weftgraph/weft/internal/matcha/asg"

// usage is the set of uses of a list.
type usage struct {
	reads   int  // how often it is read
	deeper  bool // in a function inside of that where it is made, which runs for items
	indexed bool // its items are told by their numbers
	ranges  int  // reads of a label that are comparisons with the range of a known one
}

// findUses notes the uses of the program's lists.
func (l *lowerer) findUses() {
	l.uses = map[*asg.Node]usage{}
	asg.Walk(l.p, func(n *asg.Node) {
		for _, a := range n.Args {
			u := l.uses[a]
			u.reads++
			if of, _, ok := l.labelCompared(n); ok && of == a {
				u.ranges++
			}
			u.deeper = u.deeper || n.Home != a.Home
			u.indexed = u.indexed || len(n.Args) > 1 && n.Func != nil || len(n.Args) > 1 && n.Op == asg.ApplySize
			l.uses[a] = u
		}
	})
}

// maxStored is the most words that are stored without need.
const maxStored = 1 << 26

// stored makes a list a stored one where that is needed, or worth it: where it
// would be computed again and again.
func (l *lowerer) stored(n *asg.Node, v *value) *value {
	u := l.uses[n]
	needed := u.indexed && !v.indexed()
	worth := v.each != nil && (u.deeper || u.reads > 1 && n.Home != l.p.Main)
	switch n.Op {
	case asg.Apply, asg.Intersect, asg.Diff, asg.Limit:
		if worth && n.Type.Max != nil {
			m := l.in.Most(n.Type.Max)
			worth = m < maxStored && m*int64(n.Type.Elem.Words()) < maxStored
		}
	default:
		worth = false
	}
	if !needed && !worth {
		return v
	}
	out := l.store(n, v)
	out.code = v.code
	return out
}
