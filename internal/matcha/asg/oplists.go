package asg

import (
	"fmt"

	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// The operators that make and combine tuples and lists.

func (b *builder) mkTuple(a *arguments) *Node {
	n, sized := b.constArg(a, "nvars", 1, maxTuple)
	t := b.typeArg(a, "dtype")
	if t != nil && !t.Kind.Scalar() {
		b.fail(a.by["dtype"].Pos(), "a Tuple of "+t.String(), "int, float or bool")
	}
	var parts []*Node
	var places []syntax.Expr
	if x := a.by["val"]; x != nil {
		l, ok := x.(*syntax.ListLit)
		if !ok {
			b.fail(x.Pos(), "the components of a Tuple are not written out", "'[a, b]'")
		}
		places = l.Items
		parts = b.values(places, a.scope)
		if sized && n != int64(len(parts)) {
			b.fail(x.Pos(), fmt.Sprintf("%s for a Tuple of %d", plural(len(parts), "component"), n), plural(int(n), "component"))
		}
		if len(parts) == 0 || len(parts) > maxTuple {
			b.fail(x.Pos(), fmt.Sprintf("a Tuple of %d", len(parts)), fmt.Sprintf("a size from 1 to %d", maxTuple))
		}
	} else {
		if !sized || t == nil {
			b.fail(a.at, "mk_tuple without components", "val, or nvars and dtype")
		}
		for range n {
			parts = append(parts, b.constant(a.at, t.Kind, 0))
		}
	}
	var all []*types.Type
	for i, p := range parts {
		at := a.at
		if places != nil {
			at = places[i].Pos()
		}
		b.want(p, at, "a component", types.Int, types.Float, types.Bool)
		if t == nil {
			t = p.Type
		}
		if t.Kind == types.Float && p.Type.Kind == types.Int {
			p = b.toFloat(p)
			parts[i] = p
		}
		if p.Type.Kind != t.Kind {
			b.fail(at, "a component is "+describe(p.Type), t.Kind.String()+": components are of one type")
		}
		all = append(all, p.Type)
	}
	return b.add(a.at, Node{Op: MakeTuple, Type: types.TupleOf(all...), Args: parts})
}

func (b *builder) get(a *arguments) *Node {
	from := b.arg(a, "from", types.Tuple, types.Counter)
	if from.Type.Kind == types.Counter {
		key := b.arg(a, "pos", types.Int)
		return b.add(a.at, Node{Op: CounterGet, Type: types.TInt, Args: []*Node{from, key}})
	}
	i, _ := b.constArg(a, "pos", 0, int64(from.Type.Words()-1))
	if from.Op == MakeTuple {
		return from.Args[i]
	}
	return b.add(a.at, Node{Op: Part, Type: from.Type.Part(int(i)), Args: []*Node{from}, At: int(i)})
}

func (b *builder) mkList(a *arguments) *Node {
	item := b.typeArg(a, "type")
	var most *Node
	if a.by["nitems"] != nil {
		most = b.arg(a, "nitems", types.Int)
		if most.Op == Const && most.Words[0] < 0 {
			b.bound(a, "nitems", most) // fails
		}
	}
	x := a.by["val"]
	if l, ok := x.(*syntax.ListLit); ok || x == nil {
		if x == nil && (item == nil || most == nil) {
			b.fail(a.at, "mk_list without items", "val, or nitems and type")
		}
		var places []syntax.Expr
		at := a.at
		if l != nil {
			places, at = l.Items, l.At
		}
		items := b.values(places, a.scope)
		if most != nil && most.Op == Const && int64(most.Words[0]) < int64(len(items)) {
			b.fail(at, fmt.Sprintf("%s in a list of at most %d", plural(len(items), "item"), most.Words[0]), "")
		}
		return b.list(at, items, places, item)
	}
	from := b.arg(a, "val", types.List)
	if item != nil && !types.Same(item, from.Type.Elem) {
		b.fail(x.Pos(), "val of mk_list is "+describe(from.Type), "List["+item.String()+"]")
	}
	if most == nil {
		return from
	}
	t := *from.Type
	t.Max = types.MinOf(b.bound(a, "nitems", most), t.Max)
	return b.add(a.at, Node{Op: Limit, Type: &t, Args: []*Node{from, most}})
}

func (b *builder) rangeList(a *arguments) *Node {
	n := b.arg(a, "n", types.Int)
	max := b.bound(a, "n", n)
	t := types.ListOf(&types.Type{Kind: types.Int, Max: max}, max)
	t.Ascending = true
	return b.add(a.at, Node{Op: Range, Type: t, Args: []*Node{n}})
}

// sets builds the two lists of intersect or diff.
func (b *builder) sets(a *arguments) (l, r *Node) {
	l, r = b.arg(a, "l1", types.List), b.arg(a, "l2", types.List)
	for _, x := range []struct {
		param string
		n     *Node
	}{{"l1", l}, {"l2", r}} {
		if !x.n.Type.Elem.Kind.Scalar() {
			b.failHint(a.by[x.param].Pos(), x.param+" of "+a.name+" is "+describe(x.n.Type), "a list of int, float or bool", "")
		}
	}
	if !types.Same(l.Type.Elem, r.Type.Elem) {
		b.fail(a.by["l2"].Pos(), "l2 of "+a.name+" is "+describe(r.Type), "List["+l.Type.Elem.Kind.String()+"], as l1")
	}
	return l, r
}

func (b *builder) intersect(a *arguments) *Node {
	l, r := b.sets(a)
	t := *l.Type
	if l.Type.Ascending { // each item of l2 can be met once
		t.Max = types.MinOf(l.Type.Max, r.Type.Max)
	}
	return b.add(a.at, Node{Op: Intersect, Type: &t, Args: []*Node{l, r}})
}

func (b *builder) diff(a *arguments) *Node {
	l, r := b.sets(a)
	return b.add(a.at, Node{Op: Diff, Type: l.Type, Args: []*Node{l, r}})
}

func (b *builder) sum(a *arguments) *Node {
	l := b.arg(a, "l", types.List)
	item := l.Type.Elem
	switch item.Part(0).Kind {
	case types.Int, types.Float:
	default:
		b.failHint(a.by["l"].Pos(), "l of sum is "+describe(l.Type), "a list of int, float, or Tuple of these", "size(apply(f, cond, l)) counts what fulfils cond")
	}
	plain := &types.Type{Kind: item.Part(0).Kind}
	t := plain
	if item.Kind == types.Tuple {
		parts := make([]*types.Type, item.Words())
		for i := range parts {
			parts[i] = plain
		}
		t = types.TupleOf(parts...)
	}
	return b.add(a.at, Node{Op: Sum, Type: t, Args: []*Node{l}})
}

func (b *builder) size(a *arguments) *Node {
	l := b.arg(a, "l", types.List, types.Tuple)
	if l.Type.Kind == types.Tuple {
		return b.constant(a.at, types.Int, types.Word(l.Type.Words()))
	}
	return b.add(a.at, Node{Op: Size, Type: &types.Type{Kind: types.Int, Max: l.Type.Max}, Args: []*Node{l}})
}
