package irgen

import (
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// runGraph makes a graph while the program runs. Its edges are sorted in memory, and a vertex's
// edges are found by bisection. Why no index: such a graph is made again each time that its
// function runs, and so would be the index.
func (l *lowerer) runGraph(n *asg.Node) *made {
	edges, rest := n.Args[0], n.Args[1:]
	kinds := []kir.Kind{kir.I64, kir.I64}
	t := n.Type.Facts
	if n.At&asg.WithInfo != 0 {
		kinds = append(kinds, wordKind(t.Info))
	}
	most := l.most(edges)
	a := l.columnsOf(n, most, kinds)
	room := l.most32(edges.Type.Max)
	count := l.gather(a[:2], room, edges)
	var labels []kir.Expr
	var named *kir.Var
	if n.At&asg.WithLabels != 0 {
		labels = l.columnsOf(n, l.most(rest[0]), []kir.Kind{kir.I64, kir.I64})
		named = l.gather(labels, l.most32(rest[0].Type.Max), rest[0])
		rest = rest[1:]
	}
	if n.At&asg.WithInfo != 0 {
		infos := l.gather(a[2:], room, rest[0])
		l.fail(kir.Op2(kir.Ne, kir.R(infos), kir.R(count)), l.code(n, "einfo does not have one item for each edge"))
	}
	l.sortEdges(a, kir.R(count))
	size := kir.R(count)
	if n.At&asg.WithInfo == 0 {
		size = l.unique(a, size)
	}
	column := func(array kir.Expr, k types.Kind) *rows {
		return &rows{n: size, width: 1, at: func(i kir.Expr, _ int) kir.Expr { return fromWord(k, kir.Elem{X: array, I: i}) }}
	}
	m := &made{to: column(a[1], types.Int)}
	m.edges = &rows{n: size, width: 2, at: func(i kir.Expr, j int) kir.Expr { return kir.Elem{X: a[j], I: i} }}
	if n.At&asg.WithInfo != 0 {
		m.info = column(a[2], t.Info.Kind)
		m.below = l.belowAmong(a[2])
		if l.reads(n, asg.Joining) {
			m.byEnds = l.runByEnds(n, a, kinds, size)
		}
	} else if l.small(t.To) {
		m.ids = l.take(n, most).ids(0, most)
		i := local("i", kir.U32)
		l.do(&kir.Loop{I: i, Lo: kir.C(0), Hi: size, Body: []kir.Stmt{
			&kir.Assign{To: kir.Elem{X: m.ids, I: kir.R(i)}, X: asID(kir.Elem{X: a[1], I: kir.R(i)})},
		}})
	}
	m.find = func(v kir.Expr) (begin, end kir.Expr) {
		begin = l.let("begin", l.place(a[0], size, v))
		behind := l.place(a[0], size, kir.Op2(kir.Add, kir.Op2(kir.Min, v, i64(math.MaxInt64-1)), i64(1)))
		// The largest number has none behind it.
		return begin, l.let("end", kir.Select{If: kir.Op2(kir.Eq, v, i64(math.MaxInt64)), Then: size, Else: behind})
	}
	m.vertices = func(at *asg.Node) *value {
		ends := &value{each: func(body func([]kir.Expr)) {
			l.over(&value{rows: m.edges}, func(e []kir.Expr) {
				body(e[:1])
				body(e[1:])
			})
		}}
		return l.sortedList(at, at.Type.Elem, types.Times(types.Exactly(2), edges.Type.Max), ends)
	}
	if labels != nil {
		l.labelled(n, m, labels, kir.R(named))
	}
	return m
}

// belowAmong is belowIn for words in memory.
func (l *lowerer) belowAmong(words kir.Expr) func(begin, size, x kir.Expr) kir.Expr {
	return func(begin, size, x kir.Expr) kir.Expr {
		f := l.support("below_i64", func() *kir.Func {
			a, from := array("a", kir.I64), local("from", kir.U32)
			return search([]*kir.Var{a, from}, kir.I64, func(i kir.Expr) kir.Expr { return elem(a, plus(kir.R(from), i)) })
		})
		return invoke(f, words, begin, size, x)
	}
}

// sortEdges sorts edges by their first ends, then by their information, then by their second ends.
func (l *lowerer) sortEdges(columns []kir.Expr, n kir.Expr) {
	a := slices.Clone(columns)
	if len(a) > 2 {
		a[1], a[2] = a[2], a[1]
	}
	l.sortRows(a, n)
}

// labelled sorts the labels of a graph by vertices.
func (l *lowerer) labelled(n *asg.Node, m *made, labels []kir.Expr, count kir.Expr) {
	l.sortRows(labels, count)
	size := l.unique(labels, count)
	i := local("i", kir.U32)
	before := kir.Op2(kir.Sub, kir.R(i), kir.C(1))
	l.do(&kir.Loop{I: i, Lo: kir.C(1), Hi: size, Body: l.block(func() {
		two := kir.Op2(kir.Eq, kir.Elem{X: labels[0], I: kir.R(i)}, kir.Elem{X: labels[0], I: before})
		l.fail(two, l.code(n, "vlabel gives a vertex two labels"))
	})})
	m.label = func(v kir.Expr) kir.Expr {
		at := l.let("", l.place(labels[0], size, v))
		has := l.let("", kir.All(kir.Op2(kir.Lt, at, size), kir.Op2(kir.Eq, kir.Elem{X: labels[0], I: at}, v)))
		return kir.Select{If: has, Then: kir.Elem{X: labels[1], I: at}, Else: noLabel}
	}
}

func wordKind(t *types.Type) kir.Kind {
	if t.Part(0).Kind == types.Float {
		return kir.F64
	}
	return kir.I64
}

// columnsOf lays out an array of n words for each kind.
func (l *lowerer) columnsOf(at *asg.Node, n int64, kinds []kir.Kind) (out []kir.Expr) {
	for _, k := range kinds {
		words := int64(-1)
		if n < math.MaxUint32/2 {
			words = 2 * n
		}
		m := l.take(at, words)
		if k == kir.F64 {
			out = append(out, m.floats(0, n))
		} else {
			out = append(out, m.words(0, n))
		}
	}
	return out
}

// gather stores the components of a list's items, an array each, and returns how
// many items there are.
func (l *lowerer) gather(arrays []kir.Expr, room kir.Expr, list *asg.Node) *kir.Var {
	count := local("n", kir.U32)
	l.do(&kir.Let{Var: count, Init: kir.C(0)})
	l.over(l.list(list), func(item []kir.Expr) {
		l.do(when(kir.Op2(kir.Lt, kir.R(count), room), l.block(func() {
			for j, x := range item {
				l.do(&kir.Assign{To: kir.Elem{X: arrays[j], I: kir.R(count)}, X: asWord(x)})
			}
		})...))
		l.do(&kir.Accumulate{To: kir.R(count), X: kir.C(1)})
	})
	return count
}

// unique drops rows that are equal to the one before them and returns how many are
// left.
func (l *lowerer) unique(arrays []kir.Expr, n kir.Expr) kir.Expr {
	kept, i := local("kept", kir.U32), local("i", kir.U32)
	l.do(&kir.Let{Var: kept, Init: kir.C(0)})
	l.do(&kir.Loop{I: i, Lo: kir.C(0), Hi: n, Body: l.block(func() {
		last := kir.Op2(kir.Sub, kir.R(kept), kir.C(1))
		fresh := kir.Op2(kir.Eq, kir.R(kept), kir.C(0))
		var move []kir.Stmt
		for _, a := range arrays {
			x := kir.Elem{X: a, I: kir.R(i)}
			fresh = kir.Any(fresh, kir.Op2(kir.Ne, x, kir.Elem{X: a, I: last}))
			move = append(move, &kir.Assign{To: kir.Elem{X: a, I: kir.R(kept)}, X: x})
		}
		l.do(when(fresh, append(move, &kir.Accumulate{To: kir.R(kept), X: kir.C(1)})...))
	})})
	return kir.R(kept)
}

// place is where in ascending words the first that is not less than v stands.
func (l *lowerer) place(words, n, v kir.Expr) kir.Expr {
	kind := words.Type().Elem
	f := l.support("search_"+kind.String(), func() *kir.Func {
		a := array("a", kind)
		return search([]*kir.Var{a}, kind, func(i kir.Expr) kir.Expr { return elem(a, i) })
	})
	return invoke(f, words, n, v)
}

// sortedList stores the different items of a list, ascending. NaN, which equals
// nothing, is left out.
func (l *lowerer) sortedList(n *asg.Node, t *types.Type, most *types.Bound, v *value) *value {
	kind := wordKind(t)
	a := l.columnsOf(n, l.in.Most(most), []kir.Kind{kind})[0]
	count := local("n", kir.U32)
	l.do(&kir.Let{Var: count, Init: kir.C(0)})
	l.over(v, func(item []kir.Expr) {
		x := asWord(item[0])
		room := kir.Op2(kir.Lt, kir.R(count), l.most32(most))
		if kind == kir.F64 {
			room = kir.All(room, kir.Op2(kir.Eq, x, x))
		}
		l.do(when(room,
			&kir.Assign{To: kir.Elem{X: a, I: kir.R(count)}, X: x},
			&kir.Accumulate{To: kir.R(count), X: kir.C(1)}))
	})
	l.sortRows([]kir.Expr{a}, kir.R(count))
	size := l.unique([]kir.Expr{a}, kir.R(count))
	return &value{rows: &rows{n: size, width: 1, words: a, at: func(i kir.Expr, _ int) kir.Expr {
		return fromWord(t.Kind, kir.Elem{X: a, I: i})
	}}}
}
