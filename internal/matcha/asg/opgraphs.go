package asg

import (
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// The operators of graphs.

// maxDense is the largest id for which a made graph has an array over ids, if the ids are not
// vertices of an input graph.
const maxDense = 1 << 24

func (b *builder) mkGraph(a *arguments) *Node {
	pairs := func(param string) *Node {
		l := b.arg(a, param, types.List)
		if t := l.Type.Elem; t.Kind != types.Tuple || len(t.Parts) != 2 || t.Elem.Kind != types.Int {
			b.fail(a.by[param].Pos(), param+" of mk_graph is "+describe(l.Type), "List[Tuple[int, 2]]")
		}
		return l
	}
	edges := pairs("edges")
	l := edges.Type
	f := &types.Facts{Edges: l.Max, Degree: types.MinOf(l.Fan, l.Max), From: l.Elem.Part(0), To: l.Elem.Part(1)}
	if n, ok := f.From.Max.Constant(); f.From.Vertex != "" || ok && n < maxDense {
		f.IDs = types.Plus(f.From.Max, types.Exactly(1))
	}
	n := Node{Op: MakeGraph, Args: []*Node{edges}}
	if a.by["vlabel"] != nil {
		n.Args = append(n.Args, pairs("vlabel"))
		n.At |= WithLabels
		f.Labels = true
	}
	if x := a.by["einfo"]; x != nil {
		info := b.arg(a, "einfo", types.List)
		if !info.Type.Elem.Kind.Scalar() {
			b.fail(x.Pos(), "einfo of mk_graph is "+describe(info.Type), "a list of int, float or bool")
		}
		b.sameLength(x.Pos(), "einfo for %d edges has %d items", edges, info)
		n.Args = append(n.Args, info)
		n.At |= WithInfo
		f.Info = info.Type.Elem
	}
	n.Type = &types.Type{Kind: types.Graph, Facts: f}
	return b.add(a.at, n)
}

func (b *builder) graphAndVertex(a *arguments) []*Node {
	return []*Node{b.arg(a, "g", types.Graph), b.arg(a, "v", types.Int)}
}

func (b *builder) neighbor(a *arguments) *Node {
	args := b.graphAndVertex(a)
	f := args[0].Type.Facts
	t := types.ListOf(f.To, f.Degree)
	t.Ascending = f.Info == nil
	return b.add(a.at, Node{Op: Neighbor, Type: t, Args: args})
}

func (b *builder) edgeInfo(a *arguments) *Node {
	args := b.graphAndVertex(a)
	f := args[0].Type.Facts
	if f.Info == nil {
		b.failHint(a.by["g"].Pos(), "the graph has no information on its edges", "a graph made with einfo, or an input that is declared with it",
			"input G: Graph[int, 'time'] has the property time of its edges")
	}
	return b.add(a.at, Node{Op: EdgeInfo, Type: types.ListOf(f.Info, f.Degree), Args: args})
}

func (b *builder) vertexLabel(a *arguments) *Node {
	args := b.graphAndVertex(a)
	if !args[0].Type.Facts.Labels {
		b.fail(a.by["g"].Pos(), "the graph has no labels", "a graph made with vlabel, or an input")
	}
	return b.add(a.at, Node{Op: VertexLabel, Type: types.TInt, Args: args})
}

func (b *builder) labelNumber(a *arguments) *Node {
	g := b.arg(a, "g", types.Graph)
	if g.Type.Facts.Input == "" {
		b.fail(a.by["g"].Pos(), "label of a graph that the program makes", "an input graph, whose labels have names")
	}
	name, ok := a.by["name"].(*syntax.String)
	if !ok {
		b.fail(a.by["name"].Pos(), "name of label is not written out", "a label's name in quotes")
	}
	return b.add(a.at, Node{Op: LabelNumber, Type: types.TInt, Args: []*Node{g}, Name: name.Value})
}

func (b *builder) vertices(a *arguments) *Node {
	if a.by["pattern"] != nil {
		return b.matching(a)
	}
	g := b.arg(a, "g", types.Graph)
	f := g.Type.Facts
	max := types.Times(types.Exactly(2), f.Edges)
	if g.Op == Input || g.Op == Subgraph { // of which a subgraph has all
		max = f.IDs
	}
	t := types.ListOf(types.Join(f.From, f.To), max)
	t.Ascending = true
	return b.add(a.at, Node{Op: Vertices, Type: t, Args: []*Node{g}})
}

func (b *builder) edges(a *arguments) *Node {
	g := b.arg(a, "g", types.Graph)
	f := g.Type.Facts
	t := types.ListOf(types.TupleOf(f.From, f.To), f.Edges)
	t.Fan = f.Degree
	return b.add(a.at, Node{Op: Edges, Type: t, Args: []*Node{g}})
}
