package nest

import (
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// labels is a set of edge labels.
type Labels struct {
	All  bool
	List []dynamic.Label // ascending; if not all
}

func (x *Labels) Has(l dynamic.Label) bool { return x.All || slices.Contains(x.List, l) }

// rel is a delta.Rel bound to the graph's labels.
type Rel struct {
	Dir    dynamic.Direction
	Labels Labels
	Neg    bool
	Edge   int
	From   *delta.Rel
	Unless []Rel
	// slow says that the lists of neighbours do not decide it: single edges are looked at. filter is then the place of the conditions on
	// them among those of the watch, + 1.
	Slow   bool
	Filter int
	Timed  bool // it is about edges in searcher.during alone
}

// back is a rel to an earlier vertex.
type Back struct {
	Rel
	Of int // the vertex
	At int // its place in the order
}

// pair is a delta.Pair bound to the graph's labels.
type Pair struct {
	U, V int
	Rels []Rel
	// simple says that there is one rel, of data edges that have no parallel ones.
	Simple bool
}

// level is a delta.Level bound to the graph's labels.
type Level struct {
	*delta.Level
	V        int
	Apart    []int  // as of the delta.Level, without vertices whose labels exclude its own
	Pos, Neg []Back // neg leaves out slow ones
	Slow     []Back // those that lists do not decide
	Ranges   []dynamic.Range
	Dep      int // the last place that candidates depend on
	All      []Back
	// Alone says that what fits the places from here on does not depend on the vertices before. So the nest may count it once for all of these.
	Alone bool
}

// nest is a delta.Nest bound to the graph's labels.
type Nest struct {
	*delta.Nest
	Watch  *Watch
	Places []Level
	// closed says that the last level is counted by the size of its set.
	Closed bool
	Tail   Tail // how the last two levels are counted together, if the nest is closed
	Exact  bool // each match found is a change
	Single bool // a change of an edge is searched for in one version: the one that has the edge
}

// tail says how the last two levels are counted by the sizes of their sets, of which neither depends on the other's vertex.
type Tail uint8

const (
	NoTail   Tail = iota
	Free          // the vertices may be the same
	Distinct      // they differ
	Ordered       // the sets are the same, and one vertex has the greater id
)

// sub is a delta.Sub bound to the graph's labels.
type Sub struct {
	*delta.Sub
	Allowed [][]bool
	Inside  Nest
	Between []Pair
	Rivals  int // of one that is not inside another: outer vertices that may have the labels of others, from which they must differ
}

// form is what bound watches depend on.
type form struct {
	layout  uint64
	labels  int // edge labels, and none
	timed   bool
	columns int // properties, if watches look at some
}

// Bind brings what depends on the graph's classes and labels up to date. It reports whether anything changed: what a caller
// made of it is out of date then.
func (x *Watches) Bind() bool {
	if x.Bound() {
		return false
	}
	now := x.now()
	x.form, x.bound = now, true
	b := &binder{g: x.g, labels: now.labels, edge: map[*pattern.Label]Labels{}, vertex: map[*pattern.Label][]bool{}}
	x.Alone, x.Values = false, false
	for _, w := range x.List {
		if w != nil {
			b.watch(w)
			x.Alone = x.Alone || w.Alone
			x.Values = x.Values || len(w.Plan.VertexKeys)+len(w.Plan.EdgeKeys) > 0
		}
	}
	x.Table.make(x)
	return true
}

// Bound reports whether what depends on the graph's classes and labels is up to date.
func (x *Watches) Bound() bool { return x.bound && x.form == x.now() }

func (x *Watches) now() form {
	f := form{layout: x.g.Layout(), labels: x.g.NumEdgeLabels() + 1, timed: x.g.Timed()}
	if x.Values {
		f.columns = len(x.g.VertexColumns()) + len(x.g.EdgeColumns())
	}
	return f
}

// Unbind makes the next Bind bind everything.
func (x *Watches) Unbind() { x.bound = false }

type binder struct {
	g      *dynamic.Graph
	labels int
	edge   map[*pattern.Label]Labels
	vertex map[*pattern.Label][]bool
	// filters are conditions on single edges, of the watch under way.
	filters [][]pattern.Expr
}

// edges returns the edge labels that l accepts.
func (b *binder) edges(l *pattern.Label) Labels {
	if l == nil {
		return Labels{All: true}
	}
	x, ok := b.edge[l]
	if !ok {
		for k := range dynamic.Label(b.labels) {
			name := b.g.EdgeLabelName(k)
			if l.Matches(func(s string) bool { return k != dynamic.NoLabel && s == name }, k != dynamic.NoLabel) {
				x.List = append(x.List, k)
			}
		}
		if len(x.List) == b.labels {
			x = Labels{All: true}
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

func (b *binder) rel(r *delta.Rel) Rel {
	x := Rel{Dir: dynamic.Direction(r.Dir), Labels: b.edges(r.Label), Neg: r.Neg, Edge: r.Edge, From: r}
	if len(r.Where) > 0 {
		b.filters = append(b.filters, r.Where)
		x.Slow, x.Filter = true, len(b.filters)
	}
	for i := range r.Unless {
		x.Unless = append(x.Unless, b.rel(&r.Unless[i]))
		x.Slow = true
	}
	return x
}

// inTime returns the edges of the pattern of which a match has none outside a window of time around the changed edge: ORDERED or WITHIN
// bounds them, and a change of an edge only makes matches with this edge.
func (w *Watch) inTime(g *dynamic.Graph) []int {
	p := w.Plan.Pattern
	switch o := p.Order; {
	case o == nil || o.Within == 0 || !w.Forward || !g.Timed() || !IsTime(g, o.On):
		return nil
	case len(o.Edges) > 0:
		return o.Edges
	}
	return w.Plan.Choices
}

// alwaysTimed reports whether a changed edge that is at a pair is one of the timed edges of each match that changes with it.
func (w *Watch) AlwaysTimed(x *Pair) bool {
	if len(w.Timed) == 0 {
		return false
	}
	if len(w.Timed) == len(w.Plan.Pattern.Edges) {
		return true
	}
	return w.Plan.Pattern.Mode == pattern.Iso && !slices.ContainsFunc(x.Rels, func(r Rel) bool { return !slices.Contains(w.Timed, r.Edge) })
}

func (b *binder) pairs(from []delta.Pair) []Pair {
	out := make([]Pair, len(from))
	for i := range from {
		x := Pair{U: from[i].U, V: from[i].V}
		for j := range from[i].Rels {
			x.Rels = append(x.Rels, b.rel(&from[i].Rels[j]))
		}
		r := &x.Rels[0]
		x.Simple = len(x.Rels) == 1 && !r.Neg && !r.Slow && !b.g.Timed() && (b.labels == 1 || !r.Labels.All && len(r.Labels.List) <= 1) &&
			(r.Dir != dynamic.Either || !b.g.Directed())
		out[i] = x
	}
	return out
}

func (b *binder) watch(w *Watch) {
	b.filters = nil
	w.Timed = w.inTime(b.g)
	w.Allowed, w.Ranges = nil, nil
	for _, l := range w.Plan.Labels {
		w.Allowed = append(w.Allowed, b.classes(l))
		w.Ranges = append(w.Ranges, b.rangesOf(b.classes(l)))
	}
	w.Pairs, w.Inner = b.pairs(w.Plan.Pairs), b.pairs(w.Plan.Inner)
	w.Nests = w.Nests[:0]
	for i := range w.Plan.Nests {
		w.Nests = append(w.Nests, b.nest(w, &w.Plan.Nests[i], w.Ranges, false))
	}
	w.All = b.nest(w, &w.Plan.All, w.Ranges, false)
	w.Every = w.All
	w.All.Exact, w.Every.Exact = len(w.Plan.Choices) == 0, false
	w.Subs = map[*pattern.Pattern]*Sub{}
	for p, s := range w.Plan.Exists {
		x := &Sub{Sub: s, Between: b.pairs(s.Pairs)}
		var ranges [][]dynamic.Range
		for _, v := range p.Vertices {
			x.Allowed = append(x.Allowed, b.classes(v.Label))
			ranges = append(ranges, b.rangesOf(b.classes(v.Label)))
		}
		x.Inside = b.nest(w, &s.Nest, ranges, true)
		for _, v := range s.Around {
			if p.Mode == pattern.Iso && slices.ContainsFunc(x.Allowed[s.Outer:], func(a []bool) bool { return a == nil || !exclude(a, w.Allowed[v]) }) {
				x.Rivals++
			}
		}
		w.Subs[p] = x
	}
	w.Filters = b.filters
	w.VertexKeys = used(w.Plan.VertexKeys, b.g.VertexColumns())
	w.EdgeKeys = used(w.Plan.EdgeKeys, b.g.EdgeColumns())
}

// used reports for each property whether its name is among some.
func used(names []string, of []dynamic.Column) []bool {
	out := make([]bool, len(of))
	for i := range of {
		out[i] = slices.Contains(names, of[i].Name)
	}
	return out
}

// nest binds a nest of a watch, or of a sub-pattern of it.
func (b *binder) nest(w *Watch, from *delta.Nest, ranges [][]dynamic.Range, sub bool) Nest {
	n := Nest{Nest: from, Watch: w, Exact: w.Plan.Shared}
	for l := range from.Levels {
		lv := Level{Level: &from.Levels[l], V: from.Levels[l].Vertex, Apart: from.Levels[l].Apart, Ranges: ranges[from.Levels[l].Vertex]}
		for i := range lv.Backs {
			k := Back{b.rel(&lv.Backs[i].Rel), lv.Backs[i].Of, slices.Index(from.Order, lv.Backs[i].Of)}
			if !k.Neg && slices.Contains(w.Timed, k.Edge) && from.Kind == delta.Edge {
				k.Slow, k.Timed = true, true
			}
			if !k.Neg {
				lv.Pos = append(lv.Pos, k)
			} else if !k.Slow {
				lv.Neg = append(lv.Neg, k)
			}
			if k.Slow {
				lv.Slow = append(lv.Slow, k)
			}
			lv.Dep = max(lv.Dep, k.At)
		}
		lv.All = append(append(lv.All, lv.Pos...), lv.Neg...)
		n.Places = append(n.Places, lv)
	}
	if from.Kind != delta.Inner && from.Kind != delta.Near && from.Kind != delta.Lone && !sub {
		n.alone()
	}
	last := &n.Places[len(n.Places)-1]
	n.Closed = w.Options.CountsOnly && len(n.Places) > from.First && len(last.Checks) == 0
	n.Tail = n.tailOf()
	n.Single = from.Kind == delta.Edge && n.Exact && w.Forward && w.Pairs[from.Pair].Simple
	return n
}

// alone finds the places that are alone.
func (n *Nest) alone() {
	w := n.Watch
	for l := range n.Places {
		lv := &n.Places[l]
		if a := w.Allowed[lv.V]; a != nil && len(lv.Apart) > 0 {
			lv.Apart = slices.DeleteFunc(slices.Clone(lv.Apart), func(u int) bool { return exclude(a, w.Allowed[u]) })
		}
	}
	least := len(n.Places) // the first place that those from l on look at
	for l := len(n.Places) - 1; l >= n.First; l-- {
		lv := &n.Places[l]
		look := func(vs ...int) {
			for _, v := range vs {
				least = min(least, slices.Index(n.Order, v))
			}
		}
		for i := range lv.Backs {
			look(lv.Backs[i].Of)
		}
		look(lv.Above...)
		look(lv.Below...)
		look(lv.Apart...)
		for _, i := range lv.Checks {
			look(w.Plan.Where[i].Vertices...)
		}
		lv.Alone = least >= l
	}
}

// exclude reports whether no class is allowed by both.
func exclude(a, b []bool) bool {
	if b == nil {
		return false
	}
	for c := range a {
		if a[c] && b[c] {
			return false
		}
	}
	return true
}

func (n *Nest) tailOf() Tail {
	k := len(n.Places)
	if k-2 < n.First {
		return NoTail
	}
	a, b := &n.Places[k-2], &n.Places[k-1]
	restricted := slices.Contains(b.Above, a.V) || slices.Contains(b.Below, a.V)
	without := func(vs []int) []int { return slices.DeleteFunc(slices.Clone(vs), func(v int) bool { return v == a.V }) }
	switch {
	case b.Dep == k-2 || len(a.Checks)+len(b.Checks) > 0:
		return NoTail
	case !restricted && slices.Contains(b.Apart, a.V):
		return Distinct
	case !restricted:
		return Free
	case sameBacks(a, b) && sameRanges(a, b) && slices.Equal(a.Above, without(b.Above)) && slices.Equal(a.Below, without(b.Below)) && slices.Equal(a.Apart, without(b.Apart)):
		return Ordered
	}
	return NoTail
}

func sameRanges(a, b *Level) bool {
	return slices.Equal(a.Ranges, b.Ranges) && (a.Ranges == nil) == (b.Ranges == nil)
}

// sameBacks reports whether two levels have the same neighbours before them.
func sameBacks(a, b *Level) bool {
	if len(a.All) != len(b.All) || len(a.Slow)+len(b.Slow) > 0 {
		return false
	}
	for _, x := range a.All {
		if !slices.ContainsFunc(b.All, func(y Back) bool {
			return x.Of == y.Of && x.Dir == y.Dir && x.Neg == y.Neg && x.Labels.All == y.Labels.All && slices.Equal(x.Labels.List, y.Labels.List)
		}) {
			return false
		}
	}
	return true
}

// entry is a nest that a changed edge may concern, the first end of the edge at the first vertex of the anchor, or swapped at the
// second. For an anchor of one vertex this is the first end, or swapped the second.
type Entry struct {
	Nest *Nest
	Swap bool
}

// table leads from changed edges to entries, in the order of their watches. Classes and labels that no pattern tells apart are of one kind.
type Table struct {
	classKind []uint32 // by class
	labelKind []uint32 // by edge label
	classes   uint32   // kinds
	classRep  []dynamic.Class
	labelRep  []dynamic.Label
	lists     [][]Entry // by label kind, kind of the first end, and of the second; nil: there are too many
	mu        sync.Mutex
	some      map[uint64][]Entry // where lists is nil
	groups    [2][]Groups        // as lists, of edges whose first end has the greater number, and of others; empty: MakeGroups was not called
	watches   []*Watch
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

func (t *Table) make(m *Watches) {
	*t = Table{directed: m.g.Directed(), some: map[uint64][]Entry{}}
	var classColumns, labelColumns []func(int) bool
	for _, w := range m.List {
		if w == nil {
			continue
		}
		t.watches = append(t.watches, w)
		for _, a := range w.Allowed {
			if a != nil {
				classColumns = append(classColumns, func(c int) bool { return a[c] })
			}
		}
		for _, ps := range [][]Pair{w.Pairs, w.Inner} {
			for i := range ps {
				for j := range ps[i].Rels {
					if ls := &ps[i].Rels[j].Labels; !ls.All {
						labelColumns = append(labelColumns, func(l int) bool { return ls.Has(dynamic.Label(l)) })
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
		t.lists = make([][]Entry, n)
		for i := range t.lists {
			t.lists[i] = t.entries(uint64(i))
		}
	}
}

// key returns the place of a changed edge in the table.
func (t *Table) key(label dynamic.Label, u, v dynamic.Class) uint64 {
	return (uint64(t.labelKind[label])*uint64(t.classes)+uint64(t.classKind[u]))*uint64(t.classes) + uint64(t.classKind[v])
}

// of returns the entries of a changed edge.
func (t *Table) Of(label dynamic.Label, u, v dynamic.Class) []Entry {
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
func (t *Table) entries(key uint64) (out []Entry) {
	n := uint64(t.classes)
	u, v, label := t.classRep[key/n%n], t.classRep[key%n], t.labelRep[key/n/n]
	for _, w := range t.watches {
		may := func(at int, c dynamic.Class) bool { return w.Allowed[at] == nil || w.Allowed[at][c] }
		for i := range w.Nests {
			x := &w.Nests[i]
			switch x.Kind {
			case delta.Edge, delta.Inner:
				ps := w.Pairs
				if x.Kind == delta.Inner {
					ps = w.Inner
				}
				a, b := x.Order[0], x.Order[1]
				if may(a, u) && may(b, v) && ps[x.Pair].Relevant(label, t.directed, false) {
					out = append(out, Entry{x, false})
				}
				if !x.Turns && may(a, v) && may(b, u) && ps[x.Pair].Relevant(label, t.directed, true) {
					out = append(out, Entry{x, true})
				}
			case delta.Degree, delta.Near:
				if may(x.Order[0], u) {
					out = append(out, Entry{x, false})
				}
				if may(x.Order[0], v) {
					out = append(out, Entry{x, true})
				}
			}
		}
	}
	return out
}

// relevant reports whether a data edge with a label, from u's vertex to v's or swapped the other way, counts for the pair.
func (x *Pair) Relevant(label dynamic.Label, directed, swap bool) bool {
	d := dynamic.Out
	if swap && directed {
		d = dynamic.In
	}
	for i := range x.Rels {
		if r := &x.Rels[i]; (r.Dir == d || r.Dir == dynamic.Either) && r.Labels.Has(label) {
			return true
		}
	}
	return false
}
