package pattern

import (
	"sort"
	"strconv"
	"strings"
)

// Canonical returns a string that two patterns share exactly when they are isomorphic with
// mode, labels, directions, NOT edges, predicates and ORDERED; names do not matter. Predicates
// compare by form, not by meaning. Alike parallel edges that a predicate, but not ORDERED,
// tells apart compare by their place in the pattern.
//
// The form is the least certificate over the leaves of the individualisation–refinement tree.
// The automorphism group prunes equivalent branches (McKay, Practical graph isomorphism, 1981).
func (p *Pattern) Canonical() string { return newStructure(p, nil).canonical() }

func (s *structure) canonical() string {
	colour, _ := s.refine(s.vertex)
	best := ""
	s.leaves(colour, func(colour []int) {
		if c := s.certificate(colour); best == "" || c < best {
			best = c
		}
	})
	return best
}

// leaves calls f for at least one leaf of each class of equivalent leaves below
// the refined colouring.
func (s *structure) leaves(colour []int, f func([]int)) {
	cell := smallestCell(colour)
	if cell == nil {
		f(colour)
		return
	}
	for _, v := range s.representatives(colour, cell) {
		next, _ := s.refine(individualise(colour, v))
		s.leaves(next, f)
	}
}

// representatives returns one member of each orbit of the cell under the
// automorphisms that keep the colouring.
func (s *structure) representatives(colour, cell []int) []int {
	// Mostly all members are twins, and exchanging two is an automorphism: that
	// is cheap to see.
	swap := make([]int, s.n)
	for i := range swap {
		swap[i] = i
	}
	twins := true
	for _, w := range cell[1:] {
		swap[cell[0]], swap[w] = w, cell[0]
		twins = twins && s.preserves(swap)
		swap[cell[0]], swap[w] = cell[0], w
	}
	if twins {
		return cell[:1]
	}
	orbits := newGroup(s, colour).Orbits()
	var out []int
	seen := map[int]bool{}
	for _, v := range cell {
		if !seen[orbits[v]] {
			seen[orbits[v]] = true
			out = append(out, v)
		}
	}
	return out
}

// certificate writes s with vertex v called by its colour, which is discrete.
func (s *structure) certificate(colour []int) string {
	at := make([]int, s.n)
	for v, c := range colour {
		at[c] = v
	}
	var b strings.Builder
	b.WriteString(strconv.Itoa(s.n) + " vertices; " + strings.Join(s.global, "; "))
	for c, v := range at {
		b.WriteString("\n" + strconv.Itoa(c) + ": " + s.vkeys[s.vertex[v]])
	}
	for c := range at {
		for d := range c {
			if key := s.pkeys[s.pair[at[d]][at[c]]]; key != "" {
				b.WriteString("\n" + strconv.Itoa(d) + " " + strconv.Itoa(c) + ": " + key)
			}
		}
	}
	var wides []string
	for _, w := range s.wide {
		wides = append(wides, w.key(func(v int) string { return plainName(colour[v]) }))
	}
	sort.Strings(wides)
	for _, w := range dedupe(wides) {
		b.WriteString("\n" + w)
	}
	return b.String()
}

// Isomorphic reports whether p and q are the same pattern up to names.
func (p *Pattern) Isomorphic(q *Pattern) bool { return p.Canonical() == q.Canonical() }
