package asg

import (
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// The operators that look at an input graph through a text of the pattern language. Labels and
// conditions on edges are resolved before a program runs, so that programs see only relations
// and lists of vertices.

// subgraph is the graph of the data edges that an edge of the pattern language
// accepts, with the property that the input has of them.
func (b *builder) subgraph(a *arguments) *Node {
	g, text := b.view(a, "edge", "an edge in quotes, as '(a)-[:KNOWS]->(b)'")
	key := ViewKey(g.Name, text)
	f := *g.Type.Facts
	f.Edges, f.Degree = types.Size(types.Arcs, key), types.Size(types.Degree, key)
	f.Labels, f.Input = false, ""
	return b.add(a.at, Node{Op: Subgraph, Type: &types.Type{Kind: types.Graph, Facts: &f}, Args: []*Node{g}, Name: text})
}

// matching is the ascending list of the vertices that a vertex of the pattern
// language accepts.
func (b *builder) matching(a *arguments) *Node {
	g, text := b.view(a, "pattern", "a vertex in quotes, as '(a:Person)'")
	t := types.ListOf(g.Type.Facts.From, types.Size(types.Length, ViewKey(g.Name, text)))
	t.Ascending = true
	return b.add(a.at, Node{Op: Matching, Type: t, Args: []*Node{g}, Name: text})
}

// between is the data edges from one vertex to another that an edge of the pattern
// language accepts, by their numbers.
func (b *builder) between(a *arguments) *Node {
	g, text := b.view(a, "edge", "an edge in quotes, as '(a)-[:KNOWS]->(b)'")
	args := []*Node{g}
	for _, end := range []string{"u", "v"} {
		n := b.arg(a, end, types.Int)
		if n.Type.Vertex != g.Name {
			b.fail(a.by[end].Pos(), end+" of between is "+describe(n.Type), "a vertex of "+g.Name)
		}
		args = append(args, n)
	}
	item := &types.Type{Kind: types.Int, Edge: g.Name}
	return b.add(a.at, Node{
		Op: Between, Type: types.ListOf(item, types.Size(types.Parallel, ViewKey(g.Name, text))), Args: args, Name: text,
	})
}

// holds is whether conditions of the pattern language are true of vertices and data
// edges of an input graph.
func (b *builder) holds(a *arguments) *Node {
	g, text := b.view(a, "pattern", "conditions in quotes, as '(a), (b) WHERE a.x < b.x'")
	args := []*Node{g}
	for _, x := range a.rest {
		n := b.value(x, a.scope)
		b.want(n, x.Pos(), "an argument of holds", types.Int)
		if n.Type.Vertex != g.Name && n.Type.Edge != g.Name {
			b.fail(x.Pos(), "an argument of holds is "+describe(n.Type), "a vertex of "+g.Name+", or a data edge of it from between")
		}
		args = append(args, n)
	}
	return b.add(a.at, Node{Op: Holds, Type: types.TBool, Args: args, Name: text})
}

// view reads an input graph and the text after it.
func (b *builder) view(a *arguments, param, expected string) (g *Node, text string) {
	g = b.arg(a, "g", types.Graph)
	if g.Op != Input {
		b.fail(a.by["g"].Pos(), a.name+" of a graph that the program makes", "an input graph, which has names for its labels")
	}
	s, ok := a.by[param].(*syntax.String)
	if !ok {
		b.fail(a.by[param].Pos(), param+" of "+a.name+" is not written out", expected)
	}
	b.p.Texts = append(b.p.Texts, Text{a.name, s.Value, s.At})
	return g, s.Value
}

// ViewKey names the sizes of a text's selection in an input graph.
func ViewKey(input, text string) string { return input + ", " + syntax.Quote(text) }
