package oracle

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Match is one embedding: the data vertex of each pattern vertex, and the data
// edge of each edge in Choices.
type Match struct {
	Vertices []uint32
	Edges    []uint64
}

// Choices are the pattern edges of which each data edge makes an embedding of
// its own: named edges, and every positive edge under trail.
func Choices(p *pattern.Pattern) []int {
	var out []int
	for i := range p.Edges {
		if e := &p.Edges[i]; !e.Negated && (p.Mode == pattern.Trail || e.Name != "") {
			out = append(out, i)
		}
	}
	return out
}

// Embeddings calls yield with each embedding of p in g until it returns false.
// The slices of a Match belong to the search.
func Embeddings(ctx context.Context, g *graph.Graph, p *pattern.Pattern, yield func(Match) bool) error {
	s := newSearch(ctx, newWorld(ctx, g), p, yield)
	if ctx.Err() == nil {
		s.vertex(0)
	}
	return ctx.Err()
}

// search is one backtracking search.
type search struct {
	ctx     context.Context
	w       *world
	p       *pattern.Pattern
	yield   func(Match) bool
	order   []int        // pattern vertices as they are assigned
	bound   map[int]bool // pattern vertices that are assigned
	m       []uint32
	choices []int
	chosen  map[int]*edge // by pattern edge
	steps   int
	stopped bool
}

func newSearch(ctx context.Context, w *world, p *pattern.Pattern, yield func(Match) bool) *search {
	s := &search{
		ctx: ctx, w: w, p: p, yield: yield,
		bound: map[int]bool{}, m: make([]uint32, len(p.Vertices)),
		choices: Choices(p), chosen: map[int]*edge{},
	}
	s.order = connectedOrder(p)
	return s
}

// connectedOrder puts each vertex after a neighbour of it where it can.
func connectedOrder(p *pattern.Pattern) []int {
	var order []int
	in := map[int]bool{}
	take := func(v int) { in[v] = true; order = append(order, v) }
	for len(order) < len(p.Vertices) {
		next := -1
		for _, e := range p.Edges {
			switch {
			case e.Negated:
			case in[e.From] && !in[e.To]:
				next = e.To
			case in[e.To] && !in[e.From]:
				next = e.From
			}
		}
		for v := 0; next < 0; v++ {
			if !in[v] {
				next = v
			}
		}
		take(next)
	}
	return order
}

// vertex assigns the i-th vertex of the order in every way.
func (s *search) vertex(i int) {
	for i < len(s.order) && s.bound[s.order[i]] {
		i++ // an outer vertex of EXISTS
	}
	if i == len(s.order) {
		if s.structureHolds() {
			s.edge(0)
		}
		return
	}
	v := s.order[i]
	for _, c := range s.candidates(v) {
		if s.steps++; s.steps%1024 == 0 && s.ctx.Err() != nil {
			s.stopped = true
		}
		if s.stopped {
			return
		}
		s.m[v], s.bound[v] = c, true
		if s.fits(v) {
			s.vertex(i + 1)
		}
		delete(s.bound, v)
	}
}

// candidates are the neighbours of some assigned neighbour, or all vertices.
func (s *search) candidates(v int) []uint32 {
	for _, e := range s.p.Edges {
		switch {
		case e.Negated:
		case e.From == v && s.bound[e.To]:
			return s.w.neighbours[s.m[e.To]]
		case e.To == v && s.bound[e.From]:
			return s.w.neighbours[s.m[e.From]]
		}
	}
	return s.w.vertices
}

// fits checks the conditions that are known once v is assigned: its label, that it differs from
// the other vertices, and the edges to them.
func (s *search) fits(v int) bool {
	if !s.labelFits(v) {
		return false
	}
	if s.p.Mode == pattern.Iso {
		for u := range s.bound {
			if u != v && s.m[u] == s.m[v] {
				return false
			}
		}
	}
	for i := range s.p.Edges {
		e := &s.p.Edges[i]
		if (e.From == v || e.To == v) && s.bound[e.From] && s.bound[e.To] {
			if found := len(s.accepted(e)) > 0; found == e.Negated {
				return false
			}
		}
	}
	return true
}

func (s *search) labelFits(v int) bool {
	labels := s.w.vertexLabels(s.m[v])
	return matches(s.p.Vertices[v].Label, labels)
}

// accepted are the data edges between the images of e's ends that e accepts.
func (s *search) accepted(e *pattern.Edge) []*edge {
	var out []*edge
	try := func(list []*edge) {
		for _, d := range list {
			if s.accepts(e, d) {
				out = append(out, d)
			}
		}
	}
	from, to := s.m[e.From], s.m[e.To]
	try(s.w.between[arc{from, to}])
	if e.Dir == pattern.Either && s.w.g.Directed {
		try(s.w.between[arc{to, from}])
	}
	return out
}

func (s *search) accepts(e *pattern.Edge, d *edge) bool {
	if !matches(e.Label, d.labels) {
		return false
	}
	index := s.indexOf(e)
	eval := evaluator{s: s, edges: map[int]*edge{index: d}}
	for _, x := range e.Where {
		if eval.value(x) != true {
			return false
		}
	}
	return true
}

func (s *search) indexOf(e *pattern.Edge) int {
	for i := range s.p.Edges {
		if e == &s.p.Edges[i] {
			return i
		}
	}
	return -1
}

// structureHolds checks INDUCED: each data edge between two matched vertices is
// one that some edge of the pattern between them accepts.
func (s *search) structureHolds() bool {
	if !s.p.Induced {
		return true
	}
	for u := range s.m {
		for v := range s.m {
			if s.p.Vertices[u].Aside || s.p.Vertices[v].Aside {
				continue
			}
			for _, d := range s.w.between[arc{s.m[u], s.m[v]}] {
				if u != v && !s.covered(u, v, d) {
					return false
				}
			}
		}
	}
	return true
}

// covered reports whether an edge of the pattern accepts d, which goes from the image of u to
// that of v.
func (s *search) covered(u, v int, d *edge) bool {
	for i := range s.p.Edges {
		e := &s.p.Edges[i]
		along := e.From == u && e.To == v
		against := e.From == v && e.To == u && (e.Dir == pattern.Either || !s.w.g.Directed)
		if !e.Negated && (along || against) && s.accepts(e, d) {
			return true
		}
	}
	return false
}

// edge chooses the data edge of the i-th choice in every way.
func (s *search) edge(i int) {
	if i == len(s.choices) {
		s.finish()
		return
	}
	index := s.choices[i]
	for _, d := range s.accepted(&s.p.Edges[index]) {
		if s.stopped {
			return
		}
		if s.p.Mode == pattern.Trail && s.taken(d) {
			continue
		}
		s.chosen[index] = d
		s.edge(i + 1)
		delete(s.chosen, index)
	}
}

func (s *search) taken(d *edge) bool {
	for _, c := range s.chosen {
		if c.id == d.id {
			return true
		}
	}
	return false
}

// finish checks the predicates and yields the match.
func (s *search) finish() {
	eval := evaluator{s: s, edges: s.chosen}
	for _, x := range s.p.Where {
		if eval.value(x) != true {
			return
		}
	}
	if !s.inTime() {
		return
	}
	m := Match{Vertices: s.m}
	for _, i := range s.choices {
		m.Edges = append(m.Edges, s.chosen[i].id)
	}
	if !s.yield(m) {
		s.stopped = true
	}
}

// exists decides EXISTS: whether sub has an embedding that agrees with the
// enclosing match on the outer vertices.
func (s *search) exists(x pattern.Exists) bool {
	found := false
	in := newSearch(s.ctx, s.w, x.Sub, func(Match) bool { found = true; return false })
	for i, outer := range x.Outer {
		in.m[i] = s.m[outer]
	}
	for i := range x.Outer {
		in.bound[i] = true
	}
	for i := range x.Outer {
		if !in.outerFits(i, len(x.Outer)) {
			return false
		}
	}
	in.vertex(0)
	return found
}

// outerFits is fits for an outer vertex of EXISTS, which iso does not keep apart
// from other outer vertices.
func (s *search) outerFits(v, outer int) bool {
	if !s.labelFits(v) {
		return false
	}
	for i := range s.p.Edges {
		e := &s.p.Edges[i]
		if e.From == v && e.To < outer {
			if found := len(s.accepted(e)) > 0; found == e.Negated {
				return false
			}
		}
	}
	return true
}

// EmbeddingsAt is Embeddings with one vertex of the pattern bound to c.
func EmbeddingsAt(ctx context.Context, w *World, p *pattern.Pattern, v int, c uint32, yield func(Match) bool) error {
	s := newSearch(ctx, w.w, p, yield)
	s.m[v], s.bound[v] = c, true
	if s.fits(v) {
		s.vertex(0)
	}
	return ctx.Err()
}

// World is a graph made ready for many searches.
type World struct{ w *world }

// NewWorld spreads g out over maps, which takes some hundred bytes an edge. If
// ctx ends the world is not complete.
func NewWorld(ctx context.Context, g *graph.Graph) *World { return &World{newWorld(ctx, g)} }
