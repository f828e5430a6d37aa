package host

import (
	"slices"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan/delta"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// A change inside a part of EXISTS that no path connects to the match may make or break every match. Then all matches of the version before
// are searched for, and all of the version after it, and those that only one of the versions has are emitted. Nothing is kept meanwhile.
//
// Most such changes alter nothing. First the part of EXISTS around the change is searched for: without it, the change does not count. Then, if
// the sub-pattern is closed, it is searched alone, in both versions: many vertices may satisfy it, or none.

// compares reports whether the update may change every match of a watch.
func (s *searcher) compares(w *nest.Watch, events []dynamic.Event) bool {
	s.w = w
	var same []*pattern.Pattern // closed sub-patterns whose answer does not change
	for i := range w.Nests {
		n := &w.Nests[i]
		if !n.Every || n.Sub != nil && slices.Contains(same, n.Sub) || !s.concerns(n, events) {
			continue
		}
		if n.Sub == nil {
			return true
		}
		if before := s.answerAt(s.up.before, n.Sub); before == onlySome || before != s.answerAt(s.up.after, n.Sub) {
			return true
		}
		same = append(same, n.Sub)
	}
	return false
}

// concerns reports whether an update changes something at the anchor of a nest, and the part of EXISTS around it is there.
func (s *searcher) concerns(n *nest.Nest, events []dynamic.Event) bool {
	w, up := n.Watch, &s.up
	return slices.ContainsFunc(events, func(e dynamic.Event) bool {
		before, after := up.many || e.Kind != dynamic.EdgeAdded, up.many || e.Kind != dynamic.EdgeRemoved
		switch e.Kind {
		case dynamic.VertexAdded, dynamic.VertexRemoved:
			return n.Kind == delta.Lone && s.allows(n, 0, e.U)
		case dynamic.VertexMoved:
			return n.Kind == delta.Lone && (s.allows(n, 0, e.U) || s.allows(n, 0, e.V))
		case dynamic.VertexChanged:
			return n.Kind == delta.Near && n.Values && w.VertexKeys[e.Key] && s.around(n, true, true, e.U)
		case dynamic.EdgeChanged:
			if !w.EdgeKeys[e.Key] {
				return false
			}
		}
		switch n.Kind {
		case delta.Near:
			return e.Kind != dynamic.EdgeChanged && (s.around(n, before, after, e.U) || s.around(n, before, after, e.V))
		case delta.Inner:
			x, directed := &w.Inner[n.Pair], s.m.g.Directed()
			return x.Relevant(e.Label, directed, false) && s.around(n, before, after, e.U, e.V) || x.Relevant(e.Label, directed, true) && s.around(n, before, after, e.V, e.U)
		}
		return false
	})
}

// allows reports whether a vertex has the label of a place.
func (s *searcher) allows(n *nest.Nest, l int, v uint32) bool {
	a := n.Watch.Allowed[n.Order[l]]
	return a == nil || a[s.m.g.ClassOf(v)]
}

// around reports whether the part of EXISTS around vertices of the anchor is there, before the update or after it.
func (s *searcher) around(n *nest.Nest, before, after bool, first ...uint32) bool {
	for l, v := range first {
		if !s.allows(n, l, v) {
			return false
		}
	}
	was := s.view
	defer func() { s.view = was }()
	for _, at := range []struct {
		asked bool
		view  dynamic.View
	}{{before, s.up.before}, {after, s.up.after}} {
		if !at.asked {
			continue
		}
		s.view = at.view
		for l, v := range first {
			s.set(l, uint32(n.Places[l].V), v)
		}
		if s.completes(n, len(first)) {
			return true
		}
	}
	return false
}

// completes reports whether there are vertices for the places from l on.
func (s *searcher) completes(n *nest.Nest, l int) bool {
	if l == len(n.Places) {
		return true
	}
	lv := &n.Places[l]
	for _, c := range s.candidates(lv, l) {
		s.set(l, uint32(lv.V), c)
		if s.completes(n, l+1) {
			return true
		}
	}
	return false
}

// every compares all matches of a watch before the update with those after it.
func (s *searcher) every(w *nest.Watch) {
	if s.recording { // a device searches nothing of this
		return
	}
	root := w.Every.Order[0]
	for _, sign := range []int8{-1, 1} {
		view := s.up.before
		if sign > 0 {
			view = s.up.after
		}
		if !w.Options.Emit.Has(sign) {
			continue
		}
		view.Vertices(w.Ranges[root], func(v uint32) bool {
			s.start(&w.Every, view, sign, v)
			if s.steps++; s.steps%s.m.grain.ticks == 0 {
				s.ended = s.ended || s.run.tick()
			}
			return !s.ended
		})
	}
}

// answer is that of a closed EXISTS.
type answer uint8

const (
	forNone  answer = iota // no match satisfies it
	onlySome               // those matches do that leave it the vertices it needs
	forAll
)

// answerAt returns the answer of a closed EXISTS at a version. It looks for choices of the sub-pattern's own vertices that have none in common.
// If there are more of them than vertices of the match may be among them, then each match leaves one of them alone.
func (s *searcher) answerAt(view dynamic.View, p *pattern.Pattern) answer {
	x := s.subs[s.w.ID][p]
	was := s.view
	s.view = view
	defer func() { s.view, x.avoid = was, x.avoid[:0] }()
	outer := x.sub.Outer
	for v := range outer {
		x.a[v] = noVertex
	}
	for found := range x.sub.Rivals + 1 {
		switch {
		case x.level(outer):
			x.avoid = append(x.avoid, x.a[outer:len(p.Vertices)]...)
		case found == 0:
			return forNone
		default:
			return onlySome
		}
	}
	return forAll
}
