package irgen

import (
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// laneAdds writes an apply that adds to a dense Counter for each id of a set, with the id as
// the key, so that the lanes of a group add concurrently. The keys are different, so no two
// lanes write to the same place, and no add depends on another. It returns nil for other
// applies.
func (l *lowerer) laneAdds(n *asg.Node) *value {
	f := n.Func
	if len(n.Args) != 1 || f == nil || len(f.Steps) != 1 || f.Steps[0].Op != asg.CounterAdd {
		return nil
	}
	add, from := f.Steps[0], l.vals[n.Args[0]]
	counted := add.Args[0]
	sums := n.Op == asg.ApplySum && f.Result == add
	if from.set == nil || counted.Type.Hashed || counted.Home.Within(f) || add.Args[1] != f.Operands[0] ||
		!sums && n.Type.Kind != types.Void || !l.plain(f, add) || n.Cond != nil && !l.plain(n.Cond) {
		return nil
	}
	if sums {
		if _, fits := l.summed(n, 0); !fits {
			return nil // lanes do not check their sums
		}
	}
	l.need(from)
	c := l.list(counted).counter
	x := &kir.Var{Name: "x", T: kir.T(kir.U32)}
	id := asInt(kir.R(x))
	l.vals[f.Operands[0]] = &value{xs: []kir.Expr{id}}
	before := l.inline
	l.inline = true
	for _, m := range asg.Order(f) {
		if m != add && m.Op != asg.Const {
			l.vals[m] = l.node(m)
		}
	}
	number := l.scalar(add.Args[2])
	l.inline = before
	code := l.code(add, "a key that the Counter does not have")
	wraps, name := kir.C(0), "counter_add"
	_, fits := l.counted(counted)
	if fits = fits && !l.debug; !fits {
		wraps, name = l.code(add, "%v", types.ErrOverflow), "counter_add_checked"
	}
	call := invoke(l.support(name, func() *kir.Func { return l.counterAddLane(!fits) }), c.counts, c.stamps, c.keys, l.let("epoch", c.epoch()), kir.R(x), number, code, wraps)
	old := kir.Expr(kir.Convert{T: kir.T(kir.U64), X: call})
	if n.Cond != nil {
		old = kir.Select{If: l.keep(n.Cond, id), Then: old, Else: kir.C64(kir.U64, 0)}
	}
	sum := l.let(n.Given, kir.Convert{T: kir.T(kir.I64), X: kir.Sum{Over: from.set, X: x, Value: old}})
	if !sums {
		return &value{}
	}
	return &value{xs: []kir.Expr{sum}}
}

// counterAddLane is a function that adds to a dense Counter, as a lane; checked: it
// fails where a count does not fit 64 bits.
func (l *lowerer) counterAddLane(checked bool) *kir.Func {
	counts, stamps := array("counts", kir.I64), array("stamps", kir.U32)
	counts.T, stamps.T = counts.T.Writable(), stamps.T.Writable()
	keys, epoch, key, number := local("keys", kir.U32), local("epoch", kir.U32), local("key", kir.U32), local("number", kir.I64)
	missing, wraps, old, sum := local("missing", kir.U32), local("wraps", kir.U32), local("old", kir.I64), local("sum", kir.I64)
	count, stamp := elem(counts, kir.R(key)), elem(stamps, kir.R(key))
	body := []kir.Stmt{
		when(kir.Op2(kir.Ge, kir.R(key), kir.R(keys)), &kir.Fail{Code: kir.R(missing)}, &kir.Return{X: i64(0)}),
		&kir.Let{Var: old, Init: i64(0)},
		&kir.If{
			Cond: kir.Op2(kir.Eq, stamp, kir.R(epoch)),
			Then: []kir.Stmt{set(old, count)}, Else: []kir.Stmt{&kir.Assign{To: stamp, X: kir.R(epoch)}},
		},
		&kir.Let{Var: sum, Init: plus(kir.R(old), kir.R(number))},
	}
	if checked {
		body = append(body, when(l.wrapped(kir.Add, kir.R(old), kir.R(number), kir.R(sum)), &kir.Fail{Code: kir.R(wraps)}))
	}
	return &kir.Func{
		Doc:    "Adds to a dense Counter, and returns the count from before.",
		Params: []*kir.Var{counts, stamps, keys, epoch, key, number, missing, wraps}, Result: kir.T(kir.I64),
		Body: slices.Concat(body, []kir.Stmt{&kir.Assign{To: count, X: kir.R(sum)}, &kir.Return{X: kir.R(old)}}),
	}
}
