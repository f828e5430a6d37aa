package dynamic

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
