package graph

import (
	"context"
	"testing"
)

// twoStars is a graph on six vertices: 0 and 1 both point to all others, or have an
// edge to them, the edges between 0 and 1 included. Each edge has a row and a label.
func twoStars(t *testing.T, directed bool) *Graph {
	b := NewBuilder(BuildOptions{Directed: directed})
	c := &EdgeChunk{}
	var labels []string
	for u := range uint64(2) {
		for v := range uint64(6) {
			if u == v || !directed && v < u {
				continue
			}
			c.Src, c.Dst = append(c.Src, u), append(c.Dst, v)
			labels = append(labels, "l")
		}
	}
	c.Label = stringColumn(labels)
	if err := b.AddEdges(c); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStructureFaults breaks each rule of CheckStructure alone.
func TestStructureFaults(t *testing.T) {
	swap := func(a []uint32, i, j int) { a[i], a[j] = a[j], a[i] }
	for _, c := range []struct {
		name     string
		directed bool
		twist    func(g *Graph)
		want     string
	}{
		{"nothing", false, func(*Graph) {}, ""},
		{"nothing", true, func(*Graph) {}, ""},
		{"a list out of order", true, func(g *Graph) { swap(g.Out.Adj, 1, 2) }, "graph: adjacency: the list of vertex 0 is not ascending numbers below 6 without itself"},
		{"a neighbour twice", true, func(g *Graph) { g.Out.Adj[1] = g.Out.Adj[0] }, "graph: adjacency: the list of vertex 0 is not ascending numbers below 6 without itself"},
		{"the number of vertices as a neighbour", true, func(g *Graph) { g.Out.Adj[4] = 6 }, "graph: adjacency: the list of vertex 0 is not ascending numbers below 6 without itself"},
		{"a neighbour of itself", true, func(g *Graph) { g.Out.Adj[0] = 0 }, "graph: adjacency: the list of vertex 0 is not ascending numbers below 6 without itself"},
		{"reverse lists out of order", true, func(g *Graph) { at := g.In.Off[2]; swap(g.In.Adj, int(at), int(at)+1) }, "graph: in-adjacency: the list of vertex 2 is not ascending numbers below 6 without itself"},
		{"offsets of the reverse", true, func(g *Graph) { g.In.Off[1] = g.In.Off[2] + 1 }, "graph: in-offsets: offsets descend at vertex 1"},
		// The edge 1→5 becomes 3→5 in In alone: as many arcs, each list in order.
		{"another direction", true, func(g *Graph) { g.In.Adj[g.In.Off[6]-1] = 3 }, "graph: in-adjacency: it is not the reverse of the adjacency"},
		{"a list that is not in the reverse", true, func(g *Graph) { g.In.Adj = g.In.Adj[:len(g.In.Adj)-1]; g.In.Off[6]-- }, "graph: in-adjacency: it is not the reverse of the adjacency"},
		{"an edge in one list", false, func(g *Graph) { g.Out.Adj[len(g.Out.Adj)-1] = 4 }, "graph: adjacency: not every edge is in both its lists"},
		{"a row's source", false, func(g *Graph) { g.Edges.Src[1] = 1 }, "graph: edge sources: row 1 is out of order or no edge of the graph"},
		{"a row's target outside", false, func(g *Graph) { g.Edges.Dst[4] = 6 }, "graph: edge targets: row 4 is out of order or no edge of the graph"},
		{"rows out of order", true, func(g *Graph) { swap(g.Edges.Dst, 1, 2) }, "graph: edge targets: row 2 is out of order or no edge of the graph"},
		// Vertex 1 has a neighbour 0, but its undirected edge is a row of 0.
		{"a row that goes down", false, func(g *Graph) { g.Edges.Dst[5] = 0 }, "graph: edge targets: row 5 is out of order or no edge of the graph"},
		{"a row of no edge", true, func(g *Graph) { g.Edges.Dst[0] = 0 }, "graph: edge targets: row 0 is out of order or no edge of the graph"},
		{"a row's label", true, func(g *Graph) { g.Edges.Label[3] = 1 }, "graph: edge labels: row 3 is out of order or no edge of the graph"},
		{"no label", true, func(g *Graph) { g.Edges.Label[3] = NoLabel }, ""},
	} {
		g := twoStars(t, c.directed)
		c.twist(g)
		got := ""
		if err := g.CheckStructure(context.Background(), 2); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, directed %v: %q, want %q", c.name, c.directed, got, c.want)
		}
	}
}
