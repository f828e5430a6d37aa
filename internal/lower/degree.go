package lower

import (
	"fmt"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/kir"
)

// degreeEnd turns level l's least degree into an end of its ids, where vertices
// are in the order of their degrees within each class of labels.
func (x *lowering) degreeEnd(l int) (end *kir.GlobalDef, ok bool) {
	lv := &x.p.Levels[l]
	g := x.p.Graph
	if !x.needsDegree(l) {
		return nil, false
	}
	lists := x.p.Adjs[lv.MinDegreeAdj].Lists
	if !lists.DegreeOrdered || len(lv.Ranges) > 1 || len(g.Classes) > 1 && lv.Ranges == nil {
		return nil, false
	}
	r := x.oneRange(l)
	if len(g.Classes) > 1 {
		class := false
		for _, c := range g.Classes {
			class = class || c.First == r.First && c.End == r.End
		}
		if !class {
			return nil, false
		}
	}
	n := sort.Search(int(r.End-r.First), func(i int) bool { return lists.Degree(r.First+uint32(i)) < lv.MinDegree })
	name := fmt.Sprintf("degree of at least %d", lv.MinDegree)
	if lv.Ranges != nil {
		name += " in " + x.rangeName(r)
	}
	return x.limitOf(name, r.First+uint32(n)), true
}

// degreeImplied reports whether a vertex with a smaller id than level j's is
// below level l's end of degrees.
func (x *lowering) degreeImplied(l, j int) bool {
	lv, other := &x.p.Levels[l], &x.p.Levels[j]
	_, ok := x.degreeEnd(j)
	return ok && other.MinDegree >= lv.MinDegree && slices.Equal(lv.Ranges, other.Ranges)
}

// testsDegree reports whether level l's candidates are to be tested for their
// degree one by one.
func (x *lowering) testsDegree(l int) bool {
	_, ok := x.degreeEnd(l)
	return x.needsDegree(l) && !ok
}

// needsDegree reports whether the backward neighbours leave something of the
// least degree to be tested.
func (x *lowering) needsDegree(l int) bool {
	lv := &x.p.Levels[l]
	return lv.MinDegree > len(positive(lv.Back))
}
