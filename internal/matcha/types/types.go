// Package types holds the types of Matcha programs, the facts known of a value besides its
// type, and checked arithmetic. Such facts are bounds, order, and whose vertex a value is. The
// arithmetic reports overflow.
//
// It must not know texts or programs.
//
// Why bounds: memory is allocated before a program runs (thesis, section 3.5.2). The size of a
// list is a formula over constants and over sizes of the inputs, or the program is refused.
package types

import (
	"fmt"
	"strings"
)

// Kind is the kind of a type.
type Kind uint8

// Kinds of types. A Var of the thesis is an Int, a Float or a Bool.
const (
	Void Kind = iota // the result of what is done for its effect
	Int              // 64 bits with a sign
	Float
	Bool
	Tuple
	List
	Graph
	Counter
)

var kindNames = [...]string{"nothing", "int", "float", "bool", "Tuple", "List", "Graph", "Counter"}

func (k Kind) String() string { return kindNames[k] }

// Scalar reports whether k is that of a Var.
func (k Kind) Scalar() bool { return k == Int || k == Float || k == Bool }

// Type is the type of a value, with bounds and facts that are known of the value. A Type does not change once
// it is made.
type Type struct {
	Kind Kind
	// Elem is the item of a List, or the component of a Tuple; Parts are a Tuple's
	// components one by one, which differ in facts only.
	Elem  *Type
	Parts []*Type

	// Max, of an Int: it lies between 0 and Max; of a List: the most items; of a
	// Counter: dense, the keys are 0 … Max-1; hashed, the most different keys. nil:
	// not known.
	Max *Bound
	// Lo and Hi are the range that an input's Int is declared with; Ranged: it is.
	Ranged bool
	Lo, Hi int64
	// Vertex names the input graph whose vertex an Int is, Edge the one whose data edge.
	Vertex, Edge string
	// Ascending says that a List of Int is ascending without repeats.
	Ascending bool
	// Fan, of a List of pairs: the most that begin with the same number; nil: Max.
	Fan *Bound
	// Hashed, of a Counter: keys are any numbers.
	Hashed bool
	// Facts of a Graph.
	Facts *Facts
}

// Facts are the known facts of a graph.
type Facts struct {
	IDs    *Bound // its vertices are 0 … IDs-1; nil: they are sparse
	Edges  *Bound // the most edges
	Degree *Bound // the most neighbours of a vertex
	From   *Type  // the first end of an edge, with its facts
	To     *Type  // the second
	Info   *Type  // of the edges' information, nil: there is none
	Labels bool   // vertices may have labels
	Input  string // the name of the input that it is, "" for a graph that is made
}

// Simple types.
var (
	TVoid  = &Type{Kind: Void}
	TInt   = &Type{Kind: Int}
	TFloat = &Type{Kind: Float}
	TBool  = &Type{Kind: Bool}
)

// TupleOf is a tuple of components of one kind.
func TupleOf(parts ...*Type) *Type {
	return &Type{Kind: Tuple, Elem: &Type{Kind: parts[0].Kind}, Parts: parts}
}

// ListOf is a list of at most max items.
func ListOf(item *Type, max *Bound) *Type { return &Type{Kind: List, Elem: item, Max: max} }

// InputGraph is the type of an input graph; info is that of what is known of its
// edges, nil: nothing, and then a vertex has each neighbour once.
func InputGraph(name string, info *Type) *Type {
	n := Size(Vertices, name)
	v := &Type{Kind: Int, Max: Plus(n, Exactly(-1)), Vertex: name}
	return &Type{Kind: Graph, Facts: &Facts{
		IDs: n, Edges: Size(Arcs, name), Degree: Size(Degree, name), From: v, To: v, Info: info, Labels: true, Input: name,
	}}
}

// Words is how many numbers a value of the type has: 1, or a tuple's size.
func (t *Type) Words() int {
	if t.Kind == Tuple {
		return len(t.Parts)
	}
	return 1
}

// Part is the type of component i of a tuple; a Var is its own component 0.
func (t *Type) Part(i int) *Type {
	if t.Kind == Tuple {
		return t.Parts[i]
	}
	return t
}

// Same reports whether two types are equal, facts apart.
func Same(a, b *Type) bool {
	if a.Kind != b.Kind || a.Words() != b.Words() {
		return false
	}
	return a.Elem == nil || b.Elem == nil || Same(a.Elem, b.Elem)
}

// Join returns the type of a value that is of one of two equal types: the facts that both have.
func Join(a, b *Type) *Type {
	if a == b {
		return a
	}
	out := &Type{Kind: a.Kind, Elem: a.Elem, Max: MaxOf(a.Max, b.Max)}
	if a.Vertex == b.Vertex {
		out.Vertex = a.Vertex
	}
	if a.Edge == b.Edge {
		out.Edge = a.Edge
	}
	for i := range a.Parts {
		out.Parts = append(out.Parts, Join(a.Parts[i], b.Parts[i]))
	}
	return out
}

// String is the type as a program writes it, with bounds of lists as formulas.
func (t *Type) String() string {
	switch t.Kind {
	case Tuple:
		return fmt.Sprintf("Tuple[%s, %d]", t.Elem, len(t.Parts))
	case List:
		item := t.Elem.Kind.String()
		if t.Elem.Kind == Tuple {
			item = t.Elem.String()
		}
		if t.Max == nil {
			return "List[" + item + "]"
		}
		return "List[" + item + ", " + t.Max.String() + "]"
	}
	return t.Kind.String()
}

// Describe is String with the other facts that passes use.
func (t *Type) Describe() string {
	s := t.String()
	var facts []string
	if t.Ascending {
		facts = append(facts, "ascending")
	}
	if t.Vertex != "" {
		facts = append(facts, "vertex of "+t.Vertex)
	}
	if t.Edge != "" {
		facts = append(facts, "data edge of "+t.Edge)
	}
	if f := t.Facts; f != nil {
		if f.IDs == nil {
			facts = append(facts, "sparse")
		}
		if f.Info != nil {
			facts = append(facts, "info "+f.Info.String())
		}
	}
	if t.Hashed {
		facts = append(facts, "hashed")
	}
	if len(facts) > 0 {
		s += " (" + strings.Join(facts, ", ") + ")"
	}
	return s
}
