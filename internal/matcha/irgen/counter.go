package irgen

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// counter is a Counter in memory. Every key, or slot of a hashed one, has a stamp. Only entries
// with the stamp of the counter's epoch count, so that a reset, which begins another epoch,
// takes no time. Memory is 0 when the program begins, and epoch 0 is never used.
//
// A dense Counter has a slot for each key. A hashed one has more than twice as many slots as
// keys, a power of two, and looks for a key from the slot of its hash on (open addressing). So
// there always is a free slot.
//
// An add is the work of a group: all lanes know the earlier count, and one of them writes. See
// laneAdds for concurrent adds of lanes.
type counter struct {
	hashed bool
	keys   kir.Expr // how many there may be, a u32
	slots  int64
	number kir.Expr // slots, a u32
	head   kir.Expr // [epoch, keys that are there]
	stamps kir.Expr
	counts kir.Expr
	names  kir.Expr // the keys of slots, where it is hashed
}

// newCounter lays out a Counter and begins an epoch.
func (l *lowerer) newCounter(n *asg.Node) *value {
	most := max(l.most(n), 1)
	c := &counter{hashed: n.Type.Hashed, slots: most}
	each := int64(3)
	if c.hashed {
		each = 5
		if most < 1<<30 {
			c.slots = 1 << bits.Len64(uint64(2*most))
		}
	}
	words := int64(-1)
	if c.slots < 1<<32 {
		words = 2 + each*c.slots
	}
	m := l.take(n, words)
	c.number = l.number("slots of "+m.name, uint32(c.slots))
	c.head, c.counts = m.ids(0, 2), m.words(2, c.slots)
	if c.hashed {
		c.names = m.words(2+2*c.slots, c.slots)
	}
	c.stamps = m.ids(2+(each-1)*c.slots, c.slots)
	keys := kir.Op2(kir.Min, kir.Op2(kir.Max, l.scalar(n.Args[0]), i64(0)), asInt(kir.Op2(kir.Max, l.most32(n.Type.Max), kir.C(1))))
	c.keys = l.let("keys", asID(keys))
	l.reset(c)
	return &value{counter: c}
}

// reset begins another epoch.
func (l *lowerer) reset(c *counter) {
	f := l.support("counter_reset", counterReset)
	l.do(&kir.Do{X: invoke(f, c.head, c.stamps, c.number)})
}

func counterReset() *kir.Func {
	head, stamps := array("head", kir.U32), array("stamps", kir.U32)
	head.T, stamps.T = head.T.Writable(), stamps.T.Writable()
	slots, i := local("slots", kir.U32), local("i", kir.U32)
	epoch := elem(head, kir.C(0))
	return &kir.Func{
		Doc: "Begins another epoch of a Counter. Once in 2^32 times it clears all stamps.", Scope: kir.Group,
		Params: []*kir.Var{head, stamps, slots}, Result: kir.T(kir.Void),
		Body: []kir.Stmt{
			&kir.Assign{To: epoch, X: plus(epoch, kir.C(1))},
			&kir.Assign{To: elem(head, kir.C(1)), X: kir.C(0)},
			when(kir.Op2(kir.Eq, epoch, kir.C(0)),
				&kir.Loop{I: i, Lo: kir.C(0), Hi: kir.R(slots), Body: []kir.Stmt{&kir.Assign{To: elem(stamps, kir.R(i)), X: kir.C(0)}}},
				&kir.Assign{To: epoch, X: kir.C(1)},
			),
		},
	}
}

func (c *counter) epoch() kir.Expr { return kir.Elem{X: c.head, I: kir.C(0)} }

// slot is where a key is counted. Of a dense Counter it is the key, which must be
// one; of a hashed one the slot that has the key, or the free one that it takes.
func (l *lowerer) slot(n *asg.Node, c *counter, key kir.Expr) kir.Expr {
	if c.hashed {
		f := l.support("counter_find", counterFind)
		return l.let("slot", invoke(f, c.names, c.stamps, kir.Op2(kir.Sub, c.number, kir.C(1)), c.epoch(), key))
	}
	return l.let("slot", l.denseKey(n, c, key))
}

func (l *lowerer) denseKey(n *asg.Node, c *counter, key kir.Expr) kir.Expr {
	key = l.let("key", key)
	out := kir.Any(kir.Op2(kir.Lt, key, i64(0)), kir.Op2(kir.Ge, key, asInt(c.keys)))
	l.fail(out, l.code(n, "a key that the Counter does not have"))
	return kir.Select{If: out, Then: kir.C(0), Else: asID(key)}
}

// spread is 2^64 divided by the golden ratio.
const spread = 0x9e3779b97f4a7c15

// hash spreads keys (D. E. Knuth, The Art of Computer Programming, 6.4: the
// multiplicative method).
func hash(key kir.Expr) kir.Expr {
	x := kir.Op2(kir.Mul, kir.Convert{T: kir.T(kir.U64), X: key}, kir.C64(kir.U64, spread))
	return kir.Convert{T: kir.T(kir.U32), X: kir.Op2(kir.Shr, x, kir.C(32))}
}

func counterFind() *kir.Func {
	names, stamps := array("names", kir.I64), array("stamps", kir.U32)
	mask, epoch, key := local("mask", kir.U32), local("epoch", kir.U32), local("key", kir.I64)
	first, i, slot := local("first", kir.U32), local("i", kir.U32), local("slot", kir.U32)
	return &kir.Func{
		Doc:    "Returns the slot of a key in a hashed Counter, or the free slot for it.",
		Params: []*kir.Var{names, stamps, mask, epoch, key}, Result: kir.T(kir.U32),
		Body: []kir.Stmt{
			&kir.Let{Var: first, Init: hash(kir.R(key))},
			&kir.Loop{I: i, Lo: kir.C(0), Hi: kir.R(mask), Body: []kir.Stmt{
				&kir.Let{Var: slot, Init: kir.Op2(kir.BitAnd, plus(kir.R(first), kir.R(i)), kir.R(mask))},
				when(kir.Any(kir.Op2(kir.Ne, elem(stamps, kir.R(slot)), kir.R(epoch)), kir.Op2(kir.Eq, elem(names, kir.R(slot)), kir.R(key))),
					&kir.Return{X: kir.R(slot)}),
			}},
			&kir.Return{X: kir.Op2(kir.BitAnd, kir.Op2(kir.Sub, kir.R(first), kir.C(1)), kir.R(mask))},
		},
	}
}

// there reports whether a slot is one of the epoch.
func (c *counter) there(slot kir.Expr) kir.Expr {
	return kir.Op2(kir.Eq, kir.Elem{X: c.stamps, I: slot}, c.epoch())
}

func (c *counter) at(slot kir.Expr) kir.Expr { return kir.Elem{X: c.counts, I: slot} }

// counterGet is the count of a key.
func (l *lowerer) counterGet(n *asg.Node) *value {
	c := l.list(n.Args[0]).counter
	slot := l.slot(n, c, l.scalar(n.Args[1]))
	return &value{xs: []kir.Expr{l.let(n.Given, kir.Select{If: c.there(slot), Then: c.at(slot), Else: i64(0)})}}
}

// counterAdd adds to the count of a key. Its value is the count before.
func (l *lowerer) counterAdd(n *asg.Node) *value {
	c, key := l.list(n.Args[0]).counter, l.scalar(n.Args[1])
	slot := l.slot(n, c, key)
	old := local("old", kir.I64)
	l.do(&kir.Let{Var: old, Init: i64(0)})
	take := []kir.Stmt{&kir.Assign{To: kir.Elem{X: c.stamps, I: slot}, X: c.epoch()}}
	if c.hashed {
		used := kir.Elem{X: c.head, I: kir.C(1)}
		full := kir.Op2(kir.Ge, used, c.keys)
		take = append(take, &kir.Assign{To: kir.Elem{X: c.names, I: slot}, X: key}, &kir.Assign{To: used, X: plus(used, kir.C(1))})
		// A full Counter stays as it is, so that there is a free slot yet.
		take = []kir.Stmt{&kir.If{Cond: full, Then: l.block(func() { l.fail(kir.True, l.code(n, "the Counter is full")) }), Else: take}}
	}
	l.do(&kir.If{Cond: c.there(slot), Then: []kir.Stmt{set(old, c.at(slot))}, Else: take})
	x := l.scalar(n.Args[2])
	sum := l.let("", plus(kir.R(old), x))
	if _, fits := l.counted(n.Args[0]); l.debug || !fits {
		l.fail(l.wrapped(kir.Add, kir.R(old), x, sum), l.code(n, "%v", types.ErrOverflow))
	}
	l.do(&kir.Assign{To: c.at(slot), X: sum})
	return &value{xs: []kir.Expr{kir.R(old)}}
}
