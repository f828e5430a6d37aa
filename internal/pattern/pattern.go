// Package pattern holds the query graph. It is the same however it was written, and whatever graph
// it will be matched in.
//
// It knows vertices, edges, label algebra, predicates and semantics, the canonical form and the
// automorphism group of a pattern, and the catalogue of named patterns. It must not know data
// graphs, plans or engines.
package pattern

import "fmt"

// MaxVertices is the largest number of vertices that a pattern may have.
const MaxVertices = 32

// Mode is the matching semantics of a pattern.
type Mode uint8

// The three modes. See the manual for what each counts on a triangle.
const (
	Iso   Mode = iota // names are distinct vertices (DIFFERENT NODES), the default
	Trail             // names may share vertices, edges are distinct (DIFFERENT EDGES)
	Hom               // anything may repeat (REPEATABLE ELEMENTS)
)

// String returns the name that commands and results use: iso, trail or hom.
func (m Mode) String() string {
	switch m {
	case Iso:
		return "iso"
	case Trail:
		return "trail"
	case Hom:
		return "hom"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode is the inverse of Mode.String.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "iso":
		return Iso, nil
	case "trail":
		return Trail, nil
	case "hom":
		return Hom, nil
	}
	return 0, fmt.Errorf("unknown semantics %q: want iso, trail or hom", s)
}

// Dir is the direction of a pattern edge.
type Dir uint8

const (
	// Either matches an undirected edge, or on a directed graph an edge in
	// either direction (once, however many there are). Written "--".
	Either Dir = iota
	// Forward matches a data edge that goes From → To; on an undirected graph
	// any edge. Written "-->"; "<--" is stored with From and To exchanged.
	Forward
)

// Vertex is one vertex of a pattern.
type Vertex struct {
	Name  string // the user's name; "" when anonymous
	Label *Label // nil: any label, and vertices without a label
	// Aside is set on an outer vertex of EXISTS that no path inside goes through:
	// INDUCED does not look at the edges of such a vertex.
	Aside bool
}

// Edge is one edge of a pattern. It is existential (parallel data edges are one
// embedding) unless it is Named, or the mode is Trail.
type Edge struct {
	Name     string // the user's name; "" when anonymous
	From, To int    // indexes into Pattern.Vertices
	Dir      Dir
	Label    *Label // nil: any label, and edges without a label
	Negated  bool   // NOT: there must be no such data edge; binds nothing
	// Where are predicates over this one edge and constants only. Under INDUCED the edge does
	// not accept a data edge that fails them. On a negated edge they say which data edges are
	// excluded.
	Where []Expr
	// Min and Max bound a variable-length edge; 1 and 1 for an ordinary one.
	Min, Max int
}

// Named reports whether each choice of a data edge is an embedding of its own.
func (e *Edge) Named() bool { return e.Name != "" && !e.Negated }

// Order is ORDERED e1 < e2 < … ON property WITHIN duration.
type Order struct {
	Edges  []int  // indexes into Pattern.Edges in the order asked for; may be empty
	On     string // property; "" is the graph's time column
	Within int64  // nanoseconds if Duration, else in the property's own unit; 0: no bound
	// Duration is true where Within was written with a unit (24h, 7d).
	Duration bool
}

// Pattern is a query graph with everything attached.
type Pattern struct {
	Name     string // catalogue name or file name; "" for a text
	Vertices []Vertex
	Edges    []Edge
	Mode     Mode
	Induced  bool // no edge between matched vertices beyond the pattern's
	// Where are the conjuncts over vertices and edges that matches must pass. Conjuncts over a
	// single edge that say which data edges it accepts are in Edge.Where.
	Where []Expr
	Order *Order // nil: no temporal constraint
}

// NumVertices is len(p.Vertices).
func (p *Pattern) NumVertices() int { return len(p.Vertices) }

// VertexName returns the user's name of vertex i, or "_i" when it has none.
func (p *Pattern) VertexName(i int) string {
	if n := p.Vertices[i].Name; n != "" {
		return n
	}
	return fmt.Sprintf("_%d", i)
}

// EdgeName returns the user's name of edge i, or "_ei" when it has none.
func (p *Pattern) EdgeName(i int) string {
	if n := p.Edges[i].Name; n != "" {
		return n
	}
	return fmt.Sprintf("_e%d", i)
}
