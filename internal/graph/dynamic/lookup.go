package dynamic

// Number returns the id as a number. ok is false if it is a text.
func (id ID) Number() (x uint64, ok bool) { return id.num, id.kind == numberID }

// LookupEdgeLabel returns the number of an edge label, if the graph has had it. "" is NoLabel.
func (g *Graph) LookupEdgeLabel(name string) (l Label, ok bool) {
	if name == "" {
		return NoLabel, true
	}
	l, ok = g.byEdgeLabel[name]
	return l, ok
}
