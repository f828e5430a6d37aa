package bind

// listed is the number of vertices up to which all automorphisms are listed, of which
// there are at most mostElements then.
const (
	listed       = 7
	mostElements = 5040
)

// Orbits returns for each level of an order the orbit of its vertex under the
// automorphisms that fix the vertices before it.
func (b *Binding) Orbits(order []int) []uint32 {
	if b.N <= listed {
		out := make([]uint32, len(order))
		if b.elements == nil {
			b.elements, _ = b.Group.Elements(mostElements)
		}
		perms := b.elements
		for l, v := range order {
			var fix [][]int
			for _, perm := range perms {
				out[l] |= 1 << perm[v]
				if perm[v] == v {
					fix = append(fix, perm)
				}
			}
			perms = fix
		}
		return out
	}
	return b.Group.OrbitsAlong(order)
}
