package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// node is a node of the set program.
type node struct {
	plan.Set
	slot int // its memory, -1: it is a slice of a list, or is not kept
	// deferred nodes are not made: only the tail wants their size.
	deferred bool
}

// setProgram takes the plan's nodes and gives memory to those that need it. Nodes are
// deferred whose elements nobody reads: those of which the tail alone wants the size alone,
// and those that nothing wants, for levels of a tail group share one.
func (x *lowering) setProgram() {
	for _, s := range x.p.Sets {
		x.nodes = append(x.nodes, node{Set: s, slot: -1})
	}
	walked := x.tail
	if x.summed {
		walked++
	}
	for i, unread := range x.p.Unread(walked, x.close.groups, x.meets) {
		s := &x.nodes[i]
		if s.deferred = unread; !unread && (s.Op != plan.SetList || x.rels[s.Adj] != nil) {
			s.slot = x.slot
			x.slot++
		}
	}
}

// meets reports whether an intersection of tail group r's set with another may be needed.
func (x *lowering) meets(r int) bool {
	return slices.ContainsFunc(x.close.masks, func(m uint32) bool {
		m = x.reduced(m)
		return m>>r&1 != 0 && m&(m-1) != 0
	})
}

// mayBeLazy reports whether node i can be left unfiltered.
func (x *lowering) mayBeLazy(i int) bool { return !x.o.Roomy && x.nodes[i].slot >= 0 }

// operands returns the two sets that node i combines: the base a and the neighbour list b. For a SetList, a is
// the list and b is nil. At least one of the two is within the node's bounds, and for a difference it is a.
// A list in parts is not an operand: then a is the base, within the node's bounds, and b is nil.
func (x *lowering) operands(i int, e *env) (a, b kir.Expr) {
	return x.operandsWithin(i, bounds{}, e)
}

// operandsWithin is operands of node i within further bounds.
func (x *lowering) operandsWithin(i int, further bounds, e *env) (a, b kir.Expr) {
	s := &x.nodes[i]
	bounds := x.nodeBounds(i).and(further)
	if x.rels[s.Adj] != nil {
		return bounds.without(x.nodeBounds(s.Base)).cut(e.set(s.Base), e.m), nil
	}
	list, rest := x.list(s.Adj, s.Of, bounds, e.m)
	if s.Op == plan.SetList {
		return rest.cut(list, e.m), nil
	}
	more := bounds.without(x.nodeBounds(s.Base))
	if s.Op == plan.SetAnd {
		// The result is within whatever bounds one of the operands.
		more = more.without(bounds.without(rest))
	}
	return more.cut(e.set(s.Base), e.m), list
}

// has tests whether v is in node i, of which nothing is known.
func (x *lowering) has(i int, v kir.Expr, e *env) kir.Expr {
	s := &x.nodes[i]
	list := x.inList(s.Adj, e.m(s.Of), v)
	bounds := x.nodeBounds(i)
	if s.Op == plan.SetList {
		return kir.All(append(bounds.holds(v, e.m), list)...)
	}
	if s.Op == plan.SetMinus {
		list = kir.NotX(list)
	}
	tests := bounds.without(x.nodeBounds(s.Base)).holds(v, e.m)
	tests = append(tests, kir.Fn(kir.Contains, e.set(s.Base), v), list)
	if x.mayBeLazy(s.Base) {
		tests = append(tests, x.unlessLazy(s.Base, v, e))
	}
	return kir.All(tests...)
}

// unlessLazy returns the tests of an element of node i's stored set. A set that was filtered needs none.
func (x *lowering) unlessLazy(i int, v kir.Expr, e *env) kir.Expr {
	return kir.Any(kir.NotX(e.lazy(i)), kir.Invoke{Fn: x.hasFunc(i), Args: []kir.Expr{kir.R(e.s), v}})
}

// hasFunc is the function Node<i>::has: where sets fit, as most do, nobody asks it.
func (x *lowering) hasFunc(i int) *kir.Func {
	if f := x.prog.Func("Node", i, "has"); f != nil {
		return f
	}
	e := x.newEnv(false)
	v := &kir.Var{Name: "x", T: kir.T(kir.U32)}
	body := []kir.Stmt{&kir.Return{X: x.has(i, kir.R(v), e)}}
	x.owner("Node", i, x.formula(i))
	return x.member("Node", i, &kir.Func{
		Name: "has", Scope: kir.Lane, Params: []*kir.Var{e.s, v}, Result: kir.T(kir.Bool), Body: body, Rare: true,
	})
}

// compute makes node i.
func (x *lowering) compute(i int, e *env) []kir.Stmt {
	s := &x.nodes[i]
	out := []kir.Stmt{&kir.Comment{Text: x.formula(i)}}
	let := func(name string, init kir.Expr) kir.Expr {
		v := &kir.Var{Name: fmt.Sprintf("%s%d", name, i), T: kir.T(kir.Set)}
		if init != nil {
			v.T = init.Type()
		}
		out = append(out, &kir.Let{Var: v, Init: init})
		return kir.R(v)
	}
	// keep stores the node's value, and leaves where it is empty: every node
	// narrows some level's candidates.
	keep := func(value kir.Expr) []kir.Stmt {
		out = append(out, &kir.Assign{To: e.field("set", i), X: value}, &kir.If{
			Cond: kir.Op2(kir.Eq, kir.Fn(kir.Size, value), kir.C(0)),
			Then: []kir.Stmt{&kir.Return{X: kir.False}},
		})
		e.made[i] = value
		return out
	}
	memory := func() kir.Expr {
		return let("o", kir.Fn(kir.Room, kir.R(e.slots), kir.Op2(kir.Mul, kir.C(uint32(s.slot)), kir.R(e.cap))))
	}
	if s.Op == plan.SetList && x.rels[s.Adj] != nil {
		room, to := memory(), let("S", nil)
		out = append(out, x.gather(s.Adj, s.Of, x.nodeBounds(i), to, room, e.m))
		return keep(to)
	}
	a, b := x.operands(i, e)
	if s.Op == plan.SetList {
		return keep(let("S", a))
	}
	a = let("a", a)
	if b != nil {
		b = let("b", b)
	}
	room := memory()
	from := a
	if s.Op == plan.SetAnd && !x.o.Roomy {
		from = let("c", shorter(a, b))
	}
	to := let("S", nil)
	op := &kir.SetOp{Op: kir.Intersect, To: to, Out: room, A: a, B: b}
	if s.Op == plan.SetMinus {
		op.Op = kir.Subtract
	}
	if x.o.Roomy {
		if f, ok := x.looksUp(i, a, b, bounds{}, false, e, let); ok {
			op = &kir.SetOp{Op: kir.Filter, To: to, Out: room, A: f.over, X: f.x, Keep: f.keep}
		}
		out = append(out, op)
		return keep(to)
	}
	filtered := []kir.Stmt{op}
	if x.mayBeLazy(s.Base) {
		v := &kir.Var{Name: "x", T: kir.T(kir.U32)}
		has := kir.Invoke{Fn: x.hasFunc(i), Args: []kir.Expr{kir.R(e.s), kir.R(v)}}
		filtered = []kir.Stmt{&kir.If{
			Cond: e.lazy(s.Base),
			Then: []kir.Stmt{&kir.SetOp{Op: kir.Filter, To: to, Out: room, A: from, X: v, Keep: has}},
			Else: filtered,
		}}
	}
	word, bit := e.lazyWord(i)
	x.hasFunc(i)
	out = append(out, &kir.If{
		Cond: kir.Op2(kir.Le, kir.Fn(kir.Size, from), kir.R(e.cap)),
		Then: append(filtered, &kir.Assign{To: word, X: kir.Op2(kir.BitAnd, word, kir.C(^bit))}),
		Else: []kir.Stmt{
			&kir.Assign{To: to, X: from},
			&kir.Assign{To: word, X: kir.Op2(kir.BitOr, word, kir.C(bit))},
		},
	})
	return keep(to)
}

// maxDegree is the length of the longest list of adjacency a.
func (x *lowering) maxDegree(a int) (n int) {
	if n, ok := x.longest[a]; ok {
		return n
	}
	n = x.p.Adjs[a].Lists.MaxDegree()
	x.longest[a] = n
	return n
}

// shorter is the set of fewer elements.
func shorter(a, b kir.Expr) kir.Expr {
	return kir.Select{If: kir.Op2(kir.Lt, kir.Fn(kir.Size, b), kir.Fn(kir.Size, a)), Then: b, Else: a}
}

// formula is node i for the reader: S2 = S0 ∩ N(b), < a.
func (x *lowering) formula(i int) string {
	s := &x.nodes[i]
	var b strings.Builder
	fmt.Fprintf(&b, "S%d = ", i)
	switch s.Op {
	case plan.SetAnd:
		fmt.Fprintf(&b, "S%d ∩ ", s.Base)
	case plan.SetMinus:
		fmt.Fprintf(&b, "S%d − ", s.Base)
	}
	fmt.Fprintf(&b, "%s(%s)", x.p.Adjs[s.Adj].Name, x.names[s.Of])
	for _, j := range s.Below {
		fmt.Fprintf(&b, ", < %s", x.names[j])
	}
	for _, j := range s.Above {
		fmt.Fprintf(&b, ", > %s", x.names[j])
	}
	if s.Range.End != 0 {
		fmt.Fprintf(&b, ", in %s", x.rangeName(s.Range))
	}
	return b.String()
}

// Room is the number of elements that the largest set node of p may hold: no
// more than the shortest of the longest lists that it is made of.
func Room(p *plan.Plan) int {
	x := newLowering(p, Options{Sparse: AsStored}) // no text is made of it
	most := 0
	size := make([]int, len(x.nodes))
	for i := range x.nodes {
		s := &x.nodes[i]
		switch longest := x.maxDegree(s.Adj); s.Op {
		case plan.SetList:
			size[i] = longest
		case plan.SetAnd:
			size[i] = min(size[s.Base], longest)
		default:
			size[i] = size[s.Base]
		}
		if s.Op != plan.SetList || x.rels[s.Adj] != nil {
			most = max(most, size[i])
		}
	}
	return most
}

// RootRanges are the ids that level 0's vertex may have, as root_first and
// root_end give them; root_ok may still refuse some.
func RootRanges(p *plan.Plan) []plan.Range {
	x := newLowering(p, Options{Sparse: AsStored}) // no text is made of it
	x.root()
	return x.rootRanges()
}
