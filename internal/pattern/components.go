package pattern

// Components returns for each vertex the smallest vertex of its component under
// the positive edges.
func (p *Pattern) Components() []int { return p.componentsWithout(-1) }

// componentsWithout is Components with one vertex taken away, whose own entry
// is -1.
func (p *Pattern) componentsWithout(gone int) []int {
	adjacent := p.neighbours()
	comp := make([]int, len(p.Vertices))
	for v := range comp {
		comp[v] = -1
	}
	for v := range comp {
		if comp[v] >= 0 || v == gone {
			continue
		}
		comp[v] = v
		for stack := []int{v}; len(stack) > 0; {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, w := range adjacent[u] {
				if w != gone && comp[w] < 0 {
					comp[w] = v
					stack = append(stack, w)
				}
			}
		}
	}
	return comp
}

// neighbours lists for each vertex the other ends of its positive edges.
func (p *Pattern) neighbours() [][]int {
	adjacent := make([][]int, len(p.Vertices))
	for i := range p.Edges {
		if e := &p.Edges[i]; !e.Negated {
			adjacent[e.From] = append(adjacent[e.From], e.To)
			adjacent[e.To] = append(adjacent[e.To], e.From)
		}
	}
	return adjacent
}

// Connected reports whether positive edges connect all vertices.
func (p *Pattern) Connected() bool {
	if n := len(p.Vertices); n > 0 && n <= MaxVertices {
		return p.reachable() == 1<<n-1
	}
	for _, c := range p.Components() {
		if c != 0 {
			return false
		}
	}
	return true
}

// reachable is the set of vertices that positive edges connect to vertex 0, for
// patterns that are not too large.
func (p *Pattern) reachable() uint64 {
	reached := uint64(1)
	for {
		before := reached
		for i := range p.Edges {
			e := &p.Edges[i]
			if ends := uint64(1)<<e.From | 1<<e.To; !e.Negated && reached&ends != 0 {
				reached |= ends
			}
		}
		if reached == before {
			return reached
		}
	}
}

// CutVertices returns, ascending, the vertices without which their component
// falls apart.
func (p *Pattern) CutVertices() []int {
	count := func(comp []int) int {
		n := 0
		for v, c := range comp {
			if v == c {
				n++
			}
		}
		return n
	}
	whole := count(p.Components())
	var out []int
	for v := range p.Vertices {
		if count(p.componentsWithout(v)) > whole {
			out = append(out, v)
		}
	}
	return out
}
