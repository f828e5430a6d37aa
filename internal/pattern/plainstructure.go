package pattern

// plain is a pattern without predicates and with one edge at most between two
// vertices: most patterns, and those of which many are planned. Its colours are
// numbers in the order of first mention, so that two patterns must not be
// compared by them; an automorphism compares a pattern with itself.
type plain struct {
	n      int
	vertex [MaxVertices]int
	pairs  []plainPair
}

// plainPair is two vertices with an edge, and the colours of the pair seen from
// either.
type plainPair struct {
	u, v        int
	there, back int32
}

// plainOf returns p as such; ok is false for other patterns. The pairs are
// appended to room.
func plainOf(p *Pattern, room []plainPair) (x plain, ok bool) {
	x = plain{n: len(p.Vertices), pairs: room}
	if len(p.Where) > 0 || p.Order != nil || x.n > MaxVertices {
		return x, false
	}
	var joined [MaxVertices]uint32
	var known [MaxVertices]string
	labels := known[:0]
	colour := func(l *Label) int {
		if l == nil {
			return 0
		}
		key := l.Name // of a bare name; others are in quotes, brackets or with signs
		if l.Op != LabelName {
			key = "\x00" + labelKey(l)
		}
		for i, known := range labels {
			if known == key {
				return i + 1
			}
		}
		labels = append(labels, key)
		return len(labels)
	}
	for v := range x.n {
		x.vertex[v] = colour(p.Vertices[v].Label)
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.From == e.To || len(e.Where) > 0 || e.variable() || joined[e.From]>>e.To&1 != 0 {
			return x, false
		}
		joined[e.From] |= 1 << e.To
		joined[e.To] |= 1 << e.From
		kind := int32(1 + 16*colour(e.Label))
		if e.Negated {
			kind += 2
		}
		if countsChoices(p, i) {
			kind += 4
		}
		pair := plainPair{e.From, e.To, kind, kind}
		if e.Dir != Either {
			pair.back += 8
			pair.there++
		}
		x.pairs = append(x.pairs, pair)
	}
	return x, true
}

// discrete reports whether refinement gives each vertex a colour of its own.
func (x *plain) discrete() bool {
	var sums [MaxVertices]uint64
	cur := x.vertex
	for classes := 0; ; {
		clear(sums[:x.n])
		for i := range x.pairs {
			e := &x.pairs[i]
			sums[e.u] += seen(e.there, cur[e.v])
			sums[e.v] += seen(e.back, cur[e.u])
		}
		before := classes
		if classes, _ = regroup(cur[:x.n], sums[:x.n], 0); classes == before || classes == x.n {
			return classes == x.n
		}
	}
}

// structure returns x as newStructure would, except for the colours' numbers.
func (x *plain) structure() *structure {
	n := x.n
	s := &structure{n: n, vertex: append([]int(nil), x.vertex[:n]...), pair: make([][]int32, n)}
	cells := make([]int32, n*n)
	for v := range n {
		s.pair[v] = cells[v*n : (v+1)*n : (v+1)*n]
	}
	for _, e := range x.pairs {
		s.pair[e.u][e.v], s.pair[e.v][e.u] = e.there, e.back
	}
	return s
}

// single returns the vertices that are alone with their colour, as a set; none
// where there are more vertices than a pattern may have. Colours are below n.
func single(colour []int) (alone uint32) {
	if len(colour) > MaxVertices {
		return 0
	}
	var once, twice uint32
	for _, c := range colour {
		twice |= once & (1 << c)
		once |= 1 << c
	}
	for v, c := range colour {
		if twice>>c&1 == 0 {
			alone |= 1 << v
		}
	}
	return alone
}
