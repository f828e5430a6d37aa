package pattern

import (
	_ "embed"
	"fmt"
	"strings"
)

// directedText holds the connected directed graphs on three and four vertices.
//
//go:embed directed.txt
var directedText string

// directedMotifs returns all connected directed graphs on k vertices, 3 or 4, in the
// order of their numbers. They are not induced: a census sets Induced on each.
func directedMotifs(k int) []*Pattern {
	var out []*Pattern
	for _, e := range parseList(directedText) {
		if p := mustEdges(Forward, e.edges); len(p.Vertices) == k {
			p.Name = e.name
			out = append(out, p)
		}
	}
	return out
}

// directedPatterns are the entries of the catalogue for directedMotifs and for each of
// them.
func directedPatterns() []Entry {
	tetrads := map[int]string{}
	var out []Entry
	for _, e := range parseList(directedText) {
		var n int
		if _, err := fmt.Sscanf(e.name, "tetrad(%d)", &n); err == nil {
			tetrads[n] = e.edges
			continue
		}
		out = append(out, fixed(e.name, "of the triad census: "+strings.ReplaceAll(e.edges, "-", "→"), Forward, e.edges))
	}
	return append(out, Entry{
		Name: "tetrad", Params: []string{"n"}, min: []int{0}, max: []int{217},
		Meaning: "the directed graph on four vertices with igraph's number n, if it is connected",
		build: func(a []int) []*Pattern {
			if edges, ok := tetrads[a[0]]; ok {
				return []*Pattern{mustEdges(Forward, edges)}
			}
			return nil
		},
	}, Entry{
		Name: "directed_motifs", Params: []string{"k"}, min: []int{3}, max: []int{4},
		Meaning: "every connected directed graph on k vertices",
		build:   func(a []int) []*Pattern { return directedMotifs(a[0]) },
	})
}
