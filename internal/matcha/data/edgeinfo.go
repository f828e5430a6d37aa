package data

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// EdgeInfo is the data edges of an input graph with a property of each: of every
// vertex the edges that begin at it, by their second ends, then by the property, as
// in a graph that a program makes. Without directions an edge begins at both ends.
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
	e := newEdgeInfo(in.Graph, p.Words, info.Kind)
	degree := 0
	for v := range uint32(e.Lists.NumVertices()) {
		degree = max(degree, e.Lists.Degree(v))
	}
	s.infos[key.Input] = e
	s.sizes[types.Sym{Of: types.Arcs, Input: key.Input}] = int64(len(e.Info))
	s.sizes[types.Sym{Of: types.Degree, Input: key.Input}] = int64(degree)
	return nil
}

// infoOf is the declared type of what is known of an input's edges.
func (s *Set) infoOf(input string) *types.Type {
	i := slices.IndexFunc(s.p.Inputs, func(n *asg.Node) bool { return n.Name == input })
	return s.p.Inputs[i].Type.Facts.Info
}

// newEdgeInfo makes lists of the data edges of a graph, which have an order: by their
// first ends, then by their second.
func newEdgeInfo(g *graph.Graph, words []types.Word, kind types.Kind) *EdgeInfo {
	n := g.NumVertices()
	e := &EdgeInfo{Lists: graph.CSR{Off: make([]uint64, n+1)}}
	if g.Edges == nil {
		return e
	}
	src, dst, off := g.Edges.Src, g.Edges.Dst, e.Lists.Off
	for i := range dst {
		off[src[i]+1]++
		if !g.Directed {
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
	// Without directions the first end is the smaller one, so that lists ascend: edges
	// to smaller vertices come with these.
	for i := range dst {
		put(src[i], dst[i], words[i])
		if !g.Directed {
			put(dst[i], src[i], words[i])
		}
	}
	for v := range uint32(n) {
		list, first := e.Lists.List(v), off[v]
		for i, j := 0, 0; i < len(list); i = j {
			for j = i + 1; j < len(list) && list[j] == list[i]; j++ {
			}
			same := e.Info[first+uint64(i) : first+uint64(j)]
			if kind == types.Float {
				slices.SortStableFunc(same, func(a, b types.Word) int { return cmp.Compare(a.Float(), b.Float()) })
			} else {
				slices.Sort(same)
			}
		}
	}
	return e
}

// EdgeInfo is the data edges of an input that is declared with a property of them.
func (s *Set) EdgeInfo(input string) *EdgeInfo { return s.infos[input] }
