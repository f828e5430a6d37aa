package delta

import (
	"cmp"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// sub plans how EXISTS is decided.
func (c *compiler) sub(x pattern.Exists) error {
	if s := c.out.Exists[x.Sub]; s != nil { // of another EXISTS too
		s.Closed = s.Closed && slices.Equal(s.Around, x.Outer)
		return nil
	}
	p, k := x.Sub, len(x.Outer)
	s := &Sub{Outer: k, Pattern: p, Around: x.Outer}
	c.out.Exists[p] = s
	var err error
	if s.Pairs, s.Where, s.Choices, err = c.parts(p); err != nil {
		if q, ok := err.(*plan.QueryError); ok { // the vertices and edges are not those of the pattern
			q.Vertex, q.Edge = -1, -1
		}
		return err
	}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	near := nearOf(s.Pairs, len(p.Vertices))
	order = through(near, uint32(uint64(1)<<len(p.Vertices)-1), order...)
	n := Nest{Kind: Vertex, First: k, Order: order}
	for l, v := range order {
		lv := Level{Vertex: v}
		before := pattern.SetOf(order[:l])
		var joined uint32
		lv.Backs, joined = c.backs(v, before, s.Pairs, false)
		if p.Mode == pattern.Iso && l >= k {
			lv.Apart = pattern.Members(before &^ joined)
		}
		for i, y := range s.Where {
			if at := last(y.Vertices, order); len(y.Edges) == 0 && (at == l || at < 0 && l == 0) {
				lv.Checks = append(lv.Checks, i)
			}
		}
		n.Levels = append(n.Levels, lv)
	}
	s.Nest = n
	s.Closed = s.closed()
	return nil
}

// closed reports whether nothing is said about the outer vertices, except that others differ from them.
func (s *Sub) closed() bool {
	for v := range s.Outer {
		if s.Pattern.Vertices[v].Label != nil {
			return false
		}
	}
	for i := range s.Pairs {
		if s.Pairs[i].U < s.Outer {
			return false
		}
	}
	for _, x := range s.Where {
		if len(x.Vertices)+len(x.Edges) == 0 || slices.ContainsFunc(x.Vertices, func(v int) bool { return v < s.Outer }) {
			return false
		}
	}
	return true
}

// distantNests makes nests for conditions that look further than the edges between matched vertices.
func (c *compiler) distantNests() error {
	q := chain{pairs: c.out.Pairs, n: len(c.out.Pattern.Vertices)}
	for v := range q.n {
		q.names = append(q.names, v)
	}
	degrees := uint32(0)
	if err := c.follow(c.out.Where, q, &degrees); err != nil {
		return err
	}
	near := nearOf(c.out.Pairs, q.n)
	for _, v := range pattern.Members(degrees) {
		c.out.Nests = append(c.out.Nests, c.nest(Nest{Kind: Degree, Alike: 1, First: 1, Order: c.order(near, v)}, c.every, nil))
	}
	// Those that may look at every match come first: then the others need not be searched.
	slices.SortStableFunc(c.out.Nests, func(x, y Nest) int {
		switch {
		case x.Every == y.Every:
			return 0
		case x.Every:
			return -1
		}
		return 1
	})
	return nil
}

// chain is a pattern, with the sub-patterns inside it down to one.
type chain struct {
	pairs []Pair // of all of them
	inner []Pair // of the sub-patterns: positive ones
	names []int  // vertices of the innermost one as they are called here
	n     int    // the number of vertices
	sub   *Sub   // the outermost one; nil: there is none
}

// follow makes nests for what conditions of the innermost pattern look at. degrees becomes the vertices of the whole pattern whose
// degrees count.
func (c *compiler) follow(where []Condition, q chain, degrees *uint32) (err error) {
	most := len(c.out.Pattern.Vertices)
	for _, x := range where {
		pattern.Walk(x.Expr, func(x pattern.Expr) bool {
			switch x := x.(type) {
			case pattern.Deg:
				if v := q.names[x.Vertex]; v < most {
					*degrees |= 1 << v
				} else {
					c.distant(Near, -1, q, v)
				}
			case pattern.Prop:
				if v := x.Of.Index; x.Of.Kind == pattern.VertexRef && q.names[v] >= most {
					c.distant(Near, -1, q, q.names[v])
					c.out.Nests[len(c.out.Nests)-1].Values = true
				}
			case pattern.Exists:
				if e := c.followExists(x, q, degrees); e != nil {
					err = e
				}
			}
			return err == nil
		})
	}
	return err
}

// followExists makes nests for changes inside EXISTS.
func (c *compiler) followExists(x pattern.Exists, q chain, degrees *uint32) error {
	s := c.out.Exists[x.Sub]
	in := chain{pairs: q.pairs, n: q.n, sub: cmp.Or(q.sub, s)}
	in.inner = append(in.inner, q.inner...)
	for _, v := range x.Outer {
		in.names = append(in.names, q.names[v])
	}
	for i := len(x.Outer); i < len(x.Sub.Vertices); i++ {
		in.names = append(in.names, in.n)
		in.n++
	}
	if in.n > pattern.MaxVertices {
		return plan.Errorf("the pattern has more than %d vertices with those of EXISTS", pattern.MaxVertices)
	}
	for len(c.out.Labels) < in.n {
		c.out.Labels = append(c.out.Labels, nil)
	}
	first := len(c.out.Inner)
	for _, y := range s.Pairs {
		u, v := in.names[y.U], in.names[y.V]
		z := Pair{U: u, V: v, Rels: y.Rels}
		if u > v {
			z = Pair{U: v, V: u}
			for _, r := range y.Rels {
				r.Dir = c.turned(r.Dir)
				z.Rels = append(z.Rels, r)
			}
		}
		c.out.Inner = append(c.out.Inner, z)
		if z.positive() {
			in.inner = append(in.inner, z)
		}
	}
	for v, near := range nearOf(s.Pairs, len(x.Sub.Vertices)) {
		if v >= s.Outer && near == 0 {
			c.distant(Lone, -1, in, in.names[v])
		}
	}
	for i := first; i < first+len(s.Pairs); i++ {
		c.distant(Inner, i, in, c.out.Inner[i].U, c.out.Inner[i].V)
	}
	return c.follow(s.Where, in, degrees)
}

// distant makes a nest that begins in EXISTS.
func (c *compiler) distant(k Kind, pair int, q chain, first ...int) {
	var within []Pair
	for _, y := range q.inner {
		if pair < 0 || y.U != c.out.Inner[pair].U || y.V != c.out.Inner[pair].V {
			within = append(within, y)
		}
	}
	near := nearOf(append(append([]Pair(nil), c.out.Pairs...), q.inner...), q.n)
	n := Nest{Kind: k, Pair: pair, Alike: 1, First: len(first), Order: pattern.OrderFrom(near, first...)}
	if pattern.SetOf(n.Order)&c.vertices != 0 {
		n.Order = c.order(near, first...)
		c.out.Nests = append(c.out.Nests, c.nest(n, c.every, within))
		return
	}
	n.Every = true
	if q.sub.Closed {
		n.Sub = q.sub.Pattern
	}
	c.out.Nests = append(c.out.Nests, c.nest(n, nil, within))
}
