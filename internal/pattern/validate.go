package pattern

import "fmt"

// Invalid is the error of Validate. Vertex and Edge say where, -1 where the
// fault is in no single one.
type Invalid struct {
	Vertex, Edge int
	Msg          string
	Never        bool // it is sound, and contradicts itself
}

func (e *Invalid) Error() string { return e.Msg }

// Validate returns an *Invalid if p cannot be searched for. Such a pattern is empty or too
// large, has an edge that is a self-loop (which graphs do not store), or contradicts itself so
// that nothing could match.
func (p *Pattern) Validate() error {
	switch n := len(p.Vertices); {
	case n == 0:
		return &Invalid{Vertex: -1, Edge: -1, Msg: "the pattern is empty: it needs at least one vertex"}
	case n > MaxVertices:
		return &Invalid{Vertex: -1, Edge: -1, Msg: fmt.Sprintf("the pattern has %d vertices: at most %d are supported", n, MaxVertices)}
	}
	for i := range p.Vertices {
		if l := p.Vertices[i].Label; !l.Satisfiable() {
			return &Invalid{i, -1, fmt.Sprintf("no vertex can have the label %s of %s", l, p.VertexName(i)), true}
		}
	}
	for i := range p.Edges {
		if err := p.validateEdge(i); err != nil {
			return err
		}
	}
	for _, w := range p.Where {
		if err := validateExists(w); err != nil {
			return err
		}
	}
	return p.validateNegation()
}

func (p *Pattern) validateEdge(i int) error {
	e := &p.Edges[i]
	n := len(p.Vertices)
	if e.From < 0 || e.From >= n || e.To < 0 || e.To >= n {
		return &Invalid{Vertex: -1, Edge: i, Msg: fmt.Sprintf("edge %s has an end that is not a vertex of the pattern", p.EdgeName(i))}
	}
	if e.From == e.To && !e.variable() {
		return &Invalid{Vertex: -1, Edge: i, Msg: fmt.Sprintf("the edge from %s to itself can never match: graphs are stored without self-loops", p.VertexName(e.From))}
	}
	if !e.Label.Satisfiable() {
		return &Invalid{-1, i, fmt.Sprintf("no edge can have the label %s", e.Label), true}
	}
	return nil
}

// validateExists checks the sub-patterns inside w.
func validateExists(w Expr) (err error) {
	Walk(w, func(x Expr) bool {
		if x, ok := x.(Exists); ok && err == nil {
			err = x.Sub.Validate()
		}
		return err == nil
	})
	return err
}

// validateNegation finds an edge that the pattern both asks for and excludes.
// Only labels and directions are compared: a NOT edge with a predicate excludes
// fewer edges than its label says.
func (p *Pattern) validateNegation() error {
	for i := range p.Edges {
		not := &p.Edges[i]
		if !not.Negated || len(not.Where) > 0 || not.variable() {
			continue
		}
		for j := range p.Edges {
			e := &p.Edges[j]
			if e.Negated || e.variable() || !not.excludes(e) {
				continue
			}
			return &Invalid{-1, i, fmt.Sprintf("the pattern asks for an edge between %s and %s and excludes it with NOT", p.VertexName(e.From), p.VertexName(e.To)), true}
		}
	}
	return nil
}

// excludes reports whether each data edge that matches e matches not as well.
// An undirected data edge matches both directions, so an Either edge is only
// excluded by an Either NOT.
func (not *Edge) excludes(e *Edge) bool {
	same := not.From == e.From && not.To == e.To
	mirrored := not.From == e.To && not.To == e.From
	if not.Dir == Forward && (!same || e.Dir != Forward) {
		return false
	}
	return (same || mirrored) && e.Label.implies(not.Label)
}
