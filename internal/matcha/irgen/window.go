package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// Windows: edges at a vertex whose information lies between limits. They are in the order of their
// information, so that a window is found by bisection.

// below is how many items of a list of informations are below a limit. A limit that does not fit 64
// bits is beyond all items.
func (l *lowerer) below(n *asg.Node) kir.Expr {
	list := l.list(n.Args[0]).rows
	limit, of := l.scalar(n.Args[1]), l.interval(n.Args[1])
	var all, none []kir.Expr // when all items are below it, or none
	if len(n.Args) > 2 {
		more, by := l.scalar(n.Args[2]), l.interval(n.Args[2])
		if _, fits := saturated("+", of.hi, by.hi); !fits {
			room := kir.Op2(kir.Sub, i64(math.MaxInt64), kir.Op2(kir.Max, more, i64(0)))
			all = append(all, kir.Op2(kir.Gt, limit, room))
		}
		if _, fits := saturated("+", of.lo, by.lo); !fits {
			room := kir.Op2(kir.Sub, i64(math.MinInt64), kir.Op2(kir.Min, more, i64(0)))
			none = append(none, kir.Op2(kir.Lt, limit, room))
		}
		of, _ = compute("+", of, by)
		limit = l.let("limit", plus(limit, more))
	}
	if n.At&asg.Closed != 0 {
		if of.hi == math.MaxInt64 { // which has no number behind it
			all = append(all, kir.Op2(kir.Eq, limit, i64(math.MaxInt64)))
			limit = kir.Op2(kir.Min, limit, i64(math.MaxInt64-1))
		}
		limit = l.let("limit", plus(limit, i64(1)))
	}
	at := asInt(list.below(limit))
	if all != nil {
		at = kir.Select{If: kir.Any(all...), Then: asInt(list.n), Else: at}
	}
	if none != nil {
		at = kir.Select{If: kir.Any(none...), Then: i64(0), Else: at}
	}
	return at
}

// window is the items of a list between places.
func (l *lowerer) window(n *asg.Node) *value {
	list := l.list(n.Args[0]).rows
	var first kir.Expr = kir.C(0)
	end := list.n
	for i, p := range n.Args[1:] {
		switch at := asID(l.scalar(p)); {
		case i >= n.At:
			end = kir.Op2(kir.Min, end, at)
		case i == 0:
			first = at
		default:
			first = kir.Op2(kir.Max, first, at)
		}
	}
	first = l.let("first", first)
	size := l.let("", kir.Op2(kir.Sub, kir.Op2(kir.Max, first, end), first))
	return &value{rows: &rows{n: size, width: list.width, at: func(i kir.Expr, j int) kir.Expr { return list.at(plus(first, i), j) }}}
}
