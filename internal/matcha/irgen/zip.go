package irgen

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// zipped writes a loop over several lists at once.
func (l *lowerer) zipped(n *asg.Node, body func(items [][]kir.Expr)) {
	outer := l.takeOuter()
	var lists []*value
	var sizes []kir.Expr
	for _, a := range n.Args {
		v := l.list(a)
		lists, sizes = append(lists, v), append(sizes, l.let("n", asID(l.size(v))))
	}
	least, rest := sizes[0], sizes[1:]
	if asg.Together(n.Args) {
		rest = nil
	}
	for _, s := range rest {
		l.fail(kir.Op2(kir.Ne, sizes[0], s), l.code(n, "apply goes over lists of different sizes"))
		least = kir.Op2(kir.Min, least, s)
	}
	i := local("i", kir.U32)
	l.loop(&kir.Loop{I: i, Lo: kir.C(0), Hi: l.let("n", least), Body: l.block(func() {
		var items [][]kir.Expr
		for _, v := range lists {
			items = append(items, l.item(v, kir.R(i)))
		}
		body(items)
	})}, outer)
}
