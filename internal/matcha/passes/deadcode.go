package passes

import (
	"slices"

	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Dead drops nodes without a visible effect: logic with a known side, conditions that always
// hold, counters that nothing reads, and nodes that only served those. Nodes that nothing needs
// are not part of a graph in the first place.
func Dead(p *asg.Program) {
	known(p)
	for _, n := range nodes(p) {
		if n.Cond != nil && len(n.Cond.Steps) == 0 && n.Cond.Result.Op == asg.Const && n.Cond.Result.Words[0] != 0 {
			n.Cond = nil
		}
	}
	for drop(p) {
	}
}

// known replaces logic with a constant side.
func known(p *asg.Program) {
	by := map[*asg.Node]*asg.Node{}
	now := func(n *asg.Node) *asg.Node {
		for by[n] != nil {
			n = by[n]
		}
		return n
	}
	for _, n := range nodes(p) {
		if n.Op != asg.And && n.Op != asg.Or {
			continue
		}
		l, r := now(n.Args[0]), now(n.Args[1])
		neutral := n.Op == asg.And // true and x is x
		switch {
		case l.Op == asg.Const && (l.Words[0] != 0) == neutral:
			by[n] = r
		case l.Op == asg.Const:
			by[n] = l
		case r.Op == asg.Const && (r.Words[0] != 0) == neutral:
			by[n] = l
		}
	}
	replace(p, by)
}

// drop removes steps that nobody can see, and reports whether there were some.
func drop(p *asg.Program) (some bool) {
	all := nodes(p)
	count := uses(p)
	for _, n := range all {
		if n.Op == asg.Apply && n.Func.Result != nil && count[n] == 0 {
			// It runs for its effects: nothing reads its list.
			n.Type, n.Func.Result = types.TVoid, nil
			some = true
		}
	}
	count = uses(p)
	read := map[*asg.Node]bool{} // counters of which something is read
	for _, n := range all {
		if n.Op == asg.CounterGet || n.Op == asg.CounterAdd && count[n] > 0 {
			read[n.Args[0]] = true
		}
	}
	unseen := func(s *asg.Node) bool {
		switch s.Op {
		case asg.NewCounter:
			return count[s] == 0
		case asg.CounterReset:
			return !read[s.Args[0]]
		case asg.CounterAdd:
			return !read[s.Args[0]] && count[s] == 0 && safeKey(s)
		case asg.CounterGet:
			return count[s] == 0 && s.Args[0].Type.Hashed
		case asg.Apply, asg.ApplySum:
			return count[s] == 0 && len(s.Args) == 1 && len(s.Func.Steps) == 0 && (s.Cond == nil || len(s.Cond.Steps) == 0)
		}
		return false
	}
	clean := func(f *asg.Func) {
		before := len(f.Steps)
		f.Steps = slices.DeleteFunc(f.Steps, unseen)
		some = some || len(f.Steps) < before
	}
	clean(p.Main)
	for _, n := range all {
		for _, f := range inner(n) {
			clean(f)
		}
	}
	return some
}

// safeKey reports whether an addition to a counter that nobody reads cannot fail:
// its key is a vertex of the graph whose vertices the counter has a place for.
func safeKey(add *asg.Node) bool {
	c, key := add.Args[0], add.Args[1].Type
	return !c.Type.Hashed && key.Vertex != "" && types.Equal(c.Type.Max, types.Plus(key.Max, types.Exactly(1)))
}
