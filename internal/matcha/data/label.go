package data

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/types"
)

// NoLabel is the label of a vertex that has none.
const NoLabel = types.Word(-1)

// findLabels numbers the labels of graphs whose labels the program looks at.
func (s *Set) findLabels() (err error) {
	asg.Walk(s.p, func(n *asg.Node) {
		switch n.Op {
		case asg.VertexLabel, asg.LabelNumber, asg.LabelFirst, asg.LabelEnd:
		default:
			return
		}
		if err != nil {
			return
		}
		name := n.Args[0].Type.Facts.Input
		if name == "" {
			return
		}
		g := s.inputs[name].Graph
		if n.Op == asg.LabelNumber && !slices.Contains(g.VertexLabels, n.Name) {
			err = s.p.File.ErrorAt(n.Pos, fmt.Sprintf("no vertex of %s has the label '%s'", name, n.Name))
		}
		if n.Op == asg.LabelNumber {
			return
		}
		for _, c := range g.Classes {
			if len(c.Labels) > 1 {
				one, two := g.VertexLabels[c.Labels[0]], g.VertexLabels[c.Labels[1]]
				e := s.p.File.ErrorAt(n.Pos, fmt.Sprintf("vertices of %s have several labels, such as %s and %s: none of them is the vertex's label", name, one, two))
				e.Hint = fmt.Sprintf("vertices(%s, '(a:LABEL)') is the list of the vertices with a label; they may have others", name)
				err = e
				return
			}
		}
		if s.labels[name] == nil {
			for _, c := range g.Classes {
				label := NoLabel
				if len(c.Labels) == 1 {
					label = labelNumber(g, c.Labels[0])
				}
				s.labels[name] = append(s.labels[name], label)
			}
		}
	})
	return err
}

// labelNumber is the number of a label: the number that its name is, where all
// names of labels are numbers from 0 on, else its place among the names.
func labelNumber(g *graph.Graph, label uint32) types.Word {
	for _, name := range g.VertexLabels {
		if v, err := strconv.ParseInt(name, 10, 64); err != nil || v < 0 || strconv.FormatInt(v, 10) != name {
			return types.Word(label)
		}
	}
	v, _ := strconv.ParseInt(g.VertexLabels[label], 10, 64) // checked above
	return types.Word(v)
}

// LabelNumber is the number of the label of that name, which some vertex has.
func (s *Set) LabelNumber(input, name string) types.Word {
	g := s.inputs[input].Graph
	return labelNumber(g, uint32(slices.Index(g.VertexLabels, name)))
}

// Label is the number of a vertex's label; NoLabel where it has none.
func (s *Set) Label(input string, v uint32) types.Word {
	return s.labels[input][s.inputs[input].Graph.ClassOf(v)]
}

// LabelRange is where the vertices with a label are: first ≤ v < end.
func (s *Set) LabelRange(input string, label types.Word) (first, end uint32) {
	for i, l := range s.labels[input] {
		if l == label {
			c := s.inputs[input].Graph.Classes[i]
			return c.First, c.End
		}
	}
	return 0, 0
}
