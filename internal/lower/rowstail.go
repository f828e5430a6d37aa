package lower

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// gatherTail finds, for each group, the level after which its set is known.
func (r *rowsWriter) gatherTail() {
	for _, g := range r.close.groups {
		l := g.Levels[0]
		t := rowTail{level: l, known: r.nodes[r.p.Levels[l].Set].At}
		b := r.ownBounds(l, r.tail)
		for _, j := range slices.Concat(b.below, b.above, r.innerOf(l)) {
			t.known = max(t.known, j)
		}
		r.tails = append(r.tails, t)
	}
}

// innerOf returns the earlier levels whose vertices may be in tail level l's set.
func (r *rowsWriter) innerOf(l int) (out []int) {
	for _, d := range r.p.Levels[l].Distinct {
		if d > 0 && d < r.tail {
			out = append(out, d)
		}
	}
	return out
}

// degreesOnly reports whether only the sizes of rows are read. Then there is one group, whose set is the row
// of level 1's vertex or one side of it.
func (r *rowsWriter) degreesOnly() bool {
	if r.hood.Outside || r.tail != 2 || len(r.tails) != 1 {
		return false
	}
	l := r.tails[0].level
	i := r.p.Levels[l].Set
	s := &r.nodes[i]
	if !s.deferred || s.Op != plan.SetAnd || s.Of != 1 || !r.isOnes(s.Base) || r.maskOf(l) >= 0 || len(r.innerOf(l)) > 0 ||
		!r.inUniverse(r.ownBounds(l, r.tail)).none() {
		return false
	}
	return r.inUniverse(bounds{below: s.Below, above: s.Above}.without(r.chainBounds(s.Base))).without(r.sideBounds(1)).none()
}

// sideBounds returns the restrictions by level l that the row of its vertex fulfils already.
func (r *rowsWriter) sideBounds(l int) bounds {
	switch r.hood.rows {
	case plan.LowerSide:
		return bounds{below: []int{l}}
	case plan.UpperSide:
		return bounds{above: []int{l}}
	}
	return bounds{}
}

// waysFunc returns the function with the tail's arithmetic over the sizes of its sets.
func (r *rowsWriter) waysFunc() (*kir.Func, error) {
	t := &tailWriter{lowering: r.lowering, size: map[uint32]*kir.Var{}}
	count, err := t.width()
	if err != nil {
		return nil, err
	}
	r.prog.Types = append(r.prog.Types, kir.Alias{Name: "Count", Type: count})
	f := &kir.Func{Name: "ways", Index: 1, Doc: "the number of ways to match the tail's levels, from the sizes of their sets and of intersections", Result: count}
	for _, mask := range r.close.masks {
		name := "n"
		for rest := mask; rest != 0; rest &= rest - 1 {
			name += fmt.Sprintf("_%d", r.tails[bits.TrailingZeros32(rest)].level)
		}
		t.size[mask] = &kir.Var{Name: name, T: kir.T(kir.U32)}
		f.Params = append(f.Params, t.size[mask])
	}
	switch {
	case r.tail == len(r.pos)-1:
		t.body = []kir.Stmt{&kir.Return{X: kir.Convert{T: count, X: kir.R(f.Params[0])}}}
	case r.close.divisor != 0:
		t.sum(count)
	default:
		t.choices(count)
	}
	f.Body = t.body
	r.prog.Funcs = append(r.prog.Funcs, f)
	return f, nil
}

// sumType returns the type of the sum over all matches below one vertex of level 1. Each leaf has a count of
// type count.
func (r *rowsWriter) sumType(count kir.Type) kir.Type {
	levels := len(r.pos) - 2
	if count.Kind == kir.U64 && levels*bits.Len(uint(r.maxDegree(0))) > 63 {
		return kir.T(kir.U128)
	}
	return count
}

// least returns the smallest number of vertices that group g's set must have.
func (r *rowsWriter) least(g int) uint32 {
	if r.close.divisor == 0 {
		return uint32(len(r.close.groups[g].Levels))
	}
	return 1
}

// measure makes the row of group g, and computes its size without the vertices that are matched already.
func (r *rowsWriter) measure(g int) (lets []kir.Stmt, n *kir.Var) {
	t := &r.tails[g]
	t.row = &kir.Var{Name: fmt.Sprintf("t%d", t.level), T: kir.T(kir.Row)}
	n = &kir.Var{Name: fmt.Sprintf("n%d", t.level), T: kir.T(kir.U32)}
	size := kir.Fn(kir.RowSize, kir.R(t.row))
	for _, d := range r.innerOf(t.level) {
		size = kir.Op2(kir.Sub, size, r.inside(g, d))
	}
	r.sizes[1<<g] = n
	return []kir.Stmt{&kir.Let{Var: t.row, Init: r.within(t.level, r.tail)}, &kir.Let{Var: n, Init: size}}, n
}

// inside returns 1 if level d's vertex is in the set of group g. It leaves out the tests that level d has made
// already.
func (r *rowsWriter) inside(g, d int) kir.Expr {
	l := r.tails[g].level
	other := &r.p.Levels[d]
	b := bounds{below: r.allBelow(l), above: r.allAbove(l)}
	known := d >= r.hood.First && r.maskOf(l) == r.maskOf(d) &&
		b.without(bounds{below: other.Below, above: other.Above}).none() && len(r.p.Member(l, d).Back) == 0
	if known {
		return kir.C(1)
	}
	return kir.Convert{T: kir.T(kir.U32), X: kir.Fn(kir.RowHas, kir.R(r.tails[g].row), kir.R(r.pos[d]))}
}

// allBelow and allAbove return the restrictions of level l by levels before the tail: its own, and those of
// its node.
func (r *rowsWriter) allBelow(l int) []int {
	b := r.ownBounds(l, r.tail)
	return append(b.below, r.chainBounds(r.p.Levels[l].Set).below...)
}

func (r *rowsWriter) allAbove(l int) []int {
	b := r.ownBounds(l, r.tail)
	return append(b.above, r.chainBounds(r.p.Levels[l].Set).above...)
}

// add adds the ways to match the tail.
func (r *rowsWriter) add() kir.Stmt {
	args := make([]kir.Expr, len(r.close.masks))
	for i, mask := range r.close.masks {
		args[i] = r.blockSize(mask)
	}
	x := kir.Expr(kir.Invoke{Fn: r.ways, Args: args})
	if r.ways.Result != r.total.T {
		x = kir.Convert{T: r.total.T, X: x}
	}
	return &kir.Accumulate{To: kir.R(r.total), X: x}
}

// blockSize returns the number of vertices in all groups of a block, without those that are matched already.
func (r *rowsWriter) blockSize(mask uint32) kir.Expr {
	if r.hood.rows == NoRows {
		return kir.Fn(kir.Inner, kir.R(r.h), kir.R(r.pos[1]))
	}
	// A group that contains another one does not change an intersection.
	for rest := mask; rest != 0; rest &= rest - 1 {
		g := bits.TrailingZeros32(rest)
		for others := mask &^ (1 << g); others != 0; others &= others - 1 {
			o := bits.TrailingZeros32(others)
			if mask>>o&1 != 0 && r.holds(g, o) {
				mask &^= 1 << g
				break
			}
		}
	}
	if n := r.sizes[mask]; n != nil {
		return kir.R(n)
	}
	var row, n kir.Expr
	var inner []int
	for rest := mask; rest != 0; rest &= rest - 1 {
		g := bits.TrailingZeros32(rest)
		if row == nil {
			row, inner = kir.R(r.tails[g].row), r.innerOf(r.tails[g].level)
			continue
		}
		row = kir.Fn(kir.RowAnd, row, kir.R(r.tails[g].row))
		inner = slices.DeleteFunc(inner, func(d int) bool { return !slices.Contains(r.innerOf(r.tails[g].level), d) })
	}
	n = kir.Fn(kir.RowSize, row)
	for _, d := range inner {
		both := kir.Expr(nil)
		for rest := mask; rest != 0; rest &= rest - 1 {
			in := r.inside(bits.TrailingZeros32(rest), d)
			if both == nil {
				both = in
			} else {
				both = kir.Op2(kir.Mul, both, in)
			}
		}
		n = kir.Op2(kir.Sub, n, both)
	}
	return n
}

// holds reports whether every vertex of group b's set is in group a's.
func (r *rowsWriter) holds(a, b int) bool {
	la, lb := r.tails[a].level, r.tails[b].level
	if m := r.maskOf(la); m >= 0 && m != r.maskOf(lb) {
		return false
	}
	part := false
	for i := r.p.Levels[lb].Set; i >= 0; i = r.nodes[i].Base {
		part = part || i == r.p.Levels[la].Set
	}
	mine := r.ownBounds(la, r.tail)
	return part && mine.without(bounds{below: r.allBelow(lb), above: r.allAbove(lb)}).none()
}
