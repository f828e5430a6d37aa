package lower

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// The flat last level. If one neighbour list of the last walked vertex decides the matches
// below it, a schedule may go over the lists of many candidates end to end instead of one
// candidate at a time. Flat<0> says which list and which tests that are, one lane at a time,
// for a candidate v that is not in the state yet. With a tail they give the size of one set,
// without one the last level's vertices.

// flatLevel is what Flat<0> is made of.
type flatLevel struct {
	at    int // the level that the lists are of
	last  int // the level whose vertices are gone over
	group int // its group in the tail
	node  int // of level last; a SetAnd or SetMinus of at's list, if op is not SetList
	op    plan.SetOp
	reads []int // nodes in the state that have to be complete
}

// flatten finds out whether the plan has a flat last level.
func (x *lowering) flatten() (f flatLevel, ok bool) {
	if x.tail < len(x.p.Levels) {
		if len(x.p.Edges) > 0 {
			return f, false // what is below a vertex counts as often as its edges can be chosen
		}
		return x.flattenTail()
	}
	f.last = len(x.p.Levels) - 1
	f.at = f.last - 1
	if f.node = x.p.Levels[f.last].Set; f.at < 0 || f.node < 0 {
		return f, false
	}
	n := &x.nodes[f.node]
	switch {
	case n.At < f.at:
		f.reads = []int{f.node}
	case n.Op != plan.SetList:
		if !x.streams(f.node, f.at) {
			return f, false
		}
		f.op, f.reads = n.Op, []int{n.Base}
	}
	return f, true
}

// streams reports whether node i combines the list of level at's vertex with a
// set that is made before.
func (x *lowering) streams(i, at int) bool {
	n := &x.nodes[i]
	return n.Op != plan.SetList && n.At == at && n.Of == at && x.nodes[n.Base].At < at
}

// flattenTail is flatten for a tail that is closed: one group's set may have to be
// gone over, the others are slices whose sizes are at hand.
func (x *lowering) flattenTail() (f flatLevel, ok bool) {
	f.at, f.group = x.tail-1, -1
	for _, mask := range x.close.masks {
		if m := x.reduced(mask); m&(m-1) != 0 {
			return f, false
		}
	}
	for r, g := range x.close.groups {
		l := g.Levels[0]
		i := x.p.Levels[l].Set
		n := &x.nodes[i]
		over := len(x.alone(l, kir.C(0))) > 0
		switch {
		case n.At < f.at:
			f.reads = append(f.reads, i)
		case n.Op == plan.SetList:
		case x.streams(i, f.at):
			over = true
			f.op = n.Op
			f.reads = append(f.reads, n.Base)
		default:
			return f, false
		}
		if over {
			if f.group >= 0 {
				return f, false
			}
			f.group, f.last, f.node = r, l, i
		}
	}
	if f.group < 0 {
		f.group, f.last = 0, x.close.groups[0].Levels[0]
		f.node = x.p.Levels[f.last].Set
	}
	return f, true
}

// flatFuncs writes Flat<0>, where there is one.
func (x *lowering) flatFuncs() error {
	f, ok := x.flatten()
	x.out.Sets.Flat = ok
	if !ok {
		return nil
	}
	counting := x.tail < len(x.p.Levels)
	e := x.flatEnv(f)
	all := x.nodeBounds(f.node).and(x.levelBounds(f.last, min(f.last, x.tail)))
	var list kir.Expr
	if f.op == plan.SetList {
		list = x.flatSet(f.last, f, e)
	} else {
		var rest bounds
		list, rest = x.list(x.nodes[f.node].Adj, f.at, all, e.m)
		list = rest.cut(list, e.m)
	}
	v := kir.Expr(nil)
	tests := func(e *env, v kir.Expr) []kir.Expr {
		var out []kir.Expr
		if !counting {
			out = append(x.distinct(f.last, v, e.m), x.levelChecks(f.last, vertices(e.m).with(f.last, v))...)
		}
		return append(out, x.alone(f.last, v)...)
	}
	rests := len(tests(e, kir.C(0))) > 0
	x.owner("Flat", 0, "the last walked level's lists, for many candidates at once: "+x.formula(f.node),
		kir.Define{Name: "at", Value: uint64(f.at)}, kir.Define{Name: "op", Value: uint64(f.op)}, kir.Define{Name: "rests", Value: uint64(b2i(rests))})
	x.flatFunc("over", e, kir.T(kir.Set), list)
	if f.op != plan.SetList {
		base := x.nodes[f.node].Base
		e = x.flatEnv(f)
		x.flatFunc("base", e, kir.T(kir.Set), all.without(x.nodeBounds(base)).cut(e.set(base), e.m))
		e = x.newEnv(false)
		x.member("Flat", 0, &kir.Func{
			Name: "fixed", Params: []*kir.Var{e.s}, Result: kir.T(kir.Set), Body: []kir.Stmt{&kir.Return{X: e.set(base)}},
		})
	}
	if rests {
		e = x.flatEnv(f)
		u := &kir.Var{Name: "x", T: kir.T(kir.U32)}
		v = kir.All(tests(e, kir.R(u))...)
		x.flatFunc("rest", e, kir.T(kir.Bool), v, u)
	}
	e = x.newEnv(false)
	var ready []kir.Expr
	for _, i := range f.reads {
		if x.mayBeLazy(i) {
			ready = append(ready, kir.NotX(e.lazy(i)))
		}
	}
	x.member("Flat", 0, &kir.Func{
		Name: "ready", Params: []*kir.Var{e.s}, Result: kir.T(kir.Bool), Body: []kir.Stmt{&kir.Return{X: kir.All(ready...)}},
	})
	if counting {
		return x.flatCount(f)
	}
	return nil
}

// flatEnv is an env in which a parameter is level at's vertex.
func (x *lowering) flatEnv(f flatLevel) *env {
	e := x.newEnv(false)
	e.own, e.at = &kir.Var{Name: "v", T: kir.T(kir.U32)}, f.at
	return e
}

func (x *lowering) flatFunc(name string, e *env, result kir.Type, value kir.Expr, more ...*kir.Var) {
	x.member("Flat", 0, &kir.Func{
		Name: name, Params: append([]*kir.Var{e.s, e.own}, more...), Result: result, Body: []kir.Stmt{&kir.Return{X: value}},
	})
}

// flatSet is level l's set within its bounds where it is in the state, or a slice
// of a list.
func (x *lowering) flatSet(l int, f flatLevel, e *env) kir.Expr {
	if i := x.p.Levels[l].Set; x.nodes[i].At == f.at {
		list, _ := x.operandsWithin(i, x.levelBounds(l, min(l, x.tail)), e)
		return list
	}
	return x.candidates(l, min(l, x.tail), e)
}

// flatCount writes Flat<0>::count: the tail below v, where n of its vertices
// passed.
func (x *lowering) flatCount(f flatLevel) error {
	e := x.flatEnv(f)
	n := &kir.Var{Name: "n", T: kir.T(kir.U32)}
	t := x.newTail(e)
	t.measure = func(mask uint32) kir.Expr {
		mask = x.reduced(mask)
		r := bits.TrailingZeros32(mask)
		if r == f.group {
			return t.unmatched(mask, kir.R(n))
		}
		return t.unmatched(mask, kir.Fn(kir.Size, x.flatSet(t.sets[r].level, f, e)))
	}
	types := len(x.prog.Types)
	count, err := t.total()
	if err != nil {
		return err
	}
	x.prog.Types = x.prog.Types[:types] // the tail has named it
	x.member("Flat", 0, &kir.Func{
		Name: "count", Params: []*kir.Var{e.s, e.own, n}, Result: count, Body: t.body,
	})
	return nil
}

// reduced drops from an intersection of the tail's sets those that hold all of
// another one of it.
func (x *lowering) reduced(mask uint32) uint32 {
	for r := range x.close.groups {
		if mask>>r&1 == 0 {
			continue
		}
		for q := range x.close.groups {
			if q != r && mask>>q&1 != 0 && x.holds(x.close.groups[r].Levels[0], x.close.groups[q].Levels[0]) {
				mask &^= 1 << r
				break
			}
		}
	}
	return mask
}

// holds reports whether level l's tail set has all the vertices of level k's: k's
// is made of l's by further operations, and l asks for nothing that k does not.
func (x *lowering) holds(l, k int) bool {
	if len(x.alone(l, kir.C(0))) > 0 || x.p.Levels[l].Set < 0 {
		return false
	}
	i := x.p.Levels[k].Set
	for i >= 0 && i != x.p.Levels[l].Set {
		i = x.nodes[i].Base
	}
	if i < 0 || i == x.p.Levels[k].Set {
		return false // equal sets are one group
	}
	of := x.nodeBounds(x.p.Levels[k].Set).and(x.levelBounds(k, x.tail))
	return x.levelBounds(l, x.tail).without(x.nodeBounds(x.p.Levels[l].Set)).without(of).none()
}
