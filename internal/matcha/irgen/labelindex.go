package irgen

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/interp"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// byLabel is a copy of the edges of a made graph with labels. The edges of a vertex are sorted
// by the label of their second end, then by that end, so that a vertex's neighbours with a
// label are a slice.
type byLabel struct {
	made
	first *kir.Func // where among n edges from a place on the first is whose label is not less than another
}

// sortByLabel makes them, before the program runs.
func (l *lowerer) sortByLabel(name string, g interp.Made) *byLabel {
	label := func(v types.Word) types.Word {
		if x, ok := g.Labels[v]; ok {
			return x
		}
		return data.NoLabel
	}
	type edge struct{ from, label, to types.Word }
	edges := make([]edge, len(g.From))
	for i := range edges {
		edges[i] = edge{g.From[i], label(g.To[i]), g.To[i]}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.label, b.label), cmp.Compare(a.to, b.to))
	})
	var to, labels []types.Word
	for _, e := range edges {
		to, labels = append(to, e.to), append(labels, e.label)
	}
	out := &byLabel{}
	if slices.ContainsFunc(to, noID) {
		out.to = l.column(name+" by label", types.TInt, to)
	} else {
		out.ids = kir.G(l.ids(name+" by label", narrow(to)))
	}
	column := l.column(name+" labels of ends", types.TInt, labels)
	out.first = l.support(fmt.Sprintf("label%d", len(l.helpers)), func() *kir.Func {
		from := local("from", kir.U32)
		return search([]*kir.Var{from}, kir.I64, func(i kir.Expr) kir.Expr { return column.at(plus(kir.R(from), i), 0) })
	})
	return out
}

// labelledNode is a vertex's neighbours with a label. Where they are not kept by
// labels each is asked for its own.
func (l *lowerer) labelledNode(n *asg.Node, m *made) *value {
	v, label := l.let("", l.scalar(n.Args[1])), l.let("label", l.scalar(n.Args[2]))
	begin, end := m.find(v)
	if b := m.byLabel; b != nil {
		size := l.let("", kir.Op2(kir.Sub, end, begin))
		first := l.let("", plus(begin, invoke(b.first, begin, size, label)))
		behind := invoke(b.first, begin, size, plus(kir.Op2(kir.Min, label, i64(math.MaxInt64-1)), i64(1)))
		// The largest label has none behind it.
		last := kir.Select{If: kir.Op2(kir.Eq, label, i64(math.MaxInt64)), Then: end, Else: plus(begin, behind)}
		return l.neighbours(n, &b.made, first, l.let("", last))
	}
	all := l.neighbours(n, m, begin, end)
	has := func(x kir.Expr) kir.Expr { return kir.Op2(kir.Eq, m.label(x), label) }
	if all.set != nil {
		return &value{set: l.filter(n, l.most(n), all.set, func(x kir.Expr) kir.Expr {
			before := l.inline
			l.inline = true
			defer func() { l.inline = before }()
			return has(x)
		})}
	}
	return &value{each: func(body func(item []kir.Expr)) {
		l.over(all, func(item []kir.Expr) {
			l.do(when(l.let("", has(item[0])), l.block(func() { body(item) })...))
		})
	}}
}
