package dynamic

// Ahead reads what changes of edges are about to read, so that it is in the processor's caches then. It changes nothing.
//
// Why: in a large graph a change waits for memory several times, one after the other. Ahead waits for that of many changes together.
type Ahead struct {
	n    int
	ends [2][aheadRoom]uint32 // u and v
	sum  uint32               // of what was read, so that the compiler keeps it
}

const aheadRoom = 16

// Add adds a change of an edge from u to v. It reports whether there is room for another.
func (x *Ahead) Add(g *Graph, u, v ID) bool {
	x.ends[0][x.n], x.ends[1][x.n] = g.ids.find(u), g.ids.find(v)
	x.n++
	return x.n < aheadRoom
}

// Read reads for the changes that were added.
func (x *Ahead) Read(g *Graph) {
	var heads [2 * aheadRoom]*head
	k := 0
	for i := range x.ends {
		s := g.sides[i%len(g.sides)]
		for _, v := range x.ends[i][:x.n] {
			if v == noVertex {
				continue
			}
			x.sum += g.ids.class(v)
			if h := s.head(v); h != nil {
				heads[k] = h
				k++
			}
		}
	}
	for _, h := range heads[:k] {
		if n := h[headLen]; n > inHead {
			l := g.lists.list(slotRun(h[:2], n))
			x.sum += l[0] + l[n/2]
		}
	}
	x.n = 0
}
