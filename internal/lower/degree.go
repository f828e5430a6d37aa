package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
)

// degreeEnd turns level l's least degree into an end of its ids, where vertices
// are in the order of their degrees within each class of labels.
func (x *lowering) degreeEnd(l int) (end *kir.GlobalDef, ok bool) {
	id, ok := x.p.DegreeEnd(l)
	if !ok {
		return nil, false
	}
	lv := &x.p.Levels[l]
	name := fmt.Sprintf("degree of at least %d", lv.MinDegree)
	if lv.Ranges != nil {
		name += " in " + x.rangeName(x.oneRange(l))
	}
	return x.limitOf(name, id), true
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
	return x.p.NeedsDegree(l) && !ok
}
