package host

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// state is what a search is for.
type state struct {
	w    *nest.Watch
	view dynamic.View // the version that is searched
	sign int8         // of the matches; 0: it differs
	// during are the times that edges may have which ORDERED or WITHIN bounds.
	during dynamic.Span
	exact  bool // each match that is found is a change
	up     update
}

// searcher is one worker.
type searcher struct {
	m *Matcher
	state
	a     [pattern.MaxVertices]uint32 // the vertices of the partial match
	run   *run
	piece *piece // the piece of work that it does
	ended bool
	steps int

	added, removed []engine.Uint128  // by watch
	touched        []int             // watches of which one is not 0
	whole          int               // counts under way that are not shared with other workers
	n              [2]engine.Uint128 // removed and added matches of the nest under way

	frames      [pattern.MaxVertices]frame
	tick        uint64
	checks      [][]check                         // by watch and condition
	filters     [][][]check                       // by watch and place of conditions on single edges
	orders      []*timing                         // by watch
	subs        []map[*pattern.Pattern]*subSearch // by watch
	edges       []nest.Edge                       // the edges that conditions are asked about: e[i] of a check is a place here
	between     []dynamic.Edge
	populations map[*dynamic.Range]*population // by the first of their ranges; nil: of all vertices
	single      [1]nest.Edge
	seen        map[string]struct{} // matches of the update and watch that several anchors find
	key         []byte
	tmp         []uint32
	same        []uint32
	degree      []uint32
	chosen      []nest.Edge

	device    *asked // nil: the cores do all
	task      int    // of the device: the next one of the update
	recording bool   // tasks are written down, and nothing is searched
}

// check is a condition over the vertices of a match, and the choices of its edges.
type check func(m []uint32, e []uint64) bool

// frame is what a place of the order has during a search.
type frame struct {
	stamp  uint64 // when its vertex was set
	cand   []uint32
	candAt uint64 // the stamp of the place that cand depends on
	buf    []uint32
	near   [pattern.MaxVertices]([]uint32) // neighbours in a window of time
	lists  [pattern.MaxVertices]list
	more   []list // of places with many backs
	part   struct {
		at uint64         // the stamp of the first place
		n  engine.Uint128 // of what fits the places from here on
	}
}

// list is a neighbour list of an earlier vertex.
type list struct {
	at  uint64 // the stamp of that vertex's place
	l   []uint32
	buf []uint32
}

// update is the update that is searched for.
type update struct {
	seq, version  uint64
	events        []dynamic.Event
	before, after dynamic.View
	u, v          uint32 // the changed edge
	label         dynamic.Label
	asked, differ bool     // whether the degrees of its ends differ, once asked for
	gone          uint32   // a vertex that the update removes or moves, or noVertex
	come          uint32   // the vertex that it becomes, or the one of fresh that is searched from
	fresh         []uint32 // new vertices, for a pattern that has a vertex without edges
	same          bool     // the versions may have the same match, with gone or come
	many          bool     // several edges change
}

const noVertex = ^uint32(0)

func newSearcher(m *Matcher) *searcher {
	s := &searcher{m: m, run: &m.run, seen: map[string]struct{}{}, state: state{during: dynamic.Always}}
	if m.device.Device != nil {
		s.device = &m.device
	}
	return s
}

// bind brings what depends on watches up to date.
func (s *searcher) bind() (err error) {
	n := len(s.m.List)
	for len(s.added) < n { // counts of a batch stay
		s.added, s.removed = append(s.added, engine.Uint128{}), append(s.removed, engine.Uint128{})
	}
	s.checks, s.filters, s.orders = make([][]check, n), make([][][]check, n), make([]*timing, n)
	s.subs = make([]map[*pattern.Pattern]*subSearch, n)
	s.populations = map[*dynamic.Range]*population{}
	for _, w := range s.m.List {
		if w == nil {
			continue
		}
		subs := map[*pattern.Pattern]*subSearch{} // of the watch: others may have the same pattern
		for p, x := range w.Subs {
			subs[p] = &subSearch{s: s, sub: x}
		}
		s.subs[w.ID] = subs
		if s.checks[w.ID], err = s.conditions(w.Plan.Where, subs); err != nil {
			return err
		}
		for _, where := range w.Filters {
			fs, err := s.onEdge(where, subs)
			if err != nil {
				return err
			}
			s.filters[w.ID] = append(s.filters[w.ID], fs)
		}
		if s.orders[w.ID], err = s.timing(w.Plan.Pattern, w.Plan.Choices); err != nil {
			return err
		}
		for p, x := range w.Subs {
			if subs[p].checks, err = s.conditions(x.Where, subs); err != nil {
				return err
			}
			if subs[p].order, err = s.timing(p, x.Choices); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetch returns the neighbours of x that r asks for.
func (s *searcher) fetch(x uint32, r *nest.Rel, within []dynamic.Range, buf *[]uint32) []uint32 {
	switch {
	case r.Labels.All:
		return s.view.List(x, r.Dir, dynamic.AnyLabel, within, buf)
	case len(r.Labels.List) == 0:
		return nil
	case len(r.Labels.List) == 1:
		return s.view.List(x, r.Dir, r.Labels.List[0], within, buf)
	}
	to := (*buf)[:0]
	for _, l := range r.Labels.List {
		to = append(to, s.view.List(x, r.Dir, l, within, &s.tmp)...)
	}
	slices.Sort(to)
	to = slices.Compact(to)
	*buf = to
	return to
}

// has reports whether a version has an edge that r asks for between x and y.
func (s *searcher) has(view dynamic.View, x, y uint32, r *nest.Rel) bool {
	switch {
	case r.Slow:
		during := dynamic.Always
		if r.Timed {
			during = s.during
		}
		buf := view.Edges(x, y, r.Dir, dynamic.AnyLabel, during, s.between[:0])
		s.between = buf
		for i := range buf {
			if s.accepts(view, r, &buf[i]) {
				return true
			}
		}
		return false
	case r.Labels.All:
		return view.Has(x, y, r.Dir, dynamic.AnyLabel)
	}
	for _, l := range r.Labels.List {
		if view.Has(x, y, r.Dir, l) {
			return true
		}
	}
	return false
}

// accepts reports whether r is about a data edge, by its label and conditions.
func (s *searcher) accepts(view dynamic.View, r *nest.Rel, e *dynamic.Edge) bool {
	if !r.Labels.Has(e.Label) {
		return false
	}
	for i := range r.Unless {
		if s.accepts(view, &r.Unless[i], e) {
			return false
		}
	}
	if r.Filter == 0 {
		return true
	}
	was, edges := s.view, s.edges
	s.single[0] = nest.Edge{From: e.U, To: e.V, Label: e.Label, ID: e.ID, Time: e.Time}
	s.view, s.edges = view, s.single[:]
	ok := true
	for _, f := range s.filters[s.w.ID][r.Filter-1] {
		ok = ok && f(nil, firstEdge)
	}
	s.view, s.edges = was, edges
	return ok
}

// firstEdge is what conditions on a single edge are asked about.
var firstEdge = []uint64{0}

// holds reports whether a version has, between u and v, what the pair asks for, except for the choices of edges if but is not nil.
func (s *searcher) holds(x *nest.Pair, view dynamic.View, u, v uint32, but []int) bool {
	for i := range x.Rels {
		r := &x.Rels[i]
		if but != nil && r.Edge >= 0 && slices.Contains(but, r.Edge) {
			continue
		}
		if s.has(view, u, v, r) == r.Neg {
			return false
		}
	}
	return true
}

// slot returns the list of a place's back.
func (f *frame) slot(i int) *list {
	if i < len(f.lists) {
		return &f.lists[i]
	}
	for len(f.more) <= i-len(f.lists) {
		f.more = append(f.more, list{})
	}
	return &f.more[i-len(f.lists)]
}

// listOf returns the list of back i of place l.
func (s *searcher) listOf(lv *nest.Level, l, i int) []uint32 {
	b, x := &lv.All[i], s.frames[l].slot(i)
	if now := s.frames[b.At].stamp; x.at != now {
		x.at = now
		x.l = s.fetch(s.a[b.Of], &b.Rel, lv.Ranges, &x.buf)
	}
	return x.l
}

// candidates returns the vertices that fit place l by the edges to earlier ones.
func (s *searcher) candidates(lv *nest.Level, l int) []uint32 {
	f := &s.frames[l]
	now := s.frames[lv.Dep].stamp
	if f.candAt == now {
		return f.cand
	}
	f.candAt = now
	best, base, timed := s.inTime(lv, f)
	some := timed
	if len(lv.Pos) == 0 { // the first vertex of a part
		best, base = -1, s.everyVertex(lv.Ranges)
	}
	for i := range lv.Pos {
		if timed && lv.Pos[i].Timed { // single edges are looked at below
			continue
		}
		x := s.listOf(lv, l, i)
		if len(x) == 0 {
			f.cand = nil
			return nil
		}
		if !some || len(x) < len(base) {
			best, base, some = i, x, true
		}
	}
	if len(lv.All) == len(lv.Pos) && len(lv.Pos) <= 1 && len(lv.Slow) == 0 {
		f.cand = base
		return base
	}
	if lv.Dep == l-1 {
		base = s.within(lv, base)
	}
	out := append(f.buf[:0], base...)
	for i := range lv.All {
		if i == best || len(out) == 0 || timed && lv.All[i].Timed {
			continue
		}
		out = filter(out, s.listOf(lv, l, i), i >= len(lv.Pos))
	}
	for i := range lv.Slow {
		b, n := &lv.Slow[i], 0
		for _, c := range out {
			if s.has(s.view, s.a[b.Of], c, &b.Rel) != b.Neg {
				out[n] = c
				n++
			}
		}
		out = out[:n]
	}
	f.buf, f.cand = out[:0], out
	return out
}

// population is the vertices of some ranges.
type population struct {
	list []uint32
	at   uint64 // the version that made them so
	some bool   // they were looked for
}

// everyVertex returns the vertices in some ranges, of which nil means all. The result is valid until a version of other vertices is asked.
func (s *searcher) everyVertex(within []dynamic.Range) []uint32 {
	var key *dynamic.Range
	switch {
	case len(within) > 0:
		key = &within[0]
	case within != nil:
		return nil
	}
	x := s.populations[key]
	if x == nil {
		x = &population{}
		s.populations[key] = x
	}
	if at := s.view.VertexVersion(); !x.some || x.at != at {
		x.some, x.at, x.list = true, at, x.list[:0]
		s.view.Vertices(within, func(v uint32) bool {
			x.list = append(x.list, v)
			return true
		})
	}
	return x.list
}

// inTime returns the neighbours of an earlier vertex, which a place has an edge to, along edges in the window of time, and which of lv.Pos it is.
// ok is false if no list of neighbours is much longer.
func (s *searcher) inTime(lv *nest.Level, f *frame) (at int, base []uint32, ok bool) {
	if s.during == dynamic.Always {
		return 0, nil, false
	}
	for i := range lv.Pos {
		b := &lv.Pos[i]
		if !b.Timed {
			continue
		}
		label := dynamic.AnyLabel
		if !b.Labels.All && len(b.Labels.List) == 1 {
			label = b.Labels.List[0]
		}
		most := s.view.Len(s.a[b.Of], b.Dir, label, nil, &s.tmp) / s.m.grain.inTime
		if ok {
			most = min(most, len(base)-1)
		}
		if l, few := s.view.Near(s.a[b.Of], b.Dir, label, lv.Ranges, s.during, most, &f.near[i%len(f.near)]); few {
			at, base, ok = i, l, true
		}
	}
	return at, base, ok
}

// filter keeps the elements of x that are, or are not, in y. Both ascend.
func filter(x, y []uint32, not bool) []uint32 {
	if len(x) >= longList && len(y) < 4*len(x) {
		return merged(x, y, not)
	}
	n := 0
	for _, c := range x {
		y = y[gallop(y, c):]
		if found := len(y) > 0 && y[0] == c; found != not {
			x[n] = c
			n++
		}
	}
	return x[:n]
}

// longList is the length from which on lists of about equal length are merged. The processor learns the branches of shorter ones.
const longList = 128

// merged is filter for long lists of about equal length. It has no branches that depend on elements, because half of them would be guessed wrong.
func merged(x, y []uint32, not bool) []uint32 {
	keep := uint64(0) // elements of x that are less than those of y
	if not {
		keep = 1
	}
	n, i, j := uint64(0), uint64(0), uint64(0)
	for i < uint64(len(x)) && j < uint64(len(y)) {
		a, b := uint64(x[i]), uint64(y[j])
		x[n] = uint32(a)
		_, less := bits.Sub64(a, b, 0)
		_, more := bits.Sub64(b, a, 0)
		n += less&keep | (1-less-more)&^keep
		i += 1 - more
		j += 1 - less
	}
	if not {
		n += uint64(copy(x[n:], x[i:]))
	}
	return x[:n]
}

// gallop returns the place of the first element of y that is at least c.
func gallop(y []uint32, c uint32) int {
	if len(y) == 0 || y[0] >= c {
		return 0
	}
	lo, hi := 0, 1 // y[lo] < c
	for hi < len(y) && y[hi] < c {
		lo, hi = hi, 2*hi
	}
	hi = min(hi, len(y))
	for lo+1 < hi {
		if mid := int(uint(lo+hi) >> 1); y[mid] < c {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// within is the part of a list that the restrictions of a place allow.
func (s *searcher) within(lv *nest.Level, x []uint32) []uint32 {
	for _, u := range lv.Above {
		x = x[gallop(x, s.a[u]+1):]
	}
	for _, u := range lv.Below {
		c := s.a[u]
		x = x[:sort.Search(len(x), func(i int) bool { return x[i] >= c })]
	}
	return x
}

// set puts a vertex at a place.
func (s *searcher) set(l int, v, x uint32) {
	s.a[v] = x
	s.tick++
	s.frames[l].stamp = s.tick
}

// passes reports whether the vertices up to place l pass the conditions that are known there.
func (s *searcher) passes(lv *nest.Level) bool {
	for _, i := range lv.Checks {
		if !s.checks[s.w.ID][i](s.a[:], nil) {
			return false
		}
	}
	return true
}

// descend searches from place l on.
func (s *searcher) descend(n *nest.Nest, l int) {
	if l == len(n.Places) {
		s.found(n)
		return
	}
	lv := &n.Places[l]
	if lv.Alone && s.exact && s.counts() {
		s.part(n, l)
		return
	}
	s.place(n, l)
}

// counts reports whether the matches of the watch are counted and not listed.
func (s *searcher) counts() bool { return s.countsOf(s.w) }

func (s *searcher) countsOf(w *nest.Watch) bool { return s.run.sink == nil || w.Options.CountsOnly }

// part counts what fits the places from l on, which do not depend on those before. It does so once for all partial matches of a nest.
func (s *searcher) part(n *nest.Nest, l int) {
	x, start := &s.frames[l].part, s.frames[0].stamp
	if x.at != start {
		was, k := s.n, (s.sign+1)/2
		s.n[k] = engine.Uint128{}
		s.whole++
		s.place(n, l)
		s.whole--
		x.at, x.n = start, s.n[k]
		s.n = was
		if s.ended {
			return
		}
	}
	k := (s.sign + 1) / 2
	s.n[k] = s.n[k].Add(x.n)
}

// place searches from place l on.
func (s *searcher) place(n *nest.Nest, l int) {
	lv := &n.Places[l]
	x := s.candidates(lv, l)
	if len(lv.Above)|len(lv.Below) != 0 {
		x = s.within(lv, x)
	}
	if n.Closed && s.exact {
		switch {
		case l == len(n.Places)-1:
			s.add(uint64(s.size(lv, x, -1)))
			return
		case l == len(n.Places)-2 && n.Tail != nest.NoTail:
			s.pairs(n, l, x)
			return
		}
	}
	s.each(n, l, x)
}

// size returns the number of the elements of x that are not the vertices which place l must differ from, except for one of them.
func (s *searcher) size(lv *nest.Level, x []uint32, but int) int {
	k := len(x)
	for _, u := range lv.Apart {
		if u == but {
			continue
		}
		if i := gallop(x, s.a[u]); i < len(x) && x[i] == s.a[u] {
			k--
		}
	}
	return k
}

// pairs counts the choices for the last two places, from place l on, by the sizes of their sets.
func (s *searcher) pairs(n *nest.Nest, l int, x []uint32) {
	lv, last := &n.Places[l], &n.Places[l+1]
	k := uint64(s.size(lv, x, -1))
	if n.Tail == nest.Ordered {
		if k > 0 {
			s.add(k * (k - 1) / 2)
		}
		return
	}
	if k == 0 {
		return
	}
	y := s.candidates(last, l+1)
	if len(last.Above)|len(last.Below) != 0 {
		y = s.within(last, y)
	}
	all := k * uint64(s.size(last, y, lv.V))
	if n.Tail == nest.Distinct {
		all -= uint64(s.common(lv, last, x, y))
	}
	s.add(all)
}

// common returns the number of vertices that both of the last two places may have.
func (s *searcher) common(lv, last *nest.Level, x, y []uint32) (k int) {
	if len(x) > len(y) {
		x, y = y, x
	}
next:
	for _, c := range x {
		if y = y[gallop(y, c):]; len(y) == 0 {
			break
		}
		if y[0] != c {
			continue
		}
		for _, at := range []*nest.Level{lv, last} {
			for _, u := range at.Apart {
				if u != lv.V && s.a[u] == c {
					continue next
				}
			}
		}
		k++
	}
	return k
}

// add counts matches.
func (s *searcher) add(k uint64) { s.n[(s.sign+1)/2] = s.n[(s.sign+1)/2].Add64(k) }

// each searches from place l on, with the candidates x there.
func (s *searcher) each(n *nest.Nest, l int, x []uint32) {
	lv := &n.Places[l]
next:
	for i, c := range x {
		for _, u := range lv.Apart {
			if s.a[u] == c {
				continue next
			}
		}
		s.set(l, uint32(lv.V), c)
		if !s.passes(lv) {
			continue
		}
		s.descend(n, l+1)
		if s.steps++; s.steps%s.m.grain.ticks == 0 {
			s.ended = s.ended || s.run.tick()
			if s.whole == 0 && !s.ended && i+1 < len(x) && (n.Kind == delta.Edge || n.Kind == delta.Vertex) && s.run.wanted() {
				s.run.split(s, n, l, x[i+1:])
				return
			}
		}
		if s.ended {
			return
		}
	}
}

// start searches a nest from vertices of its anchor, which fit their labels and the pair that they are at.
func (s *searcher) start(n *nest.Nest, view dynamic.View, sign int8, first ...uint32) {
	if sign != 0 && n != &n.Watch.All && !n.Watch.Options.Emit.Has(sign) {
		return
	}
	s.w, s.view, s.sign, s.n = n.Watch, view, sign, [2]engine.Uint128{}
	s.exact = n.Exact && (n == &n.Watch.All || !(s.up.same && n.Kind == delta.Vertex) && len(s.up.fresh) == 0)
	for l, x := range first {
		lv := &n.Places[l]
		for _, u := range lv.Above {
			if x <= s.a[u] {
				return
			}
		}
		for _, u := range lv.Below {
			if x >= s.a[u] {
				return
			}
		}
		for _, u := range lv.Apart {
			if x == s.a[u] {
				return
			}
		}
		s.set(l, uint32(lv.V), x)
		if !s.passes(lv) {
			return
		}
	}
	if s.device != nil && n.ForDevice() {
		s.onDevice(n)
	} else if !s.recording {
		s.descend(n, len(first))
	}
	s.count()
}

// resume searches from place l of a nest on, with some candidates there.
func (s *searcher) resume(from state, n *nest.Nest, a []uint32, l int, x []uint32) {
	s.state = from
	s.n = [2]engine.Uint128{}
	for i := range l {
		s.set(i, uint32(n.Places[i].V), a[n.Places[i].V])
	}
	s.each(n, l, x)
	s.count()
	s.during = dynamic.Always
}

// count adds the matches of the nest to those of the batch.
func (s *searcher) count() {
	if s.n == [2]engine.Uint128{} {
		return
	}
	id := s.w.ID
	if s.added[id].IsZero() && s.removed[id].IsZero() {
		s.touched = append(s.touched, id)
	}
	s.removed[id] = s.removed[id].Add(s.n[0])
	s.added[id] = s.added[id].Add(s.n[1])
}

// found is called with each match that a nest finds.
func (s *searcher) found(n *nest.Nest) {
	w := n.Watch
	m := s.a[:len(w.Plan.Pattern.Vertices)]
	switch {
	case s.exact:
		s.emit(m, nil)
		return
	case n == &w.All:
		s.choices(m, nil)
		return
	case n != &w.Every && s.covered(n, m):
		return
	case s.sign == 0:
		s.distant(m)
		return
	}
	s.differ(m)
}

// differ emits a match of the version that is searched, for each choice of its edges that the other version does not have.
func (s *searcher) differ(m []uint32) {
	other := s.up.before
	if s.sign < 0 {
		other = s.up.after
	}
	there := s.renamed(m)
	switch same := s.is(other, there, s.w.Plan.Choices); {
	case !same:
		s.choices(m, nil)
	case len(s.w.Plan.Choices) > 0:
		// A copy, because asking about choices may rename others.
		there = slices.Clone(there)
		s.choices(m, func() bool { return s.chosenIn(other, m, there) })
	}
}

// chosenIn reports whether the chosen edges, of a match that the other version has as there, fit there too.
func (s *searcher) chosenIn(other dynamic.View, m, there []uint32) bool {
	w := s.w
	chosen := make([]nest.Edge, len(s.chosen))
	for k, e := range s.chosen {
		from, to := e.From, e.To
		for v, x := range m {
			if x == e.From {
				from = there[v]
			}
			if x == e.To {
				to = there[v]
			}
		}
		found := other.Edges(from, to, dynamic.Out, e.Label, dynamic.Span{First: e.Time, Last: e.Time}, nil)
		if len(found) == 0 || !s.acceptsChoice(other, w.Plan.Choices[k], w.Pairs, &found[0]) {
			return false
		}
		chosen[k] = s.edgeOf(&found[0])
	}
	was, edges := s.view, s.chosen
	s.view, s.chosen = other, chosen
	ok := s.edgesPass(w.Plan.Choices, w.Plan.Where, s.checks[w.ID], s.orders[w.ID], there)
	s.view, s.chosen = was, edges
	return ok
}

// acceptsChoice reports whether the pattern edge accepts a data edge of a version, whatever its ends.
func (s *searcher) acceptsChoice(view dynamic.View, edge int, pairs []nest.Pair, e *dynamic.Edge) bool {
	for i := range pairs {
		for j := range pairs[i].Rels {
			if r := &pairs[i].Rels[j]; r.Edge == edge {
				return s.accepts(view, r, e)
			}
		}
	}
	return false
}

// edgeOf returns a data edge with the ends of an undirected one ascending.
func (s *searcher) edgeOf(e *dynamic.Edge) nest.Edge {
	to := nest.Edge{From: e.U, To: e.V, Label: e.Label, ID: e.ID, Time: e.Time}
	if !s.m.g.Directed() && to.From > to.To {
		to.From, to.To = to.To, to.From
	}
	return to
}

// distant emits a match that only one of the two versions has, once. No edge between its vertices changes. It is found from inside EXISTS,
// or from one of many vertices whose degrees change.
func (s *searcher) distant(m []uint32) {
	if s.again(m) {
		return
	}
	m = slices.Clone(m)
	was := s.state
	for _, sign := range []int8{-1, 1} {
		s.sign, s.view = sign, s.up.before
		if sign > 0 {
			s.view = s.up.after
		}
		if s.w.Options.Emit.Has(sign) && s.is(s.view, m, s.w.Plan.Choices) {
			s.differ(m)
		}
	}
	s.state = was
}

// again reports whether distant had the match before.
func (s *searcher) again(m []uint32) bool {
	s.key = s.key[:0]
	for _, x := range m {
		s.key = append(s.key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	if _, is := s.seen[string(s.key)]; is {
		return true
	}
	s.seen[string(s.key)] = struct{}{}
	return false
}

// renamed returns the match as the other version calls its vertices. The result is valid until the next call.
func (s *searcher) renamed(m []uint32) []uint32 {
	if s.up.gone == noVertex || s.up.come == noVertex {
		return m
	}
	from, to := s.up.gone, s.up.come
	if s.sign > 0 {
		from, to = to, from
	}
	s.same = append(s.same[:0], m...)
	for i, x := range s.same {
		if x == from {
			s.same[i] = to
		}
	}
	return s.same
}

// covered reports whether an anchor before that of n finds the match too.
func (s *searcher) covered(n *nest.Nest, m []uint32) bool {
	w, up := n.Watch, &s.up
	if n.Kind == delta.Vertex {
		x := up.come
		if s.sign < 0 {
			x = up.gone
		}
		if slices.Index(m, x) != n.Order[0] {
			return true
		}
		for _, other := range up.fresh {
			if other == x {
				break
			}
			if slices.Contains(m, other) {
				return true
			}
		}
		return false
	}
	for _, x := range m {
		if x == up.gone || x == up.come || slices.Contains(up.fresh, x) {
			return true
		}
	}
	if up.many || up.u == noVertex { // no edge changes alone
		return false
	}
	last := len(w.Pairs)
	if n.Kind == delta.Edge {
		last = n.Pair
	}
	for i := range w.Pairs[:last] {
		x := &w.Pairs[i]
		switch {
		case m[x.U] == up.u && m[x.V] == up.v:
			if x.Relevant(up.label, s.m.g.Directed(), false) {
				return true
			}
		case m[x.U] == up.v && m[x.V] == up.u:
			if x.Relevant(up.label, s.m.g.Directed(), true) {
				return true
			}
		}
	}
	if n.Kind == delta.Edge || len(w.Degrees) == 0 || !up.degrees() {
		return false
	}
	for _, v := range w.Degrees {
		if n.Kind == delta.Degree && v == n.Order[0] {
			return false
		}
		if m[v] == up.u || m[v] == up.v {
			return true
		}
	}
	return false
}

// is reports whether m is a match at a version, except for the choices of edges if but is not nil.
func (s *searcher) is(view dynamic.View, m []uint32, but []int) bool {
	w := s.w
	for v, x := range m {
		if a := w.Allowed[v]; a != nil && !a[s.m.g.ClassOf(x)] || !view.Exists(x) {
			return false
		}
	}
	for i := range w.Pairs {
		x := &w.Pairs[i]
		if !s.holds(x, view, m[x.U], m[x.V], but) {
			return false
		}
	}
	if w.Plan.Pattern.Mode == pattern.Iso {
		for i, x := range m {
			if slices.Contains(m[:i], x) {
				return false
			}
		}
	}
	was := s.view
	s.view = view
	ok := true
	for i, x := range w.Plan.Where {
		if ok && len(x.Edges) == 0 {
			ok = s.checks[w.ID][i](m, nil)
		}
	}
	s.view = was
	return ok
}

// choices emits a match once for each choice of its data edges, except for those of which same, if it is not nil, reports true.
func (s *searcher) choices(m []uint32, same func() bool) {
	w := s.w
	if len(w.Plan.Choices) == 0 {
		s.emit(m, nil)
		return
	}
	s.chosen = s.chosen[:0]
	s.choose(w.Plan.Pattern, w.Pairs, w.Plan.Choices, m, func() bool {
		if s.edgesPass(w.Plan.Choices, w.Plan.Where, s.checks[w.ID], s.orders[w.ID], m) && (same == nil || !same()) {
			s.emit(m, s.chosen)
		}
		return true
	})
}

// choose calls yield with each choice of the data edges from len(s.chosen) on, in s.chosen, until it returns false.
func (s *searcher) choose(p *pattern.Pattern, pairs []nest.Pair, choices []int, m []uint32, yield func() bool) bool {
	from, k := s.chosen, len(s.chosen)
	if k == len(choices) {
		return yield()
	}
	defer func() { s.chosen = from }()
	for i := range pairs {
		x := &pairs[i]
		for j := range x.Rels {
			r := &x.Rels[j]
			if r.Edge != choices[k] {
				continue
			}
			for _, e := range s.view.Edges(m[x.U], m[x.V], r.Dir, dynamic.AnyLabel, s.near(choices[k]), nil) {
				to := s.edgeOf(&e)
				if p.Mode == pattern.Trail && slices.Contains(from, to) || !s.accepts(s.view, r, &e) {
					continue
				}
				s.chosen = append(from, to)
				if !s.choose(p, pairs, choices, m, yield) {
					return false
				}
			}
		}
	}
	return true
}

// near returns the times that the data edge of a pattern edge may have, next to those that are chosen.
func (s *searcher) near(edge int) dynamic.Span {
	w := s.w
	if !slices.Contains(w.Timed, edge) {
		return dynamic.Always
	}
	during, order := s.during, s.orders[w.ID]
	turn := order.turn(edge, w.Plan.Choices)
	for k, e := range s.chosen {
		if !slices.Contains(w.Timed, w.Plan.Choices[k]) {
			continue
		}
		near := order.around(e.Time)
		switch {
		case !order.ordered:
		case order.turn(w.Plan.Choices[k], w.Plan.Choices) < turn:
			near.First = e.Time // itself too: times may be the largest there are
		default:
			near.Last = e.Time
		}
		during.First, during.Last = max(during.First, near.First), min(during.Last, near.Last)
	}
	return during
}

// edgesPass reports whether the chosen edges pass the conditions on edges, and the order in time.
func (s *searcher) edgesPass(choices []int, where []delta.Condition, checks []check, order *timing, m []uint32) bool {
	if order != nil && !order.passes(s) {
		return false
	}
	var ids []uint64
	for i, x := range where {
		if len(x.Edges) == 0 {
			continue
		}
		if ids == nil { // the same number for the same data edge
			ids = make([]uint64, slices.Max(choices)+1)
			for k, e := range choices {
				ids[e] = uint64(slices.Index(s.chosen, s.chosen[k]))
			}
		}
		was := s.edges
		s.edges = s.chosen
		ok := checks[i](m, ids)
		s.edges = was
		if !ok {
			return false
		}
	}
	return true
}

// emit counts a match, and lists it.
func (s *searcher) emit(m []uint32, edges []nest.Edge) {
	s.add(1)
	if !s.counts() {
		s.piece.out.add(s, m, edges)
	}
}
