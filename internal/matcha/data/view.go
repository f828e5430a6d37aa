package data

import (
	"errors"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/syntax"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// Viewer finds what texts of the pattern language select of one graph.
type Viewer interface {
	// Relation is the data edges that a text of two vertices and the edge between
	// them accepts, as lists of the second vertex by the first.
	Relation(text string) (*graph.CSR, error)
	// Vertices are those that a text of one vertex accepts, ascending.
	Vertices(text string) ([]uint32, error)
}

// findViews reads the program's texts of the pattern language.
func (s *Set) findViews() (err error) {
	s.relations, s.vertices = map[string]*graph.CSR{}, map[string][]uint32{}
	asg.Walk(s.p, func(n *asg.Node) {
		if err != nil || n.Op != asg.Subgraph && n.Op != asg.Matching {
			return
		}
		var mistake *syntax.Error
		if e := s.findView(n.Op, n.Args[0].Name, n.Name); errors.As(e, &mistake) {
			err = e
		} else if e != nil {
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
	case op == asg.Subgraph && s.relations[key] == nil:
		csr, err := view.Relation(text)
		if err != nil {
			return err
		}
		s.relations[key] = csr
		degree := 0
		for v := range uint32(csr.NumVertices()) {
			degree = max(degree, csr.Degree(v))
		}
		size(types.Arcs, len(csr.Adj))
		size(types.Degree, degree)
	case op == asg.Matching && s.vertices[key] == nil:
		all, err := view.Vertices(text)
		if err != nil {
			return err
		}
		s.vertices[key] = append([]uint32{}, all...)
		size(types.Length, len(all))
	}
	return nil
}

// Subgraph is the lists of a Subgraph's node.
func (s *Set) Subgraph(n *asg.Node) *graph.CSR {
	return s.relations[asg.ViewKey(n.Args[0].Name, n.Name)]
}

// Matching is the vertices of a Matching's node, ascending.
func (s *Set) Matching(n *asg.Node) []uint32 { return s.vertices[asg.ViewKey(n.Args[0].Name, n.Name)] }
