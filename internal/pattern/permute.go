package pattern

import "slices"

// Clone returns a copy of p that shares only immutable parts with it: labels
// and expressions.
func (p *Pattern) Clone() *Pattern {
	q := *p
	q.Vertices = slices.Clone(p.Vertices)
	q.Edges = slices.Clone(p.Edges)
	for i := range q.Edges {
		q.Edges[i].Where = slices.Clone(q.Edges[i].Where)
	}
	q.Where = slices.Clone(p.Where)
	if p.Order != nil {
		o := *p.Order
		o.Edges = slices.Clone(o.Edges)
		q.Order = &o
	}
	return &q
}

// Permute returns p with vertex v at index perm[v]; perm must be a permutation
// of the vertices. Edges keep their indexes.
func (p *Pattern) Permute(perm []int) *Pattern {
	q := p.Clone()
	for v, w := range perm {
		q.Vertices[w] = p.Vertices[v]
	}
	move := func(r Ref) Ref {
		if r.Kind == VertexRef {
			r.Index = perm[r.Index]
		}
		return r
	}
	for i := range q.Edges {
		e := &q.Edges[i]
		e.From, e.To = perm[e.From], perm[e.To]
		e.Where = mapRefsAll(e.Where, move)
	}
	q.Where = mapRefsAll(p.Where, move)
	return q
}

// SubPattern returns the part of p on the given distinct vertices, which become 0, 1, … in the
// given order. It has their edges, the predicates that mention only them, and the order among
// the remaining edges. It keeps the time bound, because a match within the bound has its parts
// within it.
func (p *Pattern) SubPattern(keep []int) *Pattern {
	q := &Pattern{Name: p.Name, Mode: p.Mode, Induced: p.Induced}
	vertex := map[int]int{}
	for i, v := range keep {
		vertex[v] = i
		q.Vertices = append(q.Vertices, p.Vertices[v])
	}
	edge := map[int]int{}
	for i, e := range p.Edges {
		from, ok1 := vertex[e.From]
		to, ok2 := vertex[e.To]
		if ok1 && ok2 {
			edge[i] = len(q.Edges)
			e.From, e.To = from, to
			q.Edges = append(q.Edges, e)
		}
	}
	move := func(r Ref) Ref {
		if r.Kind == VertexRef {
			return Ref{VertexRef, vertex[r.Index]}
		}
		return Ref{EdgeRef, edge[r.Index]}
	}
	for i := range q.Edges {
		q.Edges[i].Where = mapRefsAll(q.Edges[i].Where, move)
	}
	for _, w := range p.Where {
		inside := true
		for _, r := range Refs(w) {
			_, ok := vertex[r.Index]
			if r.Kind == EdgeRef {
				_, ok = edge[r.Index]
			}
			inside = inside && ok
		}
		if inside {
			q.Where = append(q.Where, MapRefs(w, move))
		}
	}
	if o := p.Order; o != nil {
		kept := *o
		kept.Edges = nil
		for _, i := range o.Edges {
			if j, ok := edge[i]; ok {
				kept.Edges = append(kept.Edges, j)
			}
		}
		// ORDERED over fewer than two edges says nothing, and WITHIN without
		// ORDERED is about all edges.
		if len(kept.Edges) > 1 || len(o.Edges) == 0 {
			q.Order = &kept
		}
	}
	return q
}
