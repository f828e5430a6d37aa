package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// inputList is an input that is a list, as a column.
func (l *lowerer) inputList(n *asg.Node, items []types.Word) *value {
	if uint64(len(items)/n.Type.Elem.Words()) >= math.MaxUint32 {
		l.notYet(n, "a list of 2^32 items")
	}
	return &value{rows: l.column(n.Name, n.Type.Elem, items)}
}

// limit is a list with a largest number of items.
func (l *lowerer) limit(n *asg.Node) *value {
	v := l.list(n.Args[0])
	more := l.let("", kir.Op2(kir.Gt, l.size(v), l.scalar(n.Args[1])))
	l.fail(more, l.code(n, "%s has more items than mk_list allows", List{Node: n}.Name()))
	// A longer list fails, and is empty: its memory is laid out for the largest number.
	switch {
	case v.set != nil:
		return &value{set: l.let(n.Given, kir.Fn(kir.Slice, v.set, kir.C(0), kir.Select{If: more, Then: kir.C(0), Else: kir.C(math.MaxUint32)}))}
	case v.span != nil:
		return &value{span: &[2]kir.Expr{v.span[0], l.let("", kir.Select{If: more, Then: v.span[0], Else: v.span[1]})}}
	case v.rows != nil:
		out := *v.rows
		out.n = l.let("", kir.Select{If: more, Then: kir.C(0), Else: out.n})
		return &value{rows: &out}
	}
	return &value{each: func(body func([]kir.Expr)) {
		l.do(when(kir.NotX(more), l.block(func() { l.over(v, body) })...))
	}}
}
