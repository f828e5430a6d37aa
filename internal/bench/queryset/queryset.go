// Package queryset draws sets of labelled queries from a graph, for `weft bench join`.
//
// They are random-walk queries as in the papers of GSI and GENEVA, and the shapes of the Wikidata
// graph pattern benchmark. Each query has a match, because it is copied from the graph. A seed gives the same
// queries on every machine.
//
// It knows graphs and patterns. It must not know engines or other programs.
package queryset

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Set is a set of queries of one kind.
type Set struct {
	Name    string
	Queries []string // texts of the pattern language; no two are the same up to names
}

// Names returns the names of all sets.
func Names() []string {
	var out []string
	for _, k := range walkSizes {
		out = append(out, walkName(k))
	}
	for _, s := range shapes {
		out = append(out, s.name)
	}
	for _, k := range longSizes {
		out = append(out, walkName(k))
	}
	return out
}

// Usual returns the names of the sets that the papers have: all but long walks.
func Usual() []string {
	all := Names()
	return all[:len(all)-len(longSizes)]
}

// walkSizes are the numbers of vertices of random-walk queries, and eachWalk is the number of
// queries of a size in the papers. eachShape is the number of instances of a shape in the
// Wikidata graph pattern benchmark.
var walkSizes = []int{4, 6, 8, 10, 12}

// longSizes are the numbers of vertices of long walks, which no paper on joins has: for counts that merge rows.
var longSizes = []int{16, 24, 32}

const eachWalk, eachShape = 100, 50

func walkName(k int) string { return fmt.Sprintf("walk%d", k) }

// Draw draws a set. each is the number of queries; 0 means that of the papers. The set has fewer
// if the graph has fewer, or if they are too rare to be found. An unknown name is an error. Draw
// returns the context's error if ctx ends first.
func Draw(ctx context.Context, g *graph.Graph, name string, each int, seed uint64) (Set, error) {
	d := &drawer{g: g}
	d.labelled = g.Edges != nil && g.Edges.Label != nil
	var once func() *pattern.Pattern
	n := eachShape
	at := slices.Index(Names(), name)
	switch {
	case at < 0:
		return Set{}, fmt.Errorf("unknown query set %q", name)
	case at < len(walkSizes):
		n = eachWalk
		once = func() *pattern.Pattern { return d.walk(walkSizes[at]) }
	case at >= len(Usual()):
		n = eachWalk
		once = func() *pattern.Pattern { return d.walk(longSizes[at-len(Usual())]) }
	default:
		s := shapes[at-len(walkSizes)]
		once = func() *pattern.Pattern { return d.instance(s) }
	}
	n = cmp.Or(each, n)
	out := Set{Name: name}
	if g.NumVertices() == 0 {
		return out, nil
	}
	d.rand = rand.New(rand.NewPCG(seed, uint64(at)))
	seen := map[string]bool{}
	for tries := 0; len(out.Queries) < n && tries < 10000+200*n; tries++ {
		if tries%256 == 0 && ctx.Err() != nil {
			return Set{}, ctx.Err()
		}
		p := once()
		if p == nil {
			continue
		}
		if key := p.Canonical(); !seen[key] {
			seen[key] = true
			out.Queries = append(out.Queries, pattern.Format(p))
		}
	}
	return out, nil
}

// drawer draws queries from one graph.
type drawer struct {
	g        *graph.Graph
	labelled bool // edges have labels
	rand     *rand.Rand
}

// vertex is a vertex chosen at random.
func (d *drawer) vertex() uint32 { return uint32(d.rand.Uint64N(uint64(d.g.NumVertices()))) }

// step is an edge from u to v in the direction that the graph has.
type step struct {
	u, v  uint32
	label uint32 // graph.NoLabel: none
}

// between returns an edge from u to v, chosen at random among parallel ones. There must be one.
func (d *drawer) between(u, v uint32) step {
	if !d.g.Directed && u > v {
		u, v = v, u
	}
	s := step{u, v, graph.NoLabel}
	if d.labelled {
		e := d.g.Edges
		rows := e.Dst[e.Off[u]:e.Off[u+1]]
		lo, _ := slices.BinarySearch(rows, v)
		hi, _ := slices.BinarySearch(rows, v+1)
		s.label = e.Label[e.Off[u]+uint64(lo+d.rand.IntN(hi-lo))]
	}
	return s
}

// walk returns the vertices and edges of a random walk that has visited k vertices, or nil if the
// walk stays among fewer. It goes along edges in both directions.
func (d *drawer) walk(k int) *pattern.Pattern {
	at := d.vertex()
	seen := []uint32{at}
	var edges []step
	for steps := 0; len(seen) < k; steps++ {
		out, in := d.g.Out.List(at), []uint32(nil)
		if d.g.Directed {
			in = d.g.In.List(at)
		}
		if steps == 50*k || len(out)+len(in) == 0 {
			return nil
		}
		var s step
		if i := d.rand.IntN(len(out) + len(in)); i < len(out) {
			s, at = d.between(at, out[i]), out[i]
		} else {
			from := in[i-len(out)]
			s, at = d.between(from, at), from
		}
		if !slices.Contains(edges, s) {
			edges = append(edges, s)
		}
		if !slices.Contains(seen, at) {
			seen = append(seen, at)
		}
	}
	return d.pattern(seen, edges, true)
}

// pattern returns the pattern of some vertices and edges of the graph.
func (d *drawer) pattern(vertices []uint32, edges []step, vertexLabels bool) *pattern.Pattern {
	p := &pattern.Pattern{}
	for i, v := range vertices {
		x := pattern.Vertex{Name: fmt.Sprintf("v%d", i)}
		if vertexLabels {
			for _, l := range d.g.Classes[d.g.ClassOf(v)].Labels {
				x.Label = and(x.Label, d.g.VertexLabels[l])
			}
		}
		p.Vertices = append(p.Vertices, x)
	}
	for _, s := range edges {
		e := pattern.Edge{From: slices.Index(vertices, s.u), To: slices.Index(vertices, s.v), Min: 1, Max: 1}
		if d.g.Directed {
			e.Dir = pattern.Forward
		}
		if s.label != graph.NoLabel {
			e.Label = and(nil, d.g.EdgeLabels[s.label])
		}
		p.Edges = append(p.Edges, e)
	}
	return p
}

// and is a label, or its conjunction with others.
func and(x *pattern.Label, name string) *pattern.Label {
	l := &pattern.Label{Op: pattern.LabelName, Name: name}
	if x == nil {
		return l
	}
	return &pattern.Label{Op: pattern.LabelAnd, X: x, Y: l}
}
