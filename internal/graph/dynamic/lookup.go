package dynamic

import "github.com/apache/arrow-go/v18/arrow"

// Number returns the id as a number. ok is false if it is a text.
func (id ID) Number() (x uint64, ok bool) { return id.num, id.kind == numberID }

// LookupVertexKey returns the number of a property of vertices, if the graph has had it.
func (g *Graph) LookupVertexKey(name string) (k Key, ok bool) {
	k, ok = g.vertexProps.byName[name]
	return k, ok
}

// LookupEdgeKey returns the number of a property of edges, if the graph has had it.
func (g *Graph) LookupEdgeKey(name string) (k Key, ok bool) {
	k, ok = g.edgeProps.byName[name]
	return k, ok
}

// LookupEdgeLabel returns the number of an edge label, if the graph has had it. "" is NoLabel.
func (g *Graph) LookupEdgeLabel(name string) (l Label, ok bool) {
	if name == "" {
		return NoLabel, true
	}
	if name == g.lastName {
		return g.lastLabel, true
	}
	l, ok = g.byEdgeLabel[name]
	return l, ok
}

// Miss is RemoveEdge of an edge whose label the graph has not had: it makes a version that changes nothing.
func (g *Graph) Miss(u, v ID) (Result, error) {
	if err := g.begin(NoLabel, 0, 0, u, v); err != nil {
		return 0, err
	}
	if u == v {
		return SelfLoop, nil
	}
	return Absent, nil
}

// VertexType returns the type of a property of vertices.
func (g *Graph) VertexType(k Key) arrow.DataType { return g.vertexProps.list[k].Type }

// EdgeType returns the type of a property of edges.
func (g *Graph) EdgeType(k Key) arrow.DataType { return g.edgeProps.list[k].Type }
