package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// The view for the local method. One function, nest, searches all levels below a vertex of level 1, over
// rows of bits. RowsCode has the plan's other properties, which a schedule needs.
//
// Functions:
//
//	mask_ok(q, i, v)       may v be where mask i is asked for?
//	ways(q, n…)            the number of ways to match the tail
//	nest(q, h, p1, part)   the matches below level 1 at position p1
//	level1_from(q, h), level1_end(q, h)    the positions of level 1
//	nest(q, h, row1, at1, end1, p1, part)  with an outside vertex: its row, how
//	                       many of the universe have smaller ids and how many
//	                       have no larger one, its position (~0: none)
//	outside_from(q, root), outside_end(q, root), outside_ok(q, root, v)

// rowsWriter is the making of the functions over rows.
type rowsWriter struct {
	*lowering
	hood  hood
	inner plan.Side // with NoRows, the side that is counted
	h     *kir.Var
	pos   []*kir.Var // the position of each level's vertex
	// row1, at1 and end1 are the outside vertex's.
	row1, at1, end1, part *kir.Var
	node                  []*kir.Var // values of set nodes, once they are made
	masks                 []rowMask
	tails                 []rowTail // by group
	sizes                 map[uint32]*kir.Var
	ways                  *kir.Func
	total                 *kir.Var
}

// rowMask is a condition on single vertices.
type rowMask struct {
	ranges []plan.Range
	bits   []uint64
	level  int // one that has it
}

// rowTail is the set of one group of the tail.
type rowTail struct {
	level int
	known int // the level after which it can be made
	row   *kir.Var
}

func (x *lowering) rowsView() error {
	switch {
	case len(x.p.Levels) < 3:
		return plan.Refusef("the pattern has two vertices")
	case x.tail < 2:
		return plan.Refusef("all levels except the first are closed by arithmetic")
	}
	r := &rowsWriter{
		lowering: x, hood: hoodOf(x.p, x.tail), h: &kir.Var{Name: "h", T: kir.T(kir.Hood)},
		part: &kir.Var{Name: "part", T: kir.T(kir.U32)}, sizes: map[uint32]*kir.Var{},
	}
	for l := range x.p.Levels {
		r.pos = append(r.pos, &kir.Var{Name: fmt.Sprintf("p%d", l), T: kir.T(kir.U32)})
	}
	r.node = make([]*kir.Var, len(x.nodes))
	for i := range x.p.Levels {
		r.maskOf(i)
	}
	r.gatherTail()
	if r.degreesOnly() {
		r.inner, r.hood.rows = r.hood.rows, NoRows
	}
	x.adjs[0].Oriented = true
	x.free(0, r.maskFunc())
	count := kir.T(kir.U64)
	if x.tail < len(x.p.Levels) {
		f, err := r.waysFunc()
		if err != nil {
			return err
		}
		r.ways = f
		count = f.Result
	} else {
		x.prog.Types = append(x.prog.Types, kir.Alias{Name: "Count", Type: count})
	}
	x.owner("", 1, "")
	if r.hood.Outside {
		for _, f := range r.outsideFuncs() {
			x.free(0, f)
		}
	} else {
		from, end := r.limits1()
		x.free(2, r.positionFunc("level1_from", "the first position of level 1; level1_end is the one after the last", from))
		x.free(2, r.positionFunc("level1_end", "", end))
	}
	if !r.hood.SizesOnly {
		x.free(2, r.nestFunc(count))
	}
	x.owner("", 2, "")
	r.numbers()
	return nil
}

// numbers records the constants that a schedule needs.
func (r *rowsWriter) numbers() {
	r.out.Rows = RowsCode{
		Hood: r.hood.Hood, Inside: r.hood.inside, Rows: r.hood.rows, Inner: r.inner, Parts: r.tail > 2, Mask1: -1, Terms: len(r.close.masks),
	}
	level1 := &r.p.Levels[1]
	switch r.out.Rows.Level1 = r.hood.Universe; {
	case r.hood.Universe != plan.AllSides || r.hood.Outside:
	case slices.Contains(level1.Below, 0):
		r.out.Rows.Level1 = plan.LowerSide
	case slices.Contains(level1.Above, 0):
		r.out.Rows.Level1 = plan.UpperSide
	}
	if !r.hood.Outside {
		r.out.Rows.Mask1 = r.maskOf(1)
	}
	r.out.Rows.Masks = len(r.masks)
}

// maskOf is the number of level l's mask, -1 where it needs none: the inside
// levels' labels and predicates.
func (r *rowsWriter) maskOf(l int) int {
	lv := &r.p.Levels[l]
	if l < r.hood.First || lv.Ranges == nil && lv.Bits == nil {
		return -1
	}
	i := slices.IndexFunc(r.masks, func(m rowMask) bool {
		return slices.Equal(m.ranges, lv.Ranges) && (m.ranges == nil) == (lv.Ranges == nil) && plan.SameBits(m.bits, lv.Bits)
	})
	if i < 0 {
		i = len(r.masks)
		r.masks = append(r.masks, rowMask{lv.Ranges, lv.Bits, l})
	}
	return i
}

func (r *rowsWriter) maskFunc() *kir.Func {
	i, v := &kir.Var{Name: "i", T: kir.T(kir.U32)}, &kir.Var{Name: "v", T: kir.T(kir.U32)}
	ok := kir.True
	for k, m := range slices.Backward(r.masks) {
		if this := r.allows(m, kir.R(v)); k == len(r.masks)-1 {
			ok = this
		} else {
			ok = kir.Select{If: kir.Op2(kir.Eq, kir.R(i), kir.C(uint32(k))), Then: this, Else: ok}
		}
	}
	return &kir.Func{
		Name: "mask_ok", Doc: "whether mask i has v", Params: []*kir.Var{i, v}, Result: kir.T(kir.Bool),
		Body: []kir.Stmt{&kir.Return{X: ok}},
	}
}

// allows is the test of a mask.
func (r *rowsWriter) allows(m rowMask, v kir.Expr) kir.Expr {
	var tests []kir.Expr
	if m.ranges != nil {
		tests = append(tests, r.inRanges(m.ranges, v))
	}
	if m.bits != nil {
		tests = append(tests, kir.Fn(kir.Bit, kir.G(r.bitsOf(m.bits, "bits of "+r.names[m.level])), v))
	}
	return kir.All(tests...)
}

// limits1 are the positions of an inside level 1 by its bounds.
func (r *rowsWriter) limits1() (from, end kir.Expr) {
	lv := &r.p.Levels[1]
	from, end = kir.C(0), kir.C(^uint32(0))
	if len(lv.Above) > 0 && r.hood.Universe != plan.UpperSide {
		from = kir.Fn(kir.RootCut, kir.R(r.h))
	}
	if len(lv.Below) > 0 && r.hood.Universe != plan.LowerSide {
		end = kir.Fn(kir.RootCut, kir.R(r.h))
	}
	return from, end
}

func (r *rowsWriter) positionFunc(name, doc string, x kir.Expr) *kir.Func {
	return &kir.Func{Name: name, Doc: doc, Params: []*kir.Var{r.h}, Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: x}}}
}

// outsideFuncs say which vertices the outside vertex may be.
func (r *rowsWriter) outsideFuncs() []*kir.Func {
	root, v := &kir.Var{Name: "root", T: kir.T(kir.U32)}, &kir.Var{Name: "v", T: kir.T(kir.U32)}
	m := func(int) kir.Expr { return kir.R(root) }
	lo, hi := r.levelBounds(1, 1).limits(m)
	if lo == nil {
		lo = kir.C(0)
	}
	if hi == nil {
		hi = kir.G(r.limitOf("vertices", uint32(r.p.Graph.NumVertices())))
	}
	tests := []kir.Expr{kir.Op2(kir.Ne, kir.R(v), kir.R(root))}
	if lv := &r.p.Levels[1]; lv.Bits != nil || len(lv.Ranges) > 1 {
		tests = append(tests, r.allows(rowMask{lv.Ranges, lv.Bits, 1}, kir.R(v)))
	}
	tests = append(tests, r.apart(1, kir.R(v), m)...)
	limit := func(name, doc string, x kir.Expr) *kir.Func {
		return &kir.Func{Name: name, Doc: doc, Params: []*kir.Var{root}, Result: kir.T(kir.U32), Body: []kir.Stmt{&kir.Return{X: x}}}
	}
	return []*kir.Func{
		limit("outside_from", "the first candidate of the outside vertex; outside_end is the one after the last", lo),
		limit("outside_end", "", hi),
		{
			Name: "outside_ok", Doc: "whether the outside vertex may be v, one of the candidates", Params: []*kir.Var{root, v},
			Result: kir.T(kir.Bool), Body: []kir.Stmt{&kir.Return{X: kir.All(tests...)}},
		},
	}
}

// nestFunc is everything below one vertex of level 1.
func (r *rowsWriter) nestFunc(count kir.Type) *kir.Func {
	count = r.sumType(count)
	f := &kir.Func{Name: "nest", Index: 2, Doc: "the number of matches below " + r.names[1], Params: []*kir.Var{r.h}, Result: count}
	if r.hood.Outside {
		r.row1 = &kir.Var{Name: "row1", T: kir.T(kir.Row)}
		r.at1, r.end1 = &kir.Var{Name: "at1", T: kir.T(kir.U32)}, &kir.Var{Name: "end1", T: kir.T(kir.U32)}
		f.Params = append(f.Params, r.row1, r.at1, r.end1)
	}
	f.Params = append(f.Params, r.pos[1], r.part)
	r.total = &kir.Var{Name: "total", T: count}
	f.Body = []kir.Stmt{&kir.Let{Var: r.total, Init: kir.C64(count.Kind, 0)}}
	if r.hood.rows == NoRows {
		f.Body = append(f.Body, r.add())
	} else {
		f.Body = append(f.Body, r.bind(0, func() []kir.Stmt { return r.bind(1, func() []kir.Stmt { return r.level(2) }) })...)
	}
	f.Body = append(f.Body, &kir.Return{X: kir.R(r.total)})
	return f
}

// loopsWithoutLook is how many loops in each other run without a look at whether
// the search is stopped.
const loopsWithoutLook = 2

// level is the loop of level l and what is inside.
func (r *rowsWriter) level(l int) []kir.Stmt {
	if l == r.tail {
		return []kir.Stmt{r.add()}
	}
	c := &kir.Var{Name: fmt.Sprintf("c%d", l), T: kir.T(kir.Row)}
	over := r.candidates(l)
	if l == 2 {
		over = kir.Fn(kir.RowPart, over, kir.R(r.part))
	}
	body := func() []kir.Stmt { return r.level(l + 1) }
	if r.tail-l > loopsWithoutLook {
		// A task may take long, and a search that is stopped is to end soon.
		body = func() []kir.Stmt {
			leave := &kir.If{Cond: kir.Fn(kir.Leave, kir.R(r.h), kir.R(r.pos[l])), Then: []kir.Stmt{&kir.Return{X: kir.R(r.total)}}}
			return append([]kir.Stmt{leave}, r.level(l+1)...)
		}
	}
	if l == len(r.pos)-1 {
		return []kir.Stmt{&kir.Let{Var: c, Init: over}, &kir.Each{X: r.pos[l], Over: kir.R(c), Body: []kir.Stmt{
			&kir.Accumulate{To: kir.R(r.total), X: kir.C64(r.total.T.Kind, 1)},
		}}}
	}
	return []kir.Stmt{&kir.Let{Var: c, Init: over}, &kir.Each{X: r.pos[l], Over: kir.R(c), Body: r.bind(l, body)}}
}

// bind makes the nodes and the tail's sizes that level l's vertex makes
// possible; what comes then runs only where none is empty.
func (r *rowsWriter) bind(l int, then func() []kir.Stmt) []kir.Stmt {
	type step struct {
		lets []kir.Stmt
		go_  kir.Expr
	}
	var steps []step
	for i := range r.nodes {
		if r.nodes[i].At == l && !r.nodes[i].deferred && !r.isOnes(i) {
			v := &kir.Var{Name: fmt.Sprintf("s%d", i), T: kir.T(kir.Row)}
			let := &kir.Let{Var: v, Init: r.value(i)}
			r.node[i] = v
			steps = append(steps, step{[]kir.Stmt{&kir.Comment{Text: r.formula(i)}, let}, kir.Fn(kir.RowAny, kir.R(v))})
		}
	}
	for g := range r.tails {
		if r.tails[g].known == l {
			lets, n := r.measure(g)
			steps = append(steps, step{lets, kir.Op2(kir.Ge, kir.R(n), kir.C(r.least(g)))})
		}
	}
	body := then()
	for _, s := range slices.Backward(steps) {
		body = append(s.lets, &kir.If{Cond: s.go_, Then: body})
	}
	return body
}

// value is node i of the set program.
func (r *rowsWriter) value(i int) kir.Expr {
	s := &r.nodes[i]
	row, kept := kir.Expr(nil), plan.AllSides
	switch {
	case s.Of == 0:
		row = kir.Fn(kir.RowOnes, kir.R(r.h))
	case s.Of == 1 && r.hood.Outside:
		row = kir.R(r.row1)
	default:
		row, kept = kir.Fn(kir.RowOf, kir.R(r.h), kir.R(r.pos[s.Of])), r.hood.rows
	}
	have := bounds{}
	if s.Op != plan.SetList {
		have = r.chainBounds(s.Base)
		base := r.nodeRow(s.Base)
		switch {
		case s.Op == plan.SetMinus:
			row, kept = kir.Fn(kir.RowMinus, base, row), plan.AllSides
		case s.Of == 0:
			row = base
		case r.isOnes(s.Base):
		default:
			row = kir.Fn(kir.RowAnd, base, row)
		}
	}
	switch kept {
	case plan.LowerSide:
		have.below = append(have.below, s.Of)
	case plan.UpperSide:
		have.above = append(have.above, s.Of)
	}
	return r.cut(row, bounds{below: s.Below, above: s.Above}.without(have))
}

// nodeRow is the value of node i, made in place where it is not kept.
func (r *rowsWriter) nodeRow(i int) kir.Expr {
	if r.node[i] == nil {
		return r.value(i)
	}
	return kir.R(r.node[i])
}

// isOnes reports whether node i is the whole universe.
func (r *rowsWriter) isOnes(i int) bool {
	s := &r.nodes[i]
	return s.Op == plan.SetList && s.Of == 0 && r.inUniverse(bounds{below: s.Below, above: s.Above}).none()
}

// inUniverse drops the bounds by the root that the universe implies.
func (r *rowsWriter) inUniverse(b bounds) bounds {
	switch r.hood.Universe {
	case plan.LowerSide:
		return b.without(bounds{below: []int{0}})
	case plan.UpperSide:
		return b.without(bounds{above: []int{0}})
	}
	return b
}

// chainBounds are the restrictions that node i and those it is made of have.
func (r *rowsWriter) chainBounds(i int) (b bounds) {
	for ; i >= 0; i = r.nodes[i].Base {
		b.below, b.above = append(b.below, r.nodes[i].Below...), append(b.above, r.nodes[i].Above...)
	}
	return b
}

// cut is the part of a row within restrictions.
func (r *rowsWriter) cut(row kir.Expr, b bounds) kir.Expr {
	b = r.inUniverse(b)
	var lo, hi kir.Expr
	for _, j := range b.below {
		hi = narrow(kir.Min, hi, r.before(j))
	}
	for _, j := range b.above {
		lo = narrow(kir.Max, lo, r.after(j))
	}
	if hi != nil {
		row = kir.Fn(kir.RowBelow, row, hi)
	}
	if lo != nil {
		row = kir.Fn(kir.RowFrom, row, lo)
	}
	return row
}

// before is the number of positions whose vertices have smaller ids than level
// j's, and after that of those with no larger ones.
func (r *rowsWriter) before(j int) kir.Expr {
	switch {
	case j == 0:
		return kir.Fn(kir.RootCut, kir.R(r.h))
	case j == 1 && r.hood.Outside:
		return kir.R(r.at1)
	}
	return kir.R(r.pos[j])
}

func (r *rowsWriter) after(j int) kir.Expr {
	switch {
	case j == 0:
		return kir.Fn(kir.RootCut, kir.R(r.h))
	case j == 1 && r.hood.Outside:
		return kir.R(r.end1)
	}
	return kir.Op2(kir.Add, kir.R(r.pos[j]), kir.C(1))
}

// candidates is level l's row with everything that the level asks for.
func (r *rowsWriter) candidates(l int) kir.Expr {
	row := r.within(l, l)
	for _, j := range r.p.Levels[l].Distinct {
		if j > 0 {
			row = kir.Fn(kir.RowWithout, row, kir.R(r.pos[j]))
		}
	}
	return row
}

// within is level l's row within its mask and its restrictions by levels before
// end; it may hold vertices that are matched already.
func (r *rowsWriter) within(l, end int) kir.Expr {
	row := r.nodeRow(r.p.Levels[l].Set)
	if m := r.maskOf(l); m >= 0 {
		row = kir.Fn(kir.RowAnd, row, kir.Fn(kir.RowMask, kir.R(r.h), kir.C(uint32(m))))
	}
	return r.cut(row, r.ownBounds(l, end))
}

// ownBounds are level l's restrictions by levels before end that its node does
// not have.
func (r *rowsWriter) ownBounds(l, end int) bounds {
	lv := &r.p.Levels[l]
	before := func(levels []int) []int {
		return slices.DeleteFunc(slices.Clone(levels), func(j int) bool { return j >= end })
	}
	return bounds{below: before(lv.Below), above: before(lv.Above)}.without(r.chainBounds(r.p.Levels[l].Set))
}
