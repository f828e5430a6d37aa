package plan

import (
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/graph"
)

// NeedsDegree reports whether the backward neighbours of level l leave something of its
// least degree to be tested.
func (p *Plan) NeedsDegree(l int) bool {
	lv := &p.Levels[l]
	backs := 0
	for _, b := range lv.Back {
		if !b.Neg {
			backs++
		}
	}
	return lv.MinDegree > backs
}

// DegreeEnd returns the first id at which level l's vertices have too few neighbours. It needs
// ids that ascend as degrees fall, so one allowed range of ids inside one class of labels. If
// ok is false, a needed least degree is tested vertex by vertex.
func (p *Plan) DegreeEnd(l int) (end uint32, ok bool) {
	if !p.NeedsDegree(l) {
		return 0, false
	}
	lv, classes := &p.Levels[l], p.Graph.Classes
	lists := p.Adjs[lv.MinDegreeAdj].Lists
	if !lists.DegreeOrdered || len(lv.Ranges) > 1 || len(classes) > 1 && lv.Ranges == nil {
		return 0, false
	}
	r := Range{0, uint32(p.Graph.NumVertices())}
	if lv.Ranges != nil {
		r = Range{}
		if len(lv.Ranges) > 0 {
			r = lv.Ranges[0]
		}
	}
	if len(classes) > 1 && !slices.ContainsFunc(classes, func(c graph.Class) bool { return c.First == r.First && c.End == r.End }) {
		return 0, false
	}
	n := sort.Search(int(r.End-r.First), func(i int) bool { return lists.Degree(r.First+uint32(i)) < lv.MinDegree })
	return r.First + uint32(n), true
}
