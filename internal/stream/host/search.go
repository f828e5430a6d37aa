package host

import (
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// state is what a search is for.
type state struct {
	w     *watch
	view  dynamic.View // the version that is searched
	sign  int8         // of the matches; 0: it differs
	exact bool         // each match that is found is a change
	up    update
}

// searcher is one worker.
type searcher struct {
	m *Matcher
	state
	a     [pattern.MaxVertices]uint32 // the vertices of the partial match
	run   *run
	piece *piece
	ended bool
	steps int

	added, removed []engine.Uint128 // by watch
	n              [2]uint64        // removed and added matches of the nest under way

	frames [pattern.MaxVertices]frame
	tick   uint64
	checks [][]check // by watch and condition
	subs   map[*pattern.Pattern]*subSearch
	seen   map[string]struct{} // matches of the update and watch that several anchors find
	key    []byte
	tmp    []uint32
	same   []uint32
	degree []uint32
	chosen []Edge
}

// check is a condition over the vertices of a match, and the choices of its edges.
type check func(m []uint32, e []uint64) bool

// frame is what a place of the order has during a search.
type frame struct {
	stamp  uint64 // when its vertex was set
	cand   []uint32
	candAt uint64 // the stamp of the place that cand depends on
	buf    []uint32
	lists  [pattern.MaxVertices]list
	more   []list // of places with many backs
}

// list is a neighbour list of an earlier vertex.
type list struct {
	at  uint64 // the stamp of that vertex's place
	l   []uint32
	buf []uint32
}

// update is the update that is searched for.
type update struct {
	seq           uint64
	events        []dynamic.Event
	before, after dynamic.View
	u, v          uint32 // the changed edge
	label         dynamic.Label
	asked, differ bool   // whether the degrees of its ends differ, once asked for
	gone          uint32 // a vertex that the update removes or moves, or noVertex
	come          uint32 // the vertex that it becomes, or a new vertex that is a match by itself
	moved         bool
	many          bool // several edges change
}

const noVertex = ^uint32(0)

func newSearcher(m *Matcher) *searcher {
	return &searcher{m: m, seen: map[string]struct{}{}}
}

// bind brings what depends on watches up to date.
func (s *searcher) bind() {
	s.added = make([]engine.Uint128, len(s.m.watches))
	s.removed = make([]engine.Uint128, len(s.m.watches))
	s.checks = make([][]check, len(s.m.watches))
	s.subs = map[*pattern.Pattern]*subSearch{}
	for _, w := range s.m.watches {
		if w == nil {
			continue
		}
		for p, x := range w.subs {
			s.subs[p] = &subSearch{s: s, sub: x}
		}
		// Add has compiled them before.
		s.checks[w.id], _ = s.conditions(w.plan.Pattern, w.plan.Where)
		for p, x := range w.subs {
			s.subs[p].checks, _ = s.conditions(p, x.Where)
		}
	}
}

// fetch returns the neighbours of x that r asks for.
func (s *searcher) fetch(x uint32, r *rel, within []dynamic.Range, buf *[]uint32) []uint32 {
	switch {
	case r.labels.all:
		return s.view.List(x, r.dir, dynamic.AnyLabel, within, buf)
	case len(r.labels.list) == 0:
		return nil
	case len(r.labels.list) == 1:
		return s.view.List(x, r.dir, r.labels.list[0], within, buf)
	}
	to := (*buf)[:0]
	for _, l := range r.labels.list {
		to = append(to, s.view.List(x, r.dir, l, within, &s.tmp)...)
	}
	slices.Sort(to)
	to = slices.Compact(to)
	*buf = to
	return to
}

// has reports whether a version has an edge that r asks for between x and y.
func has(view dynamic.View, x, y uint32, r *rel) bool {
	if r.labels.all {
		return view.Has(x, y, r.dir, dynamic.AnyLabel)
	}
	for _, l := range r.labels.list {
		if view.Has(x, y, r.dir, l) {
			return true
		}
	}
	return false
}

// holds reports whether a version has, between x and y, what the pair asks for, except for the choices of edges if but is not nil.
func (x *pair) holds(view dynamic.View, u, v uint32, but []int) bool {
	for i := range x.rels {
		r := &x.rels[i]
		if but != nil && r.edge >= 0 && slices.Contains(but, r.edge) {
			continue
		}
		if has(view, u, v, r) == r.neg {
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
func (s *searcher) listOf(lv *level, l, i int) []uint32 {
	b, x := &lv.all[i], s.frames[l].slot(i)
	if now := s.frames[b.at].stamp; x.at != now {
		x.at = now
		x.l = s.fetch(s.a[b.of], &b.rel, lv.ranges, &x.buf)
	}
	return x.l
}

// candidates returns the vertices that fit place l by the edges to earlier ones.
func (s *searcher) candidates(lv *level, l int) []uint32 {
	f := &s.frames[l]
	now := s.frames[lv.dep].stamp
	if f.candAt == now {
		return f.cand
	}
	f.candAt = now
	best := 0
	var base []uint32
	for i := range lv.pos {
		x := s.listOf(lv, l, i)
		if len(x) == 0 {
			f.cand = nil
			return nil
		}
		if i == 0 || len(x) < len(base) {
			best, base = i, x
		}
	}
	if len(lv.all) == 1 {
		f.cand = base
		return base
	}
	if lv.dep == l-1 {
		base = s.within(lv, base)
	}
	out := append(f.buf[:0], base...)
	for i := range lv.all {
		if i == best || len(out) == 0 {
			continue
		}
		out = filter(out, s.listOf(lv, l, i), i >= len(lv.pos))
	}
	f.buf, f.cand = out[:0], out
	return out
}

// filter keeps the elements of x that are, or are not, in y. Both ascend.
func filter(x, y []uint32, not bool) []uint32 {
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
func (s *searcher) within(lv *level, x []uint32) []uint32 {
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
func (s *searcher) passes(lv *level) bool {
	for _, i := range lv.Checks {
		if !s.checks[s.w.id][i](s.a[:], nil) {
			return false
		}
	}
	return true
}

// descend searches from place l on.
func (s *searcher) descend(n *nest, l int) {
	if l == len(n.levels) {
		s.found(n)
		return
	}
	lv := &n.levels[l]
	x := s.candidates(lv, l)
	if len(lv.Above)|len(lv.Below) != 0 {
		x = s.within(lv, x)
	}
	if n.closed && s.exact && l == len(n.levels)-1 {
		k := len(x)
		for _, u := range lv.Apart {
			if i := gallop(x, s.a[u]); i < len(x) && x[i] == s.a[u] {
				k--
			}
		}
		s.n[(s.sign+1)/2] += uint64(k)
		return
	}
	s.each(n, l, x)
}

// each searches from place l on, with the candidates x there.
func (s *searcher) each(n *nest, l int, x []uint32) {
	lv := &n.levels[l]
next:
	for i, c := range x {
		for _, u := range lv.Apart {
			if s.a[u] == c {
				continue next
			}
		}
		s.set(l, uint32(lv.v), c)
		if !s.passes(lv) {
			continue
		}
		s.descend(n, l+1)
		if s.steps++; s.steps%s.m.grain.ticks == 0 {
			s.ended = s.ended || s.run.tick()
			if !s.ended && i+1 < len(x) && (n.Kind == delta.Edge || n.Kind == delta.Vertex) && s.run.wanted() {
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
func (s *searcher) start(n *nest, view dynamic.View, sign int8, first ...uint32) {
	if sign != 0 && !n.w.o.Emit.has(sign) {
		return
	}
	s.w, s.view, s.sign, s.n = n.w, view, sign, [2]uint64{}
	s.exact = n.exact && !(s.up.moved && n.Kind == delta.Vertex && n != &n.w.all)
	for l, x := range first {
		lv := &n.levels[l]
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
		s.set(l, uint32(lv.v), x)
		if !s.passes(lv) {
			return
		}
	}
	s.descend(n, len(first))
	s.count()
}

// resume searches from place l of a nest on, with some candidates there.
func (s *searcher) resume(from state, n *nest, a []uint32, l int, x []uint32) {
	s.state = from
	s.n = [2]uint64{}
	for i := range l {
		s.set(i, uint32(n.levels[i].v), a[n.levels[i].v])
	}
	s.each(n, l, x)
	s.count()
}

// count adds the matches of the nest to those of the batch.
func (s *searcher) count() {
	s.removed[s.w.id] = s.removed[s.w.id].Add64(s.n[0])
	s.added[s.w.id] = s.added[s.w.id].Add64(s.n[1])
}

// found is called with each match that a nest finds.
func (s *searcher) found(n *nest) {
	w := n.w
	m := s.a[:len(w.plan.Pattern.Vertices)]
	switch {
	case s.exact:
		s.emit(m, nil)
		return
	case n == &w.all:
		s.choices(m, nil)
		return
	case s.covered(n, m):
		return
	case s.sign == 0:
		s.distant(m)
		return
	}
	other := s.up.before
	if s.sign < 0 {
		other = s.up.after
	}
	switch same := s.is(other, s.renamed(m), w.plan.Choices); {
	case !same:
		s.choices(m, nil)
	case !s.up.moved && len(w.plan.Choices) > 0:
		s.choices(m, s.changed)
	}
}

// distant emits a match that only one of the two versions has, once. No edge between its vertices changes. It is found from inside EXISTS,
// or from one of many vertices whose degrees change.
func (s *searcher) distant(m []uint32) {
	if s.again(m) {
		return
	}
	before, after := s.is(s.up.before, m, nil), s.is(s.up.after, m, nil)
	if before == after {
		return
	}
	was := s.state
	s.sign, s.view = -1, s.up.before
	if after {
		s.sign, s.view = 1, s.up.after
	}
	if s.w.o.Emit.has(s.sign) {
		s.choices(m, nil)
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
	if !s.up.moved {
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
func (s *searcher) covered(n *nest, m []uint32) bool {
	w, up := n.w, &s.up
	if n.Kind == delta.Vertex {
		x := up.come
		if s.sign < 0 {
			x = up.gone
		}
		return slices.Index(m, x) != n.Order[0]
	}
	for _, x := range m {
		if x == up.gone || x == up.come {
			return true
		}
	}
	if up.many {
		return false
	}
	if len(m) == 1 && slices.ContainsFunc(up.events, func(e dynamic.Event) bool { return e.Kind == dynamic.VertexAdded && e.U == m[0] }) {
		return true
	}
	last := len(w.pairs)
	if n.Kind == delta.Edge {
		last = n.Pair
	}
	for i := range w.pairs[:last] {
		x := &w.pairs[i]
		switch {
		case m[x.u] == up.u && m[x.v] == up.v:
			if x.relevant(up.label, s.m.g.Directed(), false) {
				return true
			}
		case m[x.u] == up.v && m[x.v] == up.u:
			if x.relevant(up.label, s.m.g.Directed(), true) {
				return true
			}
		}
	}
	if n.Kind == delta.Edge || len(w.degrees) == 0 || !up.degrees() {
		return false
	}
	for _, v := range w.degrees {
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
		if a := w.allowed[v]; a != nil && !a[s.m.g.ClassOf(x)] || !view.Exists(x) {
			return false
		}
	}
	for i := range w.pairs {
		x := &w.pairs[i]
		if !x.holds(view, m[x.u], m[x.v], but) {
			return false
		}
	}
	if w.plan.Pattern.Mode == pattern.Iso {
		for i, x := range m {
			if slices.Contains(m[:i], x) {
				return false
			}
		}
	}
	was := s.view
	s.view = view
	ok := true
	for i, x := range w.plan.Where {
		if ok && len(x.Edges) == 0 {
			ok = s.checks[w.id][i](m, nil)
		}
	}
	s.view = was
	return ok
}

// changed reports whether the update adds, or removes, the data edge at the version that is searched.
func (s *searcher) changed(e Edge) bool {
	for i := range s.up.events {
		x := &s.up.events[i]
		if x.Label != e.Label || (x.Kind != dynamic.EdgeAdded || s.sign < 0) && (x.Kind != dynamic.EdgeRemoved || s.sign > 0) {
			continue
		}
		if x.U == e.From && x.V == e.To || !s.m.g.Directed() && x.U == e.To && x.V == e.From {
			return true
		}
	}
	return false
}

// choices emits a match once for each choice of its data edges. If changed is not nil one of them must be changed.
func (s *searcher) choices(m []uint32, changed func(Edge) bool) {
	s.chosen = s.chosen[:0]
	s.choose(s.w.plan.Pattern, s.w.pairs, s.w.plan.Choices, s.w.plan.Where, s.checks[s.w.id], m, changed == nil, changed, func() bool {
		s.emit(m, s.chosen)
		return true
	})
}

// choose calls yield with each choice of the data edges of choices from len(s.chosen) on in s.chosen, until it returns false.
func (s *searcher) choose(p *pattern.Pattern, pairs []pair, choices []int, where []delta.Condition, checks []check, m []uint32, ok bool, changed func(Edge) bool, yield func() bool) bool {
	from, k := s.chosen, len(s.chosen)
	if k == len(choices) {
		return !ok || !s.edgesPass(choices, where, checks, m) || yield()
	}
	e := choices[k]
	for i := range pairs {
		x := &pairs[i]
		for j := range x.rels {
			r := &x.rels[j]
			if r.edge != e {
				continue
			}
			for _, d := range []dynamic.Direction{dynamic.Out, dynamic.In} {
				if r.dir != d && r.dir != dynamic.Either {
					continue
				}
				if d == dynamic.In && !s.m.g.Directed() {
					continue
				}
				ls := s.view.Labels(m[x.u], d, nil)
				for _, l := range ls {
					if !r.labels.has(l) || !s.view.Has(m[x.u], m[x.v], d, l) {
						continue
					}
					to := Edge{m[x.u], m[x.v], l}
					if d == dynamic.In || !s.m.g.Directed() && to.From > to.To {
						to.From, to.To = to.To, to.From
					}
					if p.Mode == pattern.Trail && slices.Contains(from, to) {
						continue
					}
					s.chosen = append(from, to)
					if !s.choose(p, pairs, choices, where, checks, m, ok || changed(to), changed, yield) {
						s.chosen = from
						return false
					}
				}
			}
		}
	}
	s.chosen = from
	return true
}

// edgesPass reports whether the chosen edges pass the conditions on edges.
func (s *searcher) edgesPass(choices []int, where []delta.Condition, checks []check, m []uint32) bool {
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
		if !checks[i](m, ids) {
			return false
		}
	}
	return true
}

// emit counts a match, and lists it.
func (s *searcher) emit(m []uint32, edges []Edge) {
	s.n[(s.sign+1)/2]++
	if s.run.sink != nil && !s.w.o.CountsOnly {
		s.piece.out.add(s, m, edges)
	}
}
