package lower

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// Set operations by look-ups. If one operand is a part of a vertex's neighbour list, an element
// of the other is in it if it is within the operation's bounds and a neighbour of that vertex.
// The loop goes over the shorter operand if both are such parts, else over the one that is not.
// If the list is stored in parts, it always goes over the other operand.

// lookup is a set operation as a filter: the elements x of over for which keep holds. For the size of a
// difference, others says the opposite: the result is all without these elements.
type lookup struct {
	over, all kir.Expr
	x         *kir.Var
	keep      kir.Expr
	others    bool
}

// size is the number of elements of the result.
func (f lookup) size() kir.Expr {
	n := kir.Expr(kir.Count{Over: f.over, X: f.x, Keep: f.keep})
	if f.others {
		n = kir.Op2(kir.Sub, kir.Fn(kir.Size, f.all), n)
	}
	return n
}

// looksUp says how to make node i of its operands a and b, within further bounds, by
// look-ups; let makes a variable. ok: that can be. sized: only the size is asked.
func (t *lowering) looksUp(i int, a, b kir.Expr, further bounds, sized bool, e *env, let func(name string, init kir.Expr) kir.Expr) (out lookup, ok bool) {
	s := &t.nodes[i]
	if !t.o.Lookup && t.rels[s.Adj] == nil || s.Op == plan.SetList {
		return out, false
	}
	out.x = &kir.Var{Name: "x", T: kir.T(kir.U32)}
	x, base := kir.R(out.x), &t.nodes[s.Base]
	all := t.nodeBounds(i).and(further)
	in := func(adj int, u kir.Expr) kir.Expr { return t.isIn(adj, u, x) }
	other := in(s.Adj, e.m(s.Of))
	switch {
	case t.rels[s.Adj] != nil:
		if out.over, out.keep = a, other; s.Op == plan.SetMinus {
			out.keep = kir.NotX(other)
		}
	case base.Op == plan.SetList && t.rels[base.Adj] == nil && (s.Op == plan.SetAnd || sized):
		shorter := kir.Op2(kir.Lt, kir.Fn(kir.Size, b), kir.Fn(kir.Size, a))
		if base.Adj == s.Adj {
			other = in(s.Adj, let("u", kir.Select{If: shorter, Then: e.m(base.Of), Else: e.m(s.Of)}))
		} else {
			shorter = let("fewer", shorter)
			other = kir.Select{If: shorter, Then: in(base.Adj, e.m(base.Of)), Else: other}
		}
		out.over, out.all, out.others = let("c", kir.Select{If: shorter, Then: b, Else: a}), a, s.Op == plan.SetMinus
		out.keep = kir.All(append(all.holds(x, e.m), other)...)
	case s.Op == plan.SetAnd:
		// a is within all bounds but those that b was cut at.
		_, rest := t.list(s.Adj, s.Of, all, e.m)
		out.over = a
		out.keep = kir.All(append(all.without(rest).holds(x, e.m), other)...)
	default:
		out.over, out.keep = a, kir.NotX(other)
	}
	return out, true
}
