package pattern

// plainStructure is newStructure for patterns without predicates and with one
// edge at most between two vertices: most patterns, and those of which many are
// planned. Its colours are numbers in the order of first mention, so that two
// patterns must not be compared by them; an automorphism compares a pattern with
// itself. It returns nil for other patterns.
func plainStructure(p *Pattern) *structure {
	n := len(p.Vertices)
	if len(p.Where) > 0 || p.Order != nil || n > MaxVertices {
		return nil
	}
	s := &structure{n: n, vertex: make([]int, n), pair: make([][]int32, n)}
	cells := make([]int32, n*n)
	var joined [MaxVertices]uint32
	var room [MaxVertices]string
	labels := room[:0]
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
	for v := range n {
		s.vertex[v] = colour(p.Vertices[v].Label)
		s.pair[v] = cells[v*n : (v+1)*n : (v+1)*n]
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.From == e.To || len(e.Where) > 0 || e.variable() || joined[e.From]>>e.To&1 != 0 {
			return nil
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
		s.pair[e.From][e.To], s.pair[e.To][e.From] = kind, kind
		if e.Dir != Either {
			s.pair[e.To][e.From] += 8
			s.pair[e.From][e.To] += 1
		}
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
