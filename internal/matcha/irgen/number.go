package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Numbers of the inputs: sizes, places in memory, labels and the inputs that are numbers. The program's
// text reads them when it runs, so a text that was compiled for one graph serves others. A text differs
// from another only in the forms that the inputs have (sparse lists, sums that need a check), not in
// numbers. A debug build has them as constants.

// number is a number of 32 bits that depends on the inputs.
func (l *lowerer) number(name string, x uint32) kir.Expr {
	if l.debug {
		return kir.C(x)
	}
	return kir.G(l.prog.AddGlobal(&kir.GlobalDef{Name: name, Kind: kir.U32, Value: x}))
}

// numberOf is number for what key stands for, which has one number in the program.
func (l *lowerer) numberOf(key any, name string, x uint32) kir.Expr {
	at, ok := l.numbers[key]
	if !ok {
		at = l.number(name, x)
		l.numbers[key] = at
	}
	return at
}

// half is a half of what a key stands for.
type half struct {
	key   any
	upper bool
}

// wideOf is numberOf for an I64.
func (l *lowerer) wideOf(key any, name string, x int64) kir.Expr {
	if l.debug {
		return i64(x)
	}
	low := asInt(l.numberOf(half{key, false}, name, uint32(x)))
	high := asInt(l.numberOf(half{key, true}, name+" / 2^32", uint32(x>>32)))
	return kir.Op2(kir.BitOr, kir.Op2(kir.Shl, high, kir.C(32)), low)
}

// vertices is the number of a graph's vertices.
func (l *lowerer) vertices(g *kir.GlobalDef) kir.Expr {
	return l.numberOf(g, "vertices of "+g.Name, uint32(g.Vertices()))
}

// arcs is the number of a graph's arcs, a u64.
func (l *lowerer) arcs(g *kir.GlobalDef) kir.Expr {
	return kir.Convert{T: kir.T(kir.U64), X: l.wideOf(g, "arcs of "+g.Name, int64(len(g.Adj)))}
}

// most32 is the value of a bound, or the largest u32.
func (l *lowerer) most32(b *types.Bound) kir.Expr {
	most := uint32(min(l.in.Most(b), math.MaxUint32))
	if _, ok := b.Constant(); ok {
		return kir.C(most)
	}
	return l.numberOf(b.String(), b.String(), most)
}

// givenNumber is an input that is a number.
func (l *lowerer) givenNumber(n *asg.Node, x types.Word) kir.Expr {
	switch n.Type.Kind {
	case types.Float:
		if l.debug {
			return kir.F(x.Float())
		}
		return l.column(n.Name, types.TFloat, []types.Word{x}).at(kir.C(0), 0)
	case types.Bool:
		return kir.Op2(kir.Ne, l.numberOf(n, n.Name, uint32(x)), kir.C(0))
	}
	return l.wideOf(n, n.Name, int64(x))
}

// known is the value of an Int that does not change while the program runs.
func (l *lowerer) known(n *asg.Node) (x types.Word, ok bool) {
	switch n.Op {
	case asg.Const:
		return n.Words[0], true
	case asg.Input:
		return l.in.Input(n.Name).Var, true
	case asg.LabelNumber:
		return l.in.LabelNumber(n.Args[0].Type.Facts.Input, n.Name), true
	}
	return 0, false
}
