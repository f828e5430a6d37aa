package queryset

import (
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// shape is an abstract query of the Wikidata graph pattern benchmark (Hogan, Riveros, Rojas and
// Soto: A Worst-Case Optimal Join Algorithm for SPARQL, ISWC 2019).
type shape struct {
	name  string
	edges [][2]int // from, to; each vertex except 0 has an edge with a smaller one
}

// shapes are paths (P), stars of outgoing edges (T) and of incoming ones (Ti), stars of both (J),
// triangles (Tr) and squares (S).
var shapes = []shape{
	{"P2", [][2]int{{0, 1}, {1, 2}}},
	{"P3", [][2]int{{0, 1}, {1, 2}, {2, 3}}},
	{"P4", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}},
	{"T2", [][2]int{{0, 1}, {0, 2}}},
	{"T3", [][2]int{{0, 1}, {0, 2}, {0, 3}}},
	{"T4", [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}}},
	{"Ti2", [][2]int{{1, 0}, {2, 0}}},
	{"Ti3", [][2]int{{1, 0}, {2, 0}, {3, 0}}},
	{"Ti4", [][2]int{{1, 0}, {2, 0}, {3, 0}, {4, 0}}},
	{"J3", [][2]int{{1, 0}, {2, 0}, {0, 3}}},
	{"J4", [][2]int{{1, 0}, {2, 0}, {0, 3}, {0, 4}}},
	{"Tr1", [][2]int{{0, 1}, {1, 2}, {2, 0}}},
	{"Tr2", [][2]int{{0, 1}, {1, 2}, {0, 2}}},
	{"S1", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
	{"S2", [][2]int{{0, 1}, {0, 2}, {3, 1}, {3, 2}}},
	{"S3", [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}}},
	{"S4", [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}},
}

// instance returns a shape with the edge labels of a place in the graph that is found by a random
// walk, or nil if the walk does not fit. Vertices have no labels, as in the benchmark, except in a
// graph without edge labels.
func (d *drawer) instance(s shape) *pattern.Pattern {
	at := []uint32{d.vertex()}
	for next := 1; ; next++ {
		var lists [][]uint32
		for _, e := range s.edges {
			switch {
			case e[1] == next && e[0] < next:
				lists = append(lists, d.g.Out.List(at[e[0]]))
			case e[0] == next && e[1] < next:
				lists = append(lists, d.g.In.List(at[e[1]]))
			}
		}
		if lists == nil {
			break // all vertices are placed
		}
		v, ok := d.common(lists, at)
		if !ok {
			return nil
		}
		at = append(at, v)
	}
	var edges []step
	for _, e := range s.edges {
		edges = append(edges, d.between(at[e[0]], at[e[1]]))
	}
	return d.pattern(at, edges, !d.labelled)
}

// common returns a vertex of all lists that is not taken, chosen at random.
func (d *drawer) common(lists [][]uint32, taken []uint32) (uint32, bool) {
	slices.SortFunc(lists, func(a, b []uint32) int { return len(a) - len(b) })
	fits := func(v uint32) bool {
		for _, l := range lists[1:] {
			if _, ok := slices.BinarySearch(l, v); !ok {
				return false
			}
		}
		return !slices.Contains(taken, v)
	}
	// A few guesses spare the filter where most vertices fit.
	list := lists[0]
	if len(list) == 0 {
		return 0, false
	}
	for range 8 {
		if v := list[d.rand.IntN(len(list))]; fits(v) {
			return v, true
		}
	}
	var all []uint32
	for _, v := range list {
		if fits(v) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return all[d.rand.IntN(len(all))], true
}
