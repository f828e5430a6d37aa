package irgen

import (
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// bucketGraph makes a graph of any list of edges when the program begins, by all workers. Vertices are buckets:
//
//  1. the edges of each vertex are counted (kir.FetchAdd);
//  2. prefix sums of the counts say where a vertex's edges begin;
//  3. each edge takes the next place of its vertex;
//  4. the edges of each vertex are sorted, and of equal ones without information one is kept.
//
// Steps 1 and 3 go through the list, which is not stored. Edges take places in any order, and the sort leaves
// none of that.
//
// It is nil for lists that may fail, whose mistakes cannot be told from there; for first ends that are not
// known to be small numbers, which need a hash index; and for graphs whose neighbours are asked for by labels.
func (l *lowerer) bucketGraph(n *asg.Node) *made {
	edges, rest := n.Args[0], n.Args[1:]
	if !l.infallible(edges) || l.reads(n, asg.Labelled) {
		return nil
	}
	b := &buckets{l: l, n: n, most: max(l.most(edges), 1)} // an empty list has the text of others
	if n.At&asg.WithLabels != 0 {
		end, ok := l.idsBelow(rest[0], 0, rest[0].Type.Elem.Part(0), l.most(rest[0]))
		if b.labelled = end; !ok || !l.infallible(rest[0]) {
			return nil
		}
		rest = rest[1:]
	}
	each := func(body func(ends []kir.Expr, info kir.Expr)) {
		l.over(l.list(edges), func(e []kir.Expr) { body(e, nil) })
	}
	if n.At&asg.WithInfo != 0 {
		if each = l.sideBySide(edges, rest[0]); each == nil {
			return nil
		}
	}
	from, ok := l.idsBelow(edges, 0, n.Type.Facts.From, b.most)
	to, small := l.idsBelow(edges, 1, n.Type.Facts.To, b.most)
	if l.reads(n, asg.Vertices) {
		ok, from = ok && small, max(from, to)
	}
	if !ok {
		return nil
	}
	if words := 8*from + 10*b.most + 4*b.labelled; words > mostBuckets || words > mostBuckets-l.sharedWords {
		return nil // it may take fewer, but places in memory are numbers of 32 bits
	}
	b.vertices, b.each = from, each
	b.number = l.number("vertices of "+name(n), uint32(from))
	kinds := []kir.Kind{kir.U32}
	if n.At&asg.WithInfo != 0 {
		kinds = []kir.Kind{wordKind(n.Type.Facts.Info), kir.I64}
	} else if !small {
		kinds = []kir.Kind{kir.I64}
	}
	return b.make(kinds)
}

// mostBuckets is the most words of memory that graphs of lists may make the program take.
const mostBuckets = math.MaxUint32 / 2

// buckets is a graph that bucketGraph makes.
type buckets struct {
	l        *lowerer
	n        *asg.Node
	most     int64    // edges
	vertices int64    // first ends are less; of a program that asks for the vertices, second ends too
	labelled int64    // the ids of labelled vertices are below it; 0 means no labels
	number   kir.Expr // vertices
	each     func(body func(ends []kir.Expr, info kir.Expr))
	begin    kir.Expr // an array: where the edges of a vertex begin
	end      kir.Expr // and end
}

// make writes the steps. kinds are those of the columns of edges: of their information, if they have some, and
// of their second ends.
func (b *buckets) make(kinds []kir.Kind) *made {
	l := b.l
	b.begin, b.end = b.array(), b.array()
	var marks kir.Expr
	if l.reads(b.n, asg.Vertices) {
		marks = b.array()
	}
	take := l.support("fetch_add", func() *kir.Func { return kir.FetchAdd("fetch_add") })
	b.apart(func() {
		b.each(func(ends []kir.Expr, _ kir.Expr) {
			l.do(&kir.Do{X: invoke(take, b.end, asID(ends[0]), kir.C(1))})
			if marks != nil {
				l.do(&kir.Do{X: invoke(take, marks, asID(ends[1]), kir.C(1))})
			}
		})
	})
	total := b.places(func(v kir.Expr) kir.Expr { return kir.Elem{X: b.end, I: v} }, func(v, at kir.Expr) []kir.Stmt {
		return []kir.Stmt{
			&kir.Assign{To: kir.Elem{X: b.begin, I: v}, X: at},
			&kir.Assign{To: kir.Elem{X: b.end, I: v}, X: at},
		}
	})
	columns := b.columns(kinds)
	b.apart(func() {
		b.each(func(ends []kir.Expr, info kir.Expr) {
			at := l.let("at", invoke(take, b.end, l.let("u", asID(ends[0])), kir.C(1)))
			l.do(&kir.Assign{To: kir.Elem{X: columns[len(columns)-1].all, I: at}, X: convert(kinds[len(kinds)-1], ends[1])})
			if info != nil {
				l.do(&kir.Assign{To: kir.Elem{X: columns[0].all, I: at}, X: asWord(info)})
			}
		})
	})
	b.sort(columns)
	m := b.made(columns, total)
	if marks != nil {
		b.listVertices(m, marks)
	}
	if b.labelled > 0 {
		b.label(m, take)
	}
	return m
}

// label makes an array of the labels of vertices.
func (b *buckets) label(m *made, take *kir.Func) {
	l, list := b.l, b.n.Args[1]
	number := l.number("vertices with labels of "+name(b.n), uint32(b.labelled))
	times, labels := l.take(b.n, b.labelled).ids(0, b.labelled), l.take(b.n, 2*b.labelled).words(0, b.labelled)
	each := func(body func(v, label kir.Expr)) {
		b.apart(func() {
			l.over(l.list(list), func(item []kir.Expr) { body(l.let("v", asID(item[0])), item[1]) })
		})
	}
	each(func(v, label kir.Expr) {
		before := l.let("before", invoke(take, times, v, kir.C(1)))
		l.do(when(kir.Op2(kir.Eq, before, kir.C(0)), &kir.Assign{To: kir.Elem{X: labels, I: v}, X: label}))
	})
	others := l.total("others", kir.I64)
	each(func(v, label kir.Expr) {
		l.do(when(kir.Op2(kir.Ne, kir.Elem{X: labels, I: v}, label), &kir.Accumulate{To: kir.R(others), X: i64(1)}))
	})
	l.fail(kir.Op2(kir.Ne, kir.R(others), i64(0)), l.code(b.n, "vlabel gives a vertex two labels"))
	m.label = func(v kir.Expr) kir.Expr {
		is := kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(number)))
		has := kir.All(is, kir.Op2(kir.Ne, kir.Elem{X: times, I: asID(v)}, kir.C(0)))
		return kir.Select{If: has, Then: kir.Elem{X: labels, I: asID(v)}, Else: noLabel}
	}
}

// array is an array of a u32 for each vertex, which are 0 at first.
func (b *buckets) array() kir.Expr { return b.l.take(b.n, b.vertices).ids(0, b.vertices) }

// column is an array of a value for each edge.
type column struct {
	memory
	kind kir.Kind
	all  kir.Expr
}

func (b *buckets) columns(kinds []kir.Kind) (out []column) {
	for _, k := range kinds {
		words := b.most
		if k != kir.U32 {
			words *= 2
		}
		c := column{memory: b.l.take(b.n, words), kind: k}
		c.all = c.part(c.place(0), kir.C(uint32(b.most)))
		out = append(out, c)
	}
	return out
}

// part is n values of a column whose first lies at a place of the memory.
func (c column) part(place, n kir.Expr) kir.Expr {
	view := map[kir.Kind]*kir.Builtin{kir.U32: kir.IDs, kir.I64: kir.Words, kir.F64: kir.Floats}[c.kind]
	return kir.Fn(view, kir.R(c.mem), place, n)
}

// from is the n values from value i on.
func (c column) from(i, n kir.Expr) kir.Expr {
	if c.kind != kir.U32 {
		i = kir.Op2(kir.Shl, i, kir.C(1))
	}
	return c.part(plus(c.place(0), i), n)
}

// apart writes loops whose turns all workers may take. Turns write to places of the memory of all that are their
// own, or add to them indivisibly.
func (b *buckets) apart(write func()) {
	l := b.l
	body := l.block(func() {
		l.outer = true
		write()
		l.outer = false
	})
	for _, s := range body {
		if l.parallel[s] {
			if l.apart == nil {
				l.apart = map[kir.Stmt]bool{}
			}
			l.apart[s] = true
		}
	}
	*l.out = append(*l.out, body...)
}

// eachVertex writes a loop over the vertices for all workers.
func (b *buckets) eachVertex(body func(v kir.Expr)) {
	b.apart(func() {
		v := local("v", kir.U32)
		b.l.takeOuter()
		b.l.loop(&kir.Loop{I: v, Lo: kir.C(0), Hi: b.number, Body: b.l.block(func() { body(kir.R(v)) })}, true)
	})
}

// chunk is the number of vertices, 2^chunk, whose counts one worker adds up.
const chunk = 12

// places writes prefix sums of a count for each vertex: place gives a vertex the sum of the counts of those
// before it. It returns the sum of all. Workers add up chunks, one worker adds up the sums of chunks, and workers go
// through chunks again.
func (b *buckets) places(count func(v kir.Expr) kir.Expr, place func(v, at kir.Expr) []kir.Stmt) kir.Expr {
	l := b.l
	most := (b.vertices + 1<<chunk - 1) >> chunk
	sums := l.take(b.n, most).ids(0, most)
	chunks := l.let("chunks", kir.Op2(kir.Shr, plus(b.number, kir.C(1<<chunk-1)), kir.C(chunk)))
	inChunk := func(first func(c kir.Expr) kir.Expr, turn func(v kir.Expr, sum *kir.Var) []kir.Stmt, last func(c kir.Expr, sum *kir.Var)) {
		b.apart(func() {
			c, v, sum := local("c", kir.U32), local("v", kir.U32), local("sum", kir.U32)
			l.takeOuter()
			l.loop(&kir.Loop{I: c, Lo: kir.C(0), Hi: chunks, Body: l.block(func() {
				lo := l.let("lo", kir.Op2(kir.Shl, kir.R(c), kir.C(chunk)))
				l.do(&kir.Let{Var: sum, Init: first(kir.R(c))})
				l.do(&kir.Loop{I: v, Lo: lo, Hi: kir.Op2(kir.Min, b.number, plus(lo, kir.C(1<<chunk))), Body: turn(kir.R(v), sum)})
				last(kir.R(c), sum)
			})}, true)
		})
	}
	inChunk(func(kir.Expr) kir.Expr { return kir.C(0) }, func(v kir.Expr, sum *kir.Var) []kir.Stmt {
		return []kir.Stmt{&kir.Accumulate{To: kir.R(sum), X: count(v)}}
	}, func(c kir.Expr, sum *kir.Var) {
		l.do(&kir.Assign{To: kir.Elem{X: sums, I: c}, X: kir.R(sum)})
	})
	total, c, own := local("total", kir.U32), local("c", kir.U32), local("own", kir.U32)
	at := kir.Elem{X: sums, I: kir.R(c)}
	l.do(&kir.Let{Var: total, Init: kir.C(0)})
	l.do(&kir.Loop{I: c, Lo: kir.C(0), Hi: chunks, Body: []kir.Stmt{
		&kir.Let{Var: own, Init: at},
		&kir.Assign{To: at, X: kir.R(total)},
		&kir.Accumulate{To: kir.R(total), X: kir.R(own)},
	}})
	inChunk(func(c kir.Expr) kir.Expr { return kir.Elem{X: sums, I: c} }, func(v kir.Expr, sum *kir.Var) []kir.Stmt {
		own := local("own", kir.U32)
		body := append([]kir.Stmt{&kir.Let{Var: own, Init: count(v)}}, place(v, kir.R(sum))...)
		return append(body, &kir.Accumulate{To: kir.R(sum), X: kir.R(own)})
	}, func(kir.Expr, *kir.Var) {})
	return kir.R(total)
}

// sort sorts the edges of each vertex: by their information, if they have some, and then by their second ends.
// Without information it keeps one of equal ones.
func (b *buckets) sort(columns []column) {
	l := b.l
	b.eachVertex(func(v kir.Expr) {
		first := l.let("first", kir.Elem{X: b.begin, I: v})
		size := l.let("", kir.Op2(kir.Sub, kir.Elem{X: b.end, I: v}, first))
		l.do(when(kir.Op2(kir.Gt, size, kir.C(1)), l.block(func() {
			var parts []kir.Expr
			for _, c := range columns {
				parts = append(parts, c.from(first, size))
			}
			l.sortRows(parts, size)
			if b.n.At&asg.WithInfo == 0 {
				l.do(&kir.Assign{To: kir.Elem{X: b.end, I: v}, X: plus(first, l.unique(parts, size))})
			}
		})...))
	})
}

// made is the graph for the operators that look at it. total is the number of edges in the list.
func (b *buckets) made(columns []column, total kir.Expr) *made {
	l, info := b.l, b.n.At&asg.WithInfo != 0
	begin, end, to := b.begin, b.end, columns[len(columns)-1]
	var from kir.Expr // an array of the first ends
	if l.reads(b.n, asg.Edges) {
		from = l.take(b.n, b.most).ids(0, b.most)
		if info {
			b.eachVertex(func(v kir.Expr) {
				i := local("i", kir.U32)
				l.do(&kir.Loop{I: i, Lo: kir.Elem{X: begin, I: v}, Hi: kir.Elem{X: end, I: v}, Body: []kir.Stmt{
					&kir.Assign{To: kir.Elem{X: from, I: kir.R(i)}, X: v},
				}})
			})
		} else {
			// Equal edges have left gaps, which a copy does not have.
			all, first := to, b.array()
			to = b.columns([]kir.Kind{all.kind})[0]
			size := func(v kir.Expr) kir.Expr {
				return kir.Op2(kir.Sub, kir.Elem{X: end, I: v}, kir.Elem{X: begin, I: v})
			}
			total = b.places(size, func(v, at kir.Expr) []kir.Stmt {
				return []kir.Stmt{&kir.Assign{To: kir.Elem{X: first, I: v}, X: at}}
			})
			last := b.array()
			b.eachVertex(func(v kir.Expr) {
				old, at, n := l.let("old", kir.Elem{X: begin, I: v}), l.let("at", kir.Elem{X: first, I: v}), l.let("n", size(v))
				i := local("i", kir.U32)
				l.do(&kir.Loop{I: i, Lo: kir.C(0), Hi: n, Body: []kir.Stmt{
					&kir.Assign{To: kir.Elem{X: from, I: plus(at, kir.R(i))}, X: v},
					&kir.Assign{To: kir.Elem{X: to.all, I: plus(at, kir.R(i))}, X: kir.Elem{X: all.all, I: plus(old, kir.R(i))}},
				}})
				l.do(&kir.Assign{To: kir.Elem{X: last, I: v}, X: plus(at, n)})
			})
			begin, end = first, last
		}
	}
	second := func(i kir.Expr) kir.Expr { return convert(kir.I64, kir.Elem{X: to.all, I: i}) }
	m := &made{to: &rows{n: total, width: 1, at: func(i kir.Expr, _ int) kir.Expr { return second(i) }}}
	if to.kind == kir.U32 {
		m.ids = to.all
	}
	if info {
		kind := b.n.Type.Facts.Info.Kind
		m.info = &rows{n: total, width: 1, at: func(i kir.Expr, _ int) kir.Expr { return fromWord(kind, kir.Elem{X: columns[0].all, I: i}) }}
		if kind != types.Float {
			m.below = l.belowAmong(columns[0].all)
		}
		if l.reads(b.n, asg.Joining) {
			m.byEnds = b.byEnds(columns)
		}
	}
	if from != nil {
		m.edges = &rows{n: total, width: 2, at: func(i kir.Expr, j int) kir.Expr {
			if j == 0 {
				return asInt(kir.Elem{X: from, I: i})
			}
			return second(i)
		}}
	}
	m.find = func(v kir.Expr) (kir.Expr, kir.Expr) {
		is := l.let("", kir.All(kir.Op2(kir.Ge, v, i64(0)), kir.Op2(kir.Lt, v, asInt(b.number))))
		at := l.let("", kir.Select{If: is, Then: asID(v), Else: kir.C(0)})
		first := l.let("begin", kir.Elem{X: begin, I: at})
		return first, l.let("end", kir.Select{If: is, Then: kir.Elem{X: end, I: at}, Else: first})
	}
	return m
}

// byEnds makes a copy of the edges that is sorted by second ends.
func (b *buckets) byEnds(columns []column) *byEnds {
	l := b.l
	kinds := []kir.Kind{columns[1].kind, columns[0].kind}
	turned := b.columns(kinds)
	b.eachVertex(func(v kir.Expr) {
		first := l.let("first", kir.Elem{X: b.begin, I: v})
		size := l.let("", kir.Op2(kir.Sub, kir.Elem{X: b.end, I: v}, first))
		i := local("i", kir.U32)
		at := plus(first, kir.R(i))
		l.do(&kir.Loop{I: i, Lo: kir.C(0), Hi: size, Body: []kir.Stmt{
			&kir.Assign{To: kir.Elem{X: turned[0].all, I: at}, X: kir.Elem{X: columns[1].all, I: at}},
			&kir.Assign{To: kir.Elem{X: turned[1].all, I: at}, X: kir.Elem{X: columns[0].all, I: at}},
		}})
		l.sortRows([]kir.Expr{turned[0].from(first, size), turned[1].from(first, size)}, size)
	})
	kind := b.n.Type.Facts.Info.Kind
	info := &rows{width: 1, at: func(i kir.Expr, _ int) kir.Expr { return fromWord(kind, kir.Elem{X: turned[1].all, I: i}) }}
	return &byEnds{info: info, belowEnd: l.belowAmong(turned[0].all), belowInfo: l.belowAmong(turned[1].all)}
}

// listVertices makes the ascending list of the vertices. marks says how many edges end at each.
func (b *buckets) listVertices(m *made, marks kir.Expr) {
	l := b.l
	list := b.array()
	is := func(v kir.Expr) kir.Expr {
		out := kir.Op2(kir.Ne, kir.Elem{X: b.begin, I: v}, kir.Elem{X: b.end, I: v})
		return kir.Any(out, kir.Op2(kir.Ne, kir.Elem{X: marks, I: v}, kir.C(0)))
	}
	count := func(v kir.Expr) kir.Expr { return kir.Select{If: is(v), Then: kir.C(1), Else: kir.C(0)} }
	n := b.places(count, func(v, at kir.Expr) []kir.Stmt {
		return []kir.Stmt{when(is(v), &kir.Assign{To: kir.Elem{X: list, I: at}, X: v})}
	})
	m.vertices = func(*asg.Node) *value { return &value{set: l.let("", kir.Fn(kir.Part, list, kir.C(0), n))} }
}

// idsBelow is a number from 1 on that component j of a list's items is below, if they are known to be ids for
// which an array is worth while. t is the component's type, and most the number of items.
func (l *lowerer) idsBelow(list *asg.Node, j int, t *types.Type, most int64) (end int64, ok bool) {
	if t.Max != nil {
		if end = l.in.Most(t.Max); end < math.MaxUint32-1 && (t.Vertex != "" || end < denseFor(most)) {
			return max(end+1, 1), true
		}
	}
	lo, hi, ok := l.span(list, j)
	return max(hi+1, 1), ok && lo >= 0 && hi < denseFor(most)
}

// denseFor is the least number for which an array over numbers takes more memory than is worth while for n edges.
func denseFor(n int64) int64 { return 1<<16 + 4*n }

// span is the least and the largest component j of the items of a list, if these are items of inputs.
func (l *lowerer) span(list *asg.Node, j int) (lo, hi int64, ok bool) {
	switch {
	case list.Op == asg.Input:
		items, width := l.in.Input(list.Name).Items, list.Type.Elem.Words()
		hi = -1
		for i := j; i < len(items); i += width {
			x := int64(items[i])
			if i == j {
				lo, hi = x, x
			}
			lo, hi = min(lo, x), max(hi, x)
		}
		return lo, hi, true
	case list.Op != asg.Apply || list.Effects || len(list.Func.Steps) > 0:
		return 0, 0, false
	}
	f, x := list.Func, list.Func.Result
	if x.Op == asg.MakeTuple {
		x, j = x.Args[j], 0
	}
	if x.Op == asg.Part {
		x, j = x.Args[0], x.At
	}
	for i, operand := range f.Operands {
		if x == operand {
			return l.span(list.Args[i], j)
		}
	}
	return 0, 0, false
}

// sideBySide is a function that writes loops over two lists at once, edges and the information on them. It is nil
// unless they are lists of results, without conditions, for the items of one list, or for those of inputs that have as
// many.
func (l *lowerer) sideBySide(edges, info *asg.Node) func(body func(ends []kir.Expr, info kir.Expr)) {
	if !l.infallible(info) {
		return nil
	}
	// chain is the lists from which a list's items are computed one by one, itself first.
	chain := func(n *asg.Node) []*asg.Node {
		out := []*asg.Node{n}
		for n.Op == asg.Apply && len(n.Args) == 1 && n.Cond == nil && !n.Effects {
			n = n.Args[0]
			out = append(out, n)
		}
		return out
	}
	a, b := chain(edges), chain(info)
	for i, x := range a {
		for j, y := range b {
			if x == y {
				return l.overChains(x, a[:i], b[:j])
			}
		}
	}
	x, y := a[len(a)-1], b[len(b)-1]
	if x.Op != asg.Input || y.Op != asg.Input || l.length(x) != l.length(y) {
		return nil
	}
	return func(body func(ends []kir.Expr, info kir.Expr)) {
		outer, i := l.takeOuter(), local("i", kir.U32)
		l.loop(&kir.Loop{I: i, Lo: kir.C(0), Hi: l.list(x).rows.n, Body: l.block(func() {
			ends, info := l.item(l.list(x), kir.R(i)), l.item(l.list(y), kir.R(i))
			body(l.resultsOf(ends, a[:len(a)-1]), l.resultsOf(info, b[:len(b)-1])[0])
		})}, outer)
	}
}

// length is the number of items of an input.
func (l *lowerer) length(n *asg.Node) int { return len(l.in.Input(n.Name).Items) / n.Type.Elem.Words() }

// overChains goes through a list. a and b are applies, the outermost first, that compute ends and information.
func (l *lowerer) overChains(list *asg.Node, a, b []*asg.Node) func(body func(ends []kir.Expr, info kir.Expr)) {
	return func(body func(ends []kir.Expr, info kir.Expr)) {
		l.over(l.list(list), func(item []kir.Expr) { body(l.resultsOf(item, a), l.resultsOf(item, b)[0]) })
	}
}

// resultsOf are what applies, the outermost first, make of an item.
func (l *lowerer) resultsOf(item []kir.Expr, applies []*asg.Node) []kir.Expr {
	for i := len(applies) - 1; i >= 0; i-- {
		item = l.run(applies[i].Func, item)
	}
	return item
}

// infallible reports whether computing the items of a list cannot fail.
func (l *lowerer) infallible(list *asg.Node) bool {
	if v := l.vals[list]; v != nil && v.code != nil {
		return false
	}
	if list.Op != asg.Apply {
		return true
	}
	if list.Effects || len(list.Args) > 1 && !asg.Together(list.Args) {
		return false
	}
	for _, a := range list.Args {
		if !l.infallible(a) {
			return false
		}
	}
	return l.simple(list.Func) && (list.Cond == nil || l.simple(list.Cond))
}

// simple reports whether a function cannot fail. It is false for some that cannot.
func (l *lowerer) simple(f *asg.Func) bool {
	if len(f.Steps) > 0 {
		return false
	}
	for _, n := range asg.Order(f) {
		for _, a := range n.Args {
			if v := l.vals[a]; v != nil && v.code != nil && !a.Home.Within(f) {
				return false
			}
		}
		switch n.Op {
		case asg.Neg, asg.Not, asg.Arith, asg.Compare, asg.And, asg.Or, asg.ToFloat, asg.MakeTuple, asg.Part, asg.Const,
			asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd, asg.Holds, asg.Neighbor, asg.EdgeInfo, asg.Size,
			asg.Intersect, asg.Diff, asg.IntersectSize, asg.DiffSize, asg.Slice:
		default:
			return false
		}
		if l.fallible(n) {
			return false
		}
	}
	return true
}
