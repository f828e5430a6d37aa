package escape

import (
	"strings"
	"testing"
)

// TestOrbitsOfClique: in a clique of seven vertices, homomorphisms with the orbit at one of them are colourings of the orbit's graph in seven colours where
// its colour is given, and the subgraphs are choices of vertices. All induced subgraphs are cliques.
func TestOrbitsOfClique(t *testing.T) {
	const colours = 7
	orbits := Orbits()
	var n [NumOrbits]uint64
	for _, g := range graphlets {
		ways := uint64(1)
		for i := 1; i < len(g.orbits); i++ {
			ways *= uint64(colours - i)
		}
		edges := strings.Fields(g.edges)
		for _, orbit := range g.orbits {
			if o := &orbits[orbit]; ways%o.Symmetries != 0 {
				t.Fatalf("orbit %d has %d symmetries", orbit, o.Symmetries)
			}
			n[orbit] = ways / orbits[orbit].Symmetries
		}
		for v, orbit := range g.orbits {
			want := uint64(0)
			colour := make([]int, len(g.orbits))
			var next func(u int)
			next = func(u int) {
				if u == len(colour) {
					for _, e := range edges {
						if colour[e[0]-'0'] == colour[e[1]-'0'] {
							return
						}
					}
					want++
					return
				}
				for colour[u] = range colours {
					if u != v || colour[u] == 0 {
						next(u + 1)
					}
				}
			}
			next(0)
			o := &orbits[orbit]
			if got := o.Homomorphisms(n[orbit], &n); got != want || o.Subgraphs(want, &n) != n[orbit] {
				t.Errorf("orbit %d: %d homomorphisms, want %d", orbit, got, want)
			}
		}
	}
	InduceOrbits(n[:])
	for i, k := range n {
		want := map[int]uint64{0: 6, 3: 15, 14: 20, 72: 15}[i]
		if k != want {
			t.Errorf("orbit %d: %d induced, want %d", i, k, want)
		}
	}
}
