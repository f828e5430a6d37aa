package irgen

import (
	"cmp"
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// byEnds is a copy of the edges of a graph whose information is Ints. The edges of a vertex are sorted by their
// second ends, then by their information, so that the edges from one vertex to another are a slice.
type byEnds struct {
	info *rows
	// belowEnd and belowInfo are how many of size edges from begin on have a second end, or an
	// information, less than x.
	belowEnd, belowInfo func(begin, size, x kir.Expr) kir.Expr
}

// sortByEnds makes them, before the program runs. The edges of a vertex are those from one of begins
// up to the next.
func (l *lowerer) sortByEnds(name string, t *types.Type, begins []uint64, to, info []types.Word) *byEnds {
	type edge struct{ to, info types.Word }
	edges := make([]edge, len(to))
	for i := range edges {
		edges[i] = edge{to[i], info[i]}
	}
	for i := range len(begins) - 1 {
		slices.SortFunc(edges[begins[i]:begins[i+1]], func(a, b edge) int {
			if a.to != b.to {
				return cmp.Compare(a.to, b.to)
			}
			return cmp.Compare(a.info, b.info)
		})
	}
	ends, infos := make([]types.Word, len(to)), make([]types.Word, len(to))
	for i, e := range edges {
		ends[i], infos[i] = e.to, e.info
	}
	b := &byEnds{info: l.column(name+" info by ends", t, infos)}
	b.belowEnd, b.belowInfo = l.belowIn(l.column(name+" ends", types.TInt, ends)), l.belowIn(b.info)
	return b
}

// runs are where the edges of each vertex begin, and the end of the last.
func runs(from []types.Word) (begins []uint64) {
	for i := range from {
		if i == 0 || from[i] != from[i-1] {
			begins = append(begins, uint64(i))
		}
	}
	return append(begins, uint64(len(from)))
}

// runByEnds is sortByEnds while the program runs.
func (l *lowerer) runByEnds(n *asg.Node, edges []kir.Expr, kinds []kir.Kind, size kir.Expr) *byEnds {
	a := l.columnsOf(n, l.most(n.Args[0]), kinds)
	i := local("i", kir.U32)
	var body []kir.Stmt
	for j := range a {
		body = append(body, &kir.Assign{To: kir.Elem{X: a[j], I: kir.R(i)}, X: kir.Elem{X: edges[j], I: kir.R(i)}})
	}
	l.do(&kir.Loop{I: i, Lo: kir.C(0), Hi: size, Body: body})
	l.sortRows(a, size)
	info := &rows{width: 1, at: func(i kir.Expr, _ int) kir.Expr { return fromWord(n.Type.Facts.Info.Kind, kir.Elem{X: a[2], I: i}) }}
	return &byEnds{info: info, belowEnd: l.belowAmong(a[1]), belowInfo: l.belowAmong(a[2])}
}

// joining is the information on the edges from one vertex to another.
func (l *lowerer) joining(n *asg.Node, m *made) *value {
	b := m.byEnds
	begin, end := m.find(l.let("", l.scalar(n.Args[1])))
	v := l.let("", l.scalar(n.Args[2]))
	first := l.let("first", plus(begin, b.belowEnd(begin, kir.Op2(kir.Sub, end, begin), v)))
	rest := kir.Op2(kir.Sub, end, first)
	// The largest number has none behind it.
	behind := b.belowEnd(first, rest, plus(kir.Op2(kir.Min, v, i64(math.MaxInt64-1)), i64(1)))
	size := l.let("", kir.Select{If: kir.Op2(kir.Eq, v, i64(math.MaxInt64)), Then: rest, Else: behind})
	return &value{rows: &rows{
		n: size, width: 1,
		at:    func(i kir.Expr, j int) kir.Expr { return b.info.at(plus(first, i), j) },
		below: func(x kir.Expr) kir.Expr { return b.belowInfo(first, size, x) },
	}}
}
