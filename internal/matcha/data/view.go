package data

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Viewer evaluates texts of the pattern language on one graph.
type Viewer interface {
	// Relation is the data edges that a text of two vertices and the edge between
	// them accepts, as lists of the second vertex by the first.
	Relation(text string) (graph.Lists, error)
	// Vertices are those that a text of one vertex accepts, ascending.
	Vertices(text string) ([]uint32, error)
	// Between is the data edges that a text of two vertices and the edge between
	// them accepts, one by one.
	Between(text string) (*DataEdges, error)
	// Condition is the conditions of a text of vertices and edges.
	Condition(text string) (*Condition, error)
	// Property is a property of all data edges.
	Property(name string) (*Property, error)
}

// DataEdges are the data edges of a graph that an edge of the pattern language
// accepts, by their numbers: an edge is named by its place among Dst.
type DataEdges struct {
	// Off and Dst are the lists of all data edges, Dst ascending in each, by their
	// sources; without directions an edge is in the list of its smaller end.
	Off []uint64
	Dst []uint32
	// Accepted has a bit for each that is accepted; nil: all are.
	Accepted []uint64
	Directed bool
	Either   bool // those from the second vertex to the first are accepted as well
	Turned   bool // they lead from the second vertex to the first
	Most     int  // between two vertices
}

// Each calls yield with those from u to v, ascending in each direction, until it
// returns false.
func (d *DataEdges) Each(u, v uint32, yield func(edge uint64) bool) {
	if d.Most == 0 {
		return
	}
	if d.Turned || !d.Directed && u > v {
		u, v = v, u
	}
	if d.one(u, v, yield) && d.Either {
		d.one(v, u, yield)
	}
}

func (d *DataEdges) one(u, v uint32, yield func(edge uint64) bool) bool {
	first, end := d.Off[u], d.Off[u+1]
	i, _ := slices.BinarySearch(d.Dst[first:end], v)
	for at := first + uint64(i); at < end && d.Dst[at] == v; at++ {
		if (d.Accepted == nil || d.Accepted[at/64]>>(at%64)&1 != 0) && !yield(at) {
			return false
		}
	}
	return true
}

// Condition is conditions over vertices and data edges of a graph.
type Condition struct {
	// Kinds says of each argument whether it is a data edge.
	Kinds []bool
	// Eval is whether the conditions are true of arguments.
	Eval func(args []types.Word) bool
	// Code writes the same condition as a function of a lane into a program. Names that it adds
	// begin with name. of says which arguments its parameters are: vertices are u32, data edges
	// u64.
	Code func(prog *kir.Program, name string) (f *kir.Func, of []int, err error)
}

// Mistake is an error at a place in a text of the pattern language.
type Mistake struct {
	Msg      string
	Expected string // a text that could stand there, or ""
	Col      int    // the character of the text, from 1
}

func (m *Mistake) Error() string { return m.Msg }

// TextError is the error of a text of the pattern language at its place in the program.
func TextError(f *syntax.File, t asg.Text, err error) error {
	var mistake *Mistake
	if !errors.As(err, &mistake) {
		return f.ErrorAt(t.At, err.Error())
	}
	e := f.ErrorAt(f.Within(t.At, mistake.Col), mistake.Msg)
	e.Expected = mistake.Expected
	return e
}

// findViews reads the program's texts of the pattern language.
func (s *Set) findViews() (err error) {
	s.relations, s.vertices = map[string]graph.Lists{}, map[string][]uint32{}
	s.between, s.conditions = map[string]*DataEdges{}, map[string]*Condition{}
	asg.Walk(s.p, func(n *asg.Node) {
		switch n.Op {
		case asg.Subgraph, asg.Matching, asg.Between, asg.Holds:
		default:
			return
		}
		if err != nil {
			return
		}
		if s.ctx.Err() != nil {
			err = context.Cause(s.ctx)
			return
		}
		var mistake *syntax.Error
		var inText *Mistake
		e := s.findView(n.Op, n.Args[0].Name, n.Name)
		if e == nil && n.Op == asg.Holds {
			e = s.Condition(n).fits(n)
		}
		switch i := slices.IndexFunc(s.p.Texts, func(t asg.Text) bool { return t.Text == n.Name }); {
		case errors.As(e, &mistake), errors.As(e, new(*MemoryError)):
			err = e
		case errors.As(e, &inText) && i >= 0:
			err = TextError(s.p.File, s.p.Texts[i], e)
		case e != nil:
			err = s.p.File.ErrorAt(n.Pos, e.Error())
		}
	})
	return err
}

func (s *Set) findView(op asg.Op, input, text string) error {
	key := asg.ViewKey(input, text)
	view := s.inputs[input].View
	size := func(of types.SymKind, n int) { s.sizes[types.Sym{Of: of, Input: key}] = int64(n) }
	switch {
	case view == nil:
		return errors.New("no texts of the pattern language can be read here")
	case op == asg.Subgraph && s.infos[input] != nil:
		if s.infos[key] == nil {
			return s.findInfo(input, text)
		}
	case op == asg.Subgraph && s.relations[key] == graph.Lists{}:
		lists, err := view.Relation(text)
		if err != nil {
			return err
		}
		s.relations[key] = lists
		if !s.own(input, lists.Dense) {
			if err := s.hold(int64(lists.Bytes())); err != nil {
				return err
			}
		}
		degree := 0
		for v := range lists.Vertices {
			degree = max(degree, lists.Degree(v))
		}
		size(types.Arcs, lists.Entries())
		size(types.Degree, degree)
	case op == asg.Matching && s.vertices[key] == nil:
		all, err := view.Vertices(text)
		if err != nil {
			return err
		}
		s.vertices[key] = append([]uint32{}, all...)
		if err := s.hold(4 * int64(len(all))); err != nil {
			return err
		}
		size(types.Length, len(all))
	case op == asg.Between && s.between[key] == nil:
		edges, err := view.Between(text)
		if err != nil {
			return err
		}
		s.between[key] = edges
		if err := s.hold(8 * int64(len(edges.Accepted))); err != nil {
			return err
		}
		size(types.Parallel, edges.Most)
	case op == asg.Holds && s.conditions[key] == nil:
		c, err := view.Condition(text)
		if err != nil {
			return err
		}
		s.conditions[key] = c
	}
	return nil
}

// fits compares the arguments of holds with the names in the text.
func (c *Condition) fits(n *asg.Node) error {
	args := n.Args[1:]
	if len(args) != len(c.Kinds) {
		return fmt.Errorf("%s names %d vertices and edges; given: %d", n.Name, len(c.Kinds), len(args))
	}
	for i, a := range args {
		what, is := "vertex", "data edge"
		if c.Kinds[i] {
			what, is = is, what
		}
		if (a.Type.Edge != "") != c.Kinds[i] {
			return fmt.Errorf("argument %d for %s is a %s, not a %s: vertices come first, then edges, as the text names them", i+1, n.Name, is, what)
		}
	}
	return nil
}

// own reports whether lists are those of an input itself.
func (s *Set) own(input string, csr *graph.CSR) bool {
	g := s.inputs[input].Graph
	return g != nil && csr != nil && len(csr.Adj) > 0 && (same(csr, g.Flat(&g.Out)) || g.Directed && same(csr, g.Flat(&g.In)))
}

// same reports whether lists are in the same memory.
func same(a, b *graph.CSR) bool { return len(b.Adj) > 0 && &a.Adj[0] == &b.Adj[0] }

// hold counts bytes of a selection.
func (s *Set) hold(bytes int64) error {
	if s.held += bytes; s.limit > 0 && s.held > s.limit {
		return &MemoryError{Err: fmt.Errorf("the edges and vertices that the program's texts select take more than the %d bytes that there may be", s.limit)}
	}
	return nil
}

// Held is the number of bytes of the selections of the program's texts.
func (s *Set) Held() int64 { return s.held }

// Between is the data edges of a Between's node.
func (s *Set) Between(n *asg.Node) *DataEdges { return s.between[asg.ViewKey(n.Args[0].Name, n.Name)] }

// Condition is the conditions of a Holds' node.
func (s *Set) Condition(n *asg.Node) *Condition {
	return s.conditions[asg.ViewKey(n.Args[0].Name, n.Name)]
}

// Subgraph is the lists of a Subgraph's node.
func (s *Set) Subgraph(n *asg.Node) graph.Lists {
	return s.relations[asg.ViewKey(n.Args[0].Name, n.Name)]
}

// Matching is the vertices of a Matching's node, ascending.
func (s *Set) Matching(n *asg.Node) []uint32 { return s.vertices[asg.ViewKey(n.Args[0].Name, n.Name)] }
