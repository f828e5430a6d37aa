package data

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// EdgeInfo is the data edges of an input graph, or those that a text accepts, with a property
// of each. The edges that begin at a vertex are sorted by the property, and then by their second
// ends, as in a graph that a program makes. Without directions an edge begins at both ends.
type EdgeInfo struct {
	Lists graph.CSR
	Info  []types.Word // as long as Lists.Adj
}

// Property is a property of data edges, as a Viewer finds it.
type Property struct {
	Kind types.Kind // Int, Float or Bool
	// Words are the values of data edges by their numbers.
	Words []types.Word
}

// findKey finds the property of edges that an input is declared with, and gives the
// graph the sizes of its lists of data edges.
func (s *Set) findKey(key asg.Key) error {
	fail := func(msg, expected, hint string) error {
		e := s.p.File.ErrorAt(key.At, msg)
		e.Expected, e.Hint = expected, hint
		return e
	}
	in := s.inputs[key.Input]
	if in.View == nil {
		return fail("no properties of edges can be read here", "", "")
	}
	p, err := in.View.Property(key.Property)
	if err != nil {
		return fail(err.Error(), "", "")
	}
	info := s.infoOf(key.Input)
	switch {
	case p.Kind == info.Kind || len(p.Words) == 0:
	case p.Kind == types.Int && info.Kind == types.Float:
		p.Words = slices.Clone(p.Words)
		for i, x := range p.Words {
			p.Words[i] = types.FromFloat(float64(x))
		}
	default:
		return fail(fmt.Sprintf("the property %s of edges is %s, and the program declares %s", key.Property, p.Kind, info.Kind), "",
			fmt.Sprintf("input %s: Graph[%s, …]", key.Input, p.Kind))
	}
	for _, x := range p.Words {
		if err := inRange(info, x); err != nil {
			return fail(fmt.Sprintf("the property %s of an edge: %v", key.Property, err), "", "")
		}
	}
	s.words[key.Input] = p.Words
	if err := s.hold(8 * int64(len(p.Words))); err != nil {
		return err
	}
	return s.addInfo(key.Input, newEdgeInfo(in.Graph, p.Words, info.Kind, func(row uint64) (along, back bool) { return true, !in.Graph.Directed }))
}

// findInfo is findKey for the edges of such an input that a text accepts.
func (s *Set) findInfo(input, text string) error {
	in := s.inputs[input]
	d, err := in.View.Between(text)
	if err != nil {
		return err
	}
	return s.addInfo(asg.ViewKey(input, text), newEdgeInfo(in.Graph, s.words[input], s.infoOf(input).Kind, func(row uint64) (along, back bool) {
		if d.Most == 0 || d.Accepted != nil && d.Accepted[row/64]>>(row%64)&1 == 0 {
			return false, false
		}
		both := d.Either || !d.Directed
		return both || !d.Turned, both || d.Turned
	}))
}

// addInfo keeps lists, and their sizes.
func (s *Set) addInfo(key string, e *EdgeInfo) error {
	degree := 0
	for v := range uint32(e.Lists.NumVertices()) {
		degree = max(degree, e.Lists.Degree(v))
	}
	s.infos[key] = e
	s.sizes[types.Sym{Of: types.Arcs, Input: key}] = int64(len(e.Info))
	s.sizes[types.Sym{Of: types.Degree, Input: key}] = int64(degree)
	return s.hold(8*int64(len(e.Lists.Off)) + 4*int64(len(e.Lists.Adj)) + 8*int64(len(e.Info)))
}

// infoOf is the declared type of the property of an input's edges.
func (s *Set) infoOf(input string) *types.Type {
	i := slices.IndexFunc(s.p.Inputs, func(n *asg.Node) bool { return n.Name == input })
	return s.p.Inputs[i].Type.Facts.Info
}

// newEdgeInfo makes lists of data edges of a graph. takes says whether an edge, by its number, leads
// from its first end to its second, and from its second to its first.
func newEdgeInfo(g *graph.Graph, words []types.Word, kind types.Kind, takes func(row uint64) (along, back bool)) *EdgeInfo {
	n := g.NumVertices()
	e := &EdgeInfo{Lists: graph.CSR{Off: make([]uint64, n+1)}}
	if g.Edges == nil {
		return e
	}
	src, dst, off := g.Edges.Src, g.Edges.Dst, e.Lists.Off
	for i := range dst {
		along, back := takes(uint64(i))
		if along {
			off[src[i]+1]++
		}
		if back {
			off[dst[i]+1]++
		}
	}
	for v := range n {
		off[v+1] += off[v]
	}
	e.Lists.Adj, e.Info = make([]uint32, off[n]), make([]types.Word, off[n])
	next := slices.Clone(off[:n])
	put := func(u, v uint32, x types.Word) {
		e.Lists.Adj[next[u]], e.Info[next[u]] = v, x
		next[u]++
	}
	for i := range dst {
		along, back := takes(uint64(i))
		if along {
			put(src[i], dst[i], words[i])
		}
		if back {
			put(dst[i], src[i], words[i])
		}
	}
	for v := range uint32(n) {
		e.sort(v, kind)
	}
	return e
}

// sort orders the edges of a vertex.
func (e *EdgeInfo) sort(v uint32, kind types.Kind) {
	type edge struct {
		to   uint32
		info types.Word
	}
	list, first := e.Lists.List(v), e.Lists.Off[v]
	edges := make([]edge, len(list))
	for i, to := range list {
		edges[i] = edge{to, e.Info[first+uint64(i)]}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		info := cmp.Compare(a.info, b.info)
		if kind == types.Float {
			info = cmp.Compare(a.info.Float(), b.info.Float())
		}
		return cmp.Or(info, cmp.Compare(a.to, b.to), cmp.Compare(a.info, b.info)) // zero has two words as a float
	})
	for i, x := range edges {
		list[i], e.Info[first+uint64(i)] = x.to, x.info
	}
}

// EdgeInfo is the data edges of a graph that an input is, declared with a property of
// them, or that a subgraph of it is; nil for other graphs.
func (s *Set) EdgeInfo(n *asg.Node) *EdgeInfo {
	switch n.Op {
	case asg.Input:
		return s.infos[n.Name]
	case asg.Subgraph:
		return s.infos[asg.ViewKey(n.Args[0].Name, n.Name)]
	}
	return nil
}
