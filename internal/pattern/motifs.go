package pattern

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// motifList is every connected graph on 2 to 5 vertices by number of edges. A graph without a
// name in the catalogue has its name in the Information System on Graph Classes and their
// Inclusions (graphclasses.org).
const motifList = `
edge: 0-1

wedge: 0-1 1-2
triangle: 0-1 0-2 1-2

path(4): 0-1 1-2 2-3
star(3): 0-1 0-2 0-3
cycle(4): 0-1 1-2 2-3 0-3
tailed_triangle: 0-1 0-2 1-2 2-3
diamond: 0-1 0-2 0-3 1-2 2-3
clique(4): 0-1 0-2 0-3 1-2 1-3 2-3

path(5): 0-1 1-2 2-3 3-4
fork: 0-1 0-2 0-3 3-4
star(4): 0-1 0-2 0-3 0-4
cycle(5): 0-1 1-2 2-3 3-4 0-4
banner: 0-1 1-2 2-3 0-3 0-4
bull: 0-1 0-2 1-2 0-3 1-4
lollipop(3,2): 0-1 0-2 1-2 2-3 3-4
cricket: 0-1 0-2 1-2 0-3 0-4
bipartite(2,3): 0-2 0-3 0-4 1-2 1-3 1-4
house: 0-1 1-2 2-3 0-3 0-4 1-4
bowtie: 0-1 0-2 1-2 0-3 0-4 3-4
dart: 0-1 0-2 0-3 1-2 2-3 0-4
kite: 0-1 0-2 0-3 1-2 2-3 1-4
book(3): 0-1 0-2 1-2 0-3 1-3 0-4 1-4
gem: 0-1 0-2 0-3 0-4 1-2 2-3 3-4
wheel(4)_less_spoke: 0-1 0-2 0-3 1-2 2-3 3-4 1-4
lollipop(4,1): 0-1 0-2 0-3 1-2 1-3 2-3 0-4
wheel(4): 0-1 0-2 0-3 0-4 1-2 2-3 3-4 1-4
clique(5)_less_wedge: 0-1 0-2 0-3 1-2 1-3 2-3 0-4 1-4
clique(5)_less_edge: 0-1 0-2 0-3 1-2 1-3 2-3 0-4 1-4 2-4
clique(5): 0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4
`

// motifs returns all connected graphs on k vertices by number of edges. They
// are not induced: a census sets Induced on each.
func motifs(k int) []*Pattern {
	var out []*Pattern
	for _, e := range parseList(motifList) {
		if p := mustEdges(Either, e.edges); len(p.Vertices) == k {
			p.Name = e.name
			out = append(out, p)
		}
	}
	return out
}

// motifEdges are the edges of a motif.
func motifEdges(name string) string {
	for _, e := range parseList(motifList) {
		if e.name == name {
			return e.edges
		}
	}
	panic("pattern: no motif is called " + name)
}

// papersText holds the query graphs of the evaluations of STMatch (Wei and
// Jiang, SC 2022) and gMatch.
//
//go:embed papers.txt
var papersText string

func paperPatterns() []Entry {
	var out []Entry
	for _, e := range parseList(papersText) {
		paper, prefix := "STMatch", "stmatch:"
		if strings.HasPrefix(e.name, "P") {
			paper, prefix = "gMatch", "gmatch:"
		}
		p := mustEdges(Either, e.edges)
		meaning := fmt.Sprintf("%s of the %s paper: %d vertices, %d edges", e.name, paper, len(p.Vertices), len(p.Edges))
		out = append(out, fixed(prefix+e.name, meaning, Either, e.edges))
	}
	return out
}

type listed struct{ name, edges string }

// parseList reads lines "name: u-v u-v …" with # comments.
func parseList(text string) []listed {
	var out []listed
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if name, edges, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			out = append(out, listed{name, edges})
		}
	}
	return out
}

// mustEdges builds a pattern from a list in the source; a mistake there is a
// mistake in the program.
func mustEdges(dir Dir, text string) *Pattern {
	var edges [][2]int
	n := 0
	for _, pair := range strings.Fields(text) {
		a, b, ok := strings.Cut(pair, "-")
		u, err1 := strconv.Atoi(a)
		v, err2 := strconv.Atoi(b)
		if !ok || err1 != nil || err2 != nil {
			panic("pattern: bad edge " + pair + " in the catalogue")
		}
		edges = append(edges, [2]int{u, v})
		n = max(n, u+1, v+1)
	}
	return shape(n, dir, edges)
}
