package host

import (
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// labels is a set of edge labels.
type labels struct {
	all  bool
	list []dynamic.Label // ascending; if not all
}

func (x *labels) has(l dynamic.Label) bool { return x.all || slices.Contains(x.list, l) }

// rel is a delta.Rel bound to the graph's labels.
type rel struct {
	dir    dynamic.Direction
	labels labels
	neg    bool
	edge   int
	from   *delta.Rel
	unless []rel
	// slow says that the lists of neighbours do not decide it: single edges are looked at. filter is then the place of the conditions on
	// them among those of the watch, + 1.
	slow   bool
	filter int
	timed  bool // it is about edges in searcher.during alone
}

// back is a rel to an earlier vertex.
type back struct {
	rel
	of int // the vertex
	at int // its place in the order
}

// pair is a delta.Pair bound to the graph's labels.
type pair struct {
	u, v int
	rels []rel
	// simple says that there is one rel, of data edges that have no parallel ones.
	simple bool
}

// level is a delta.Level bound to the graph's labels.
type level struct {
	*delta.Level
	v        int
	pos, neg []back // neg leaves out slow ones
	slow     []back // those that lists do not decide
	ranges   []dynamic.Range
	dep      int // the last place that candidates depend on
	all      []back
}

// nest is a delta.Nest bound to the graph's labels.
type nest struct {
	*delta.Nest
	w      *watch
	levels []level
	// closed says that the last level is counted by the size of its set.
	closed bool
	tail   tail // how the last two levels are counted together, if the nest is closed
	exact  bool // each match found is a change
}

// tail says how the last two levels are counted by the sizes of their sets, of which neither depends on the other's vertex.
type tail uint8

const (
	nothing tail = iota
	free         // the vertices may be the same
	apart        // they differ
	ordered      // the sets are the same, and one vertex has the greater id
)

// sub is a delta.Sub bound to the graph's labels.
type sub struct {
	*delta.Sub
	allowed [][]bool
	nest    nest
	pairs   []pair
}

// bind brings what depends on classes and labels up to date.
func (m *Matcher) bind() error {
	now := form{layout: m.g.Layout(), labels: m.g.NumEdgeLabels() + 1, timed: m.g.Timed()}
	if m.values {
		now.columns = len(m.g.VertexColumns()) + len(m.g.EdgeColumns())
	}
	if m.bound && now == m.form {
		return nil
	}
	m.form = now
	b := &binder{g: m.g, labels: now.labels, edge: map[*pattern.Label]labels{}, vertex: map[*pattern.Label][]bool{}}
	m.lone, m.values = false, false
	for _, w := range m.watches {
		if w != nil {
			b.watch(w)
			m.lone = m.lone || len(w.plan.Pattern.Vertices) == 1
			m.values = m.values || len(w.plan.VertexKeys)+len(w.plan.EdgeKeys) > 0
		}
	}
	m.table.make(m)
	for _, s := range m.workers {
		if err := s.bind(); err != nil {
			return err
		}
	}
	m.bound = true
	return nil
}

// form is what the rest of a Matcher depends on.
type form struct {
	layout  uint64
	labels  int // edge labels, and none
	timed   bool
	columns int // properties, if watches look at some
}

// clear makes all counts 0.
func (m *Matcher) clear() {
	for _, s := range m.workers {
		for _, id := range s.touched {
			s.added[id], s.removed[id] = engine.Uint128{}, engine.Uint128{}
		}
		s.touched = s.touched[:0]
	}
}

// counts returns the counts that are not 0, by watch.
func (m *Matcher) counts() (out []Count) {
	for _, s := range m.workers {
		for _, id := range s.touched {
			i, found := slices.BinarySearchFunc(out, id, func(c Count, id int) int { return c.Watch - id })
			if !found {
				out = slices.Insert(out, i, Count{Watch: id})
			}
			out[i].Added, out[i].Removed = out[i].Added.Add(s.added[id]), out[i].Removed.Add(s.removed[id])
		}
	}
	return out
}

type binder struct {
	g      *dynamic.Graph
	labels int
	edge   map[*pattern.Label]labels
	vertex map[*pattern.Label][]bool
	// filters are conditions on single edges, of the watch under way.
	filters [][]pattern.Expr
}

// edges returns the edge labels that l accepts.
func (b *binder) edges(l *pattern.Label) labels {
	if l == nil {
		return labels{all: true}
	}
	x, ok := b.edge[l]
	if !ok {
		for k := range dynamic.Label(b.labels) {
			name := b.g.EdgeLabelName(k)
			if l.Matches(func(s string) bool { return k != dynamic.NoLabel && s == name }, k != dynamic.NoLabel) {
				x.list = append(x.list, k)
			}
		}
		if len(x.list) == b.labels {
			x = labels{all: true}
		}
		b.edge[l] = x
	}
	return x
}

// classes returns whether l accepts each class; nil: it accepts all.
func (b *binder) classes(l *pattern.Label) []bool {
	if l == nil {
		return nil
	}
	x, ok := b.vertex[l]
	if !ok {
		x = make([]bool, b.g.NumClasses())
		for c := range x {
			names := b.g.Labels(dynamic.Class(c))
			x[c] = l.Matches(func(s string) bool { return slices.Contains(names, s) }, len(names) > 0)
		}
		b.vertex[l] = x
	}
	return x
}

// rangesOf returns the ranges of some classes; nil: all.
func (b *binder) rangesOf(allowed []bool) []dynamic.Range {
	if allowed == nil {
		return nil
	}
	var cs []dynamic.Class
	for c, is := range allowed {
		if is {
			cs = append(cs, dynamic.Class(c))
		}
	}
	return b.g.Ranges(cs...)
}

func (b *binder) rel(r *delta.Rel) rel {
	x := rel{dir: dynamic.Direction(r.Dir), labels: b.edges(r.Label), neg: r.Neg, edge: r.Edge, from: r}
	if len(r.Where) > 0 {
		b.filters = append(b.filters, r.Where)
		x.slow, x.filter = true, len(b.filters)
	}
	for i := range r.Unless {
		x.unless = append(x.unless, b.rel(&r.Unless[i]))
		x.slow = true
	}
	return x
}

// inTime returns the edges of the pattern of which a match has none outside a window of time around the changed edge: ORDERED or WITHIN
// bounds them, and a change of an edge only makes matches with this edge.
func (w *watch) inTime(g *dynamic.Graph) []int {
	p := w.plan.Pattern
	switch o := p.Order; {
	case o == nil || o.Within == 0 || !w.forward || !g.Timed() || !isTime(g, o.On):
		return nil
	case len(o.Edges) > 0:
		return o.Edges
	}
	return w.plan.Choices
}

// alwaysTimed reports whether a changed edge that is at a pair is one of the timed edges of each match that changes with it.
func (w *watch) alwaysTimed(x *pair) bool {
	if len(w.timed) == 0 {
		return false
	}
	if len(w.timed) == len(w.plan.Pattern.Edges) {
		return true
	}
	return w.plan.Pattern.Mode == pattern.Iso && !slices.ContainsFunc(x.rels, func(r rel) bool { return !slices.Contains(w.timed, r.edge) })
}

func (b *binder) pairs(from []delta.Pair) []pair {
	out := make([]pair, len(from))
	for i := range from {
		x := pair{u: from[i].U, v: from[i].V}
		for j := range from[i].Rels {
			x.rels = append(x.rels, b.rel(&from[i].Rels[j]))
		}
		r := &x.rels[0]
		x.simple = len(x.rels) == 1 && !r.neg && !r.slow && !b.g.Timed() && (b.labels == 1 || !r.labels.all && len(r.labels.list) <= 1) &&
			(r.dir != dynamic.Either || !b.g.Directed())
		out[i] = x
	}
	return out
}

func (b *binder) watch(w *watch) {
	b.filters = nil
	w.timed = w.inTime(b.g)
	w.allowed, w.ranges = nil, nil
	for _, l := range w.plan.Labels {
		w.allowed = append(w.allowed, b.classes(l))
		w.ranges = append(w.ranges, b.rangesOf(b.classes(l)))
	}
	w.pairs, w.inner = b.pairs(w.plan.Pairs), b.pairs(w.plan.Inner)
	w.nests = w.nests[:0]
	for i := range w.plan.Nests {
		w.nests = append(w.nests, b.nest(w, &w.plan.Nests[i], w.ranges))
	}
	w.all = b.nest(w, &w.plan.All, w.ranges)
	w.all.exact = len(w.plan.Choices) == 0
	w.subs = map[*pattern.Pattern]*sub{}
	for p, s := range w.plan.Exists {
		x := &sub{Sub: s, pairs: b.pairs(s.Pairs)}
		var ranges [][]dynamic.Range
		for _, v := range p.Vertices {
			x.allowed = append(x.allowed, b.classes(v.Label))
			ranges = append(ranges, b.rangesOf(b.classes(v.Label)))
		}
		x.nest = b.nest(w, &s.Nest, ranges)
		w.subs[p] = x
	}
	w.filters = b.filters
	w.vertexKeys = used(w.plan.VertexKeys, b.g.VertexColumns())
	w.edgeKeys = used(w.plan.EdgeKeys, b.g.EdgeColumns())
}

// used reports for each property whether its name is among some.
func used(names []string, of []dynamic.Column) []bool {
	out := make([]bool, len(of))
	for i := range of {
		out[i] = slices.Contains(names, of[i].Name)
	}
	return out
}

func (b *binder) nest(w *watch, from *delta.Nest, ranges [][]dynamic.Range) nest {
	n := nest{Nest: from, w: w, exact: w.plan.Shared}
	for l := range from.Levels {
		lv := level{Level: &from.Levels[l], v: from.Levels[l].Vertex, ranges: ranges[from.Levels[l].Vertex]}
		for i := range lv.Backs {
			k := back{b.rel(&lv.Backs[i].Rel), lv.Backs[i].Of, slices.Index(from.Order, lv.Backs[i].Of)}
			if !k.neg && slices.Contains(w.timed, k.edge) && from.Kind == delta.Edge {
				k.slow, k.timed = true, true
			}
			if !k.neg {
				lv.pos = append(lv.pos, k)
			} else if !k.slow {
				lv.neg = append(lv.neg, k)
			}
			if k.slow {
				lv.slow = append(lv.slow, k)
			}
			lv.dep = max(lv.dep, k.at)
		}
		lv.all = append(append(lv.all, lv.pos...), lv.neg...)
		n.levels = append(n.levels, lv)
	}
	last := &n.levels[len(n.levels)-1]
	n.closed = w.o.CountsOnly && len(n.levels) > from.First && len(last.Checks) == 0
	n.tail = n.tailOf()
	return n
}

func (n *nest) tailOf() tail {
	k := len(n.levels)
	if k-2 < n.First {
		return nothing
	}
	a, b := &n.levels[k-2], &n.levels[k-1]
	restricted := slices.Contains(b.Above, a.v) || slices.Contains(b.Below, a.v)
	without := func(vs []int) []int { return slices.DeleteFunc(slices.Clone(vs), func(v int) bool { return v == a.v }) }
	switch {
	case b.dep == k-2 || len(a.Checks)+len(b.Checks) > 0:
		return nothing
	case !restricted && slices.Contains(b.Apart, a.v):
		return apart
	case !restricted:
		return free
	case sameBacks(a, b) && sameRanges(a, b) && slices.Equal(a.Above, without(b.Above)) && slices.Equal(a.Below, without(b.Below)) && slices.Equal(a.Apart, without(b.Apart)):
		return ordered
	}
	return nothing
}

func sameRanges(a, b *level) bool {
	return slices.Equal(a.ranges, b.ranges) && (a.ranges == nil) == (b.ranges == nil)
}

// sameBacks reports whether two levels have the same neighbours before them.
func sameBacks(a, b *level) bool {
	if len(a.all) != len(b.all) || len(a.slow)+len(b.slow) > 0 {
		return false
	}
	for _, x := range a.all {
		if !slices.ContainsFunc(b.all, func(y back) bool {
			return x.of == y.of && x.dir == y.dir && x.neg == y.neg && x.labels.all == y.labels.all && slices.Equal(x.labels.list, y.labels.list)
		}) {
			return false
		}
	}
	return true
}

// entry is a nest that a changed edge may concern, the first end of the edge at the first vertex of the anchor, or swapped at the
// second. For an anchor of one vertex this is the first end, or swapped the second.
type entry struct {
	n    *nest
	swap bool
}

// table leads from changed edges to entries, in the order of their watches. Classes and labels that no pattern tells apart are of one kind.
type table struct {
	classKind []uint32 // by class
	labelKind []uint32 // by edge label
	classes   uint32   // kinds
	classRep  []dynamic.Class
	labelRep  []dynamic.Label
	lists     [][]entry // by label kind, kind of the first end, and of the second; nil: there are too many
	mu        sync.Mutex
	some      map[uint64][]entry // where lists is nil
	watches   []*watch
	directed  bool
}

// mostLists bounds the entries of a table that is made at once.
const mostLists = 1 << 18

// kinds numbers the rows of a matrix of bits by their content, and returns the first row of each number.
func kinds(rows int, columns []func(row int) bool) (kind []uint32, first []int) {
	kind = make([]uint32, rows)
	known := map[string]uint32{}
	key := make([]byte, (len(columns)+7)/8)
	for i := range rows {
		clear(key)
		for j, f := range columns {
			if f(i) {
				key[j/8] |= 1 << (j % 8)
			}
		}
		k, ok := known[string(key)]
		if !ok {
			k = uint32(len(first))
			known[string(key)] = k
			first = append(first, i)
		}
		kind[i] = k
	}
	return kind, first
}

func (t *table) make(m *Matcher) {
	*t = table{directed: m.g.Directed(), some: map[uint64][]entry{}}
	var classColumns, labelColumns []func(int) bool
	for _, w := range m.watches {
		if w == nil {
			continue
		}
		t.watches = append(t.watches, w)
		for _, a := range w.allowed {
			if a != nil {
				classColumns = append(classColumns, func(c int) bool { return a[c] })
			}
		}
		for _, ps := range [][]pair{w.pairs, w.inner} {
			for i := range ps {
				for j := range ps[i].rels {
					if ls := &ps[i].rels[j].labels; !ls.all {
						labelColumns = append(labelColumns, func(l int) bool { return ls.has(dynamic.Label(l)) })
					}
				}
			}
		}
	}
	var firstClass, firstLabel []int
	t.classKind, firstClass = kinds(m.g.NumClasses(), classColumns)
	t.labelKind, firstLabel = kinds(m.form.labels, labelColumns)
	t.classes = uint32(len(firstClass))
	for _, c := range firstClass {
		t.classRep = append(t.classRep, dynamic.Class(c))
	}
	for _, l := range firstLabel {
		t.labelRep = append(t.labelRep, dynamic.Label(l))
	}
	if n := uint64(len(firstLabel)) * uint64(t.classes) * uint64(t.classes); n <= mostLists {
		t.lists = make([][]entry, n)
		for i := range t.lists {
			t.lists[i] = t.entries(uint64(i))
		}
	}
}

// key returns the place of a changed edge in the table.
func (t *table) key(label dynamic.Label, u, v dynamic.Class) uint64 {
	return (uint64(t.labelKind[label])*uint64(t.classes)+uint64(t.classKind[u]))*uint64(t.classes) + uint64(t.classKind[v])
}

// of returns the entries of a changed edge.
func (t *table) of(label dynamic.Label, u, v dynamic.Class) []entry {
	k := t.key(label, u, v)
	if t.lists != nil {
		return t.lists[k]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out, ok := t.some[k]
	if !ok {
		out = t.entries(k)
		t.some[k] = out
	}
	return out
}

// entries makes a list of the table.
func (t *table) entries(key uint64) (out []entry) {
	n := uint64(t.classes)
	u, v, label := t.classRep[key/n%n], t.classRep[key%n], t.labelRep[key/n/n]
	for _, w := range t.watches {
		may := func(at int, c dynamic.Class) bool { return w.allowed[at] == nil || w.allowed[at][c] }
		for i := range w.nests {
			x := &w.nests[i]
			switch x.Kind {
			case delta.Edge, delta.Inner:
				ps := w.pairs
				if x.Kind == delta.Inner {
					ps = w.inner
				}
				a, b := x.Order[0], x.Order[1]
				if may(a, u) && may(b, v) && ps[x.Pair].relevant(label, t.directed, false) {
					out = append(out, entry{x, false})
				}
				if !x.Turns && may(a, v) && may(b, u) && ps[x.Pair].relevant(label, t.directed, true) {
					out = append(out, entry{x, true})
				}
			case delta.Degree, delta.Near:
				if may(x.Order[0], u) {
					out = append(out, entry{x, false})
				}
				if may(x.Order[0], v) {
					out = append(out, entry{x, true})
				}
			}
		}
	}
	return out
}

// relevant reports whether a data edge with a label, from u's vertex to v's or swapped the other way, counts for the pair.
func (x *pair) relevant(label dynamic.Label, directed, swap bool) bool {
	d := dynamic.Out
	if swap && directed {
		d = dynamic.In
	}
	for i := range x.rels {
		if r := &x.rels[i]; (r.dir == d || r.dir == dynamic.Either) && r.labels.has(label) {
			return true
		}
	}
	return false
}
