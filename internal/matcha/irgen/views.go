package irgen

import (
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
)

// view is what a text of the pattern language selects of an input graph: lists,
// or one list, that are there before the program runs.
func (l *lowerer) view(n *asg.Node) *value {
	key := n.Op.String() + " of " + asg.ViewKey(n.Args[0].Name, n.Name)
	g, ok := l.graphs[key]
	if !ok {
		g = &kir.GlobalDef{Name: key, Kind: kir.Adj, Temporary: true}
		if n.Op == asg.Subgraph {
			csr := l.in.Subgraph(n)
			g.Off, g.Adj = csr.Off, csr.Adj
		} else {
			g.Adj = l.in.Matching(n)
			g.Off = []uint64{0, uint64(len(g.Adj))}
		}
		l.graphs[key] = l.prog.AddGlobal(g)
	}
	if n.Op == asg.Subgraph {
		return &value{adj: g}
	}
	return &value{set: l.let(n.Given, kir.Fn(kir.List, kir.G(g), kir.C(0)))}
}
