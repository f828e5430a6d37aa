package lower

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// In the Checks view the tail is counted by testing candidates one by one. The sum over the
// plan's terms needs, for each block of levels, the number of vertices that all levels of the
// block accept. Block<b> finds these as a level does, by pivot and valid, with the conditions
// of all levels of the block. combine makes the total of the blocks' sizes.

// blocksView writes Block<b>::pivot and valid for each block of the tail, single groups first,
// and combine. If the plan has edge choices it also writes choices; a match and the result of
// combine are both multiplied by it.
func (x *lowering) blocksView() error {
	if len(x.p.Edges) > 0 {
		x.out.Checks.Choices = true
		p, m := matched()
		x.choicesFunc([]*kir.Var{p}, m)
	}
	if x.tail == len(x.p.Levels) {
		return nil
	}
	sizes := &kir.Var{Name: "n", T: kir.ArrayOf(kir.U32, 0)}
	t := &tailWriter{lowering: x, size: map[uint32]*kir.Var{}}
	for _, g := range x.close.groups {
		t.sets = append(t.sets, tailSet{level: g.Levels[0]})
	}
	var masks []uint32
	t.measure = func(mask uint32) kir.Expr {
		masks = append(masks, mask)
		return kir.Elem{X: kir.R(sizes), I: kir.C(uint32(len(masks) - 1))}
	}
	count, err := t.total()
	if err != nil {
		return err
	}
	for i, mask := range masks {
		var levels []int
		for rest := mask; rest != 0; rest &= rest - 1 {
			levels = append(levels, t.sets[bits.TrailingZeros32(rest)].level)
		}
		x.block(i, levels)
	}
	x.out.Checks.Blocks, x.out.Checks.Groups = len(masks), len(x.close.groups)
	x.free(1, &kir.Func{
		Name: "combine", Doc: "the number of ways to match the remaining levels, from the sizes of the blocks: " + strings.Join(x.names[x.tail:], ", "),
		Params: []*kir.Var{sizes}, Result: count, Body: t.body,
	})
	x.owner("", 1, "")
	return nil
}

// block writes block i: the vertices that all of some tail levels accept.
func (x *lowering) block(i int, levels []int) {
	l := merged{x: x, levels: levels, end: x.tail}
	doc := fmt.Sprintf("block %d:", i)
	for _, at := range levels {
		doc += " " + x.names[at]
	}
	valid := l.valid()
	// Without a test, the length of the list is the number.
	sized := uint64(0)
	if len(valid.Body) == 1 && !x.inParts() {
		sized = 1
	}
	x.owner("Block", i, doc, kir.Define{Name: "pivots", Value: uint64(len(l.positive()))}, kir.Define{Name: "sized", Value: sized})
	l.addPivot("Block", i)
	x.member("Block", i, valid)
}

// addPivot writes pivot, or where lists are stored in parts places and place, as
// members of an owner.
func (l merged) addPivot(family string, i int) {
	if !l.x.inParts() {
		l.x.member(family, i, l.pivot())
		return
	}
	places, place := l.pivotPlaces()
	l.x.member(family, i, places)
	l.x.member(family, i, place)
}

// merged is the conditions of several levels together, as far as they concern levels before
// end.
type merged struct {
	x      *lowering
	levels []int
	end    int
}

func (l merged) backs() (out []plan.Back) {
	for _, at := range l.levels {
		for _, b := range l.x.p.Levels[at].Back {
			if b.Level < l.end && !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

func (l merged) positive() []plan.Back { return positive(l.backs()) }

// bounds are all restrictions, and the first level's range; further are the
// ranges of the others, where they are not the same.
func (l merged) bounds() (b bounds, further []bounds) {
	for i, at := range l.levels {
		c := l.x.levelBounds(at, l.end)
		if i == 0 {
			b = c
			continue
		}
		if c.first != b.first || c.end != b.end {
			further = append(further, bounds{first: c.first, end: c.end})
		}
		c.first, c.end = b.first, b.end
		b = b.and(c)
	}
	return b, further
}

// pivot finds the shortest list at run time and says which it was.
func (l merged) pivot() *kir.Func {
	x, backs := l.x, l.positive()
	p, m := matched()
	which := &kir.Var{Name: "which", T: kir.T(kir.U32), Out: true}
	f := &kir.Func{Name: "pivot", Params: []*kir.Var{p, which}, Result: kir.T(kir.Set)}
	b, _ := l.bounds()
	set := func(i int) kir.Stmt { return &kir.Assign{To: kir.R(which), X: kir.C(uint32(i))} }
	if len(backs) == 0 {
		f.Body = []kir.Stmt{set(0), &kir.Return{X: x.allWithin(b, m)}}
		return f
	}
	// A list that is cut at its own vertex is within that bound already; what
	// all of them still need is cut at the end.
	first, rest := x.list(backs[0].Adj, backs[0].Level, b, m)
	if len(backs) == 1 {
		f.Body = []kir.Stmt{set(0), &kir.Return{X: rest.cut(first, m)}}
		return f
	}
	best := &kir.Var{Name: "best", T: kir.T(kir.Set)}
	f.Body = []kir.Stmt{&kir.Let{Var: best, Init: first}, set(0)}
	all := rest
	for i, back := range backs[1:] {
		list, rest := x.list(back.Adj, back.Level, b, m)
		if !slices.Equal(all.below, rest.below) || !slices.Equal(all.above, rest.above) {
			all = b
		}
		v := &kir.Var{Name: fmt.Sprintf("list%d", i+1), T: kir.T(kir.Set)}
		f.Body = append(f.Body, &kir.Let{Var: v, Init: list}, &kir.If{
			Cond: kir.Op2(kir.Lt, kir.Fn(kir.Size, kir.R(v)), kir.Fn(kir.Size, kir.R(best))),
			Then: []kir.Stmt{&kir.Assign{To: kir.R(best), X: kir.R(v)}, set(i + 1)},
		})
	}
	f.Body = append(f.Body, &kir.Return{X: all.cut(kir.R(best), m)})
	return f
}

// valid is everything else that a vertex of the pivot's list must pass.
func (l merged) valid() *kir.Func {
	p, m := matched()
	which := &kir.Var{Name: "which", T: kir.T(kir.U32)}
	v := &kir.Var{Name: "v", T: kir.T(kir.U32)}
	f := &kir.Func{Name: "valid", Params: []*kir.Var{p, which, v}, Result: kir.T(kir.Bool)}
	unless := func(pass kir.Expr) {
		f.Body = append(f.Body, &kir.If{Cond: negated(pass), Then: []kir.Stmt{&kir.Return{X: kir.False}}})
	}
	if l.x.inParts() {
		b, _ := l.bounds()
		for _, t := range b.holds(kir.R(v), m) {
			unless(t)
		}
	}
	for _, t := range l.alone(kir.R(v), m) {
		unless(t)
	}
	for _, t := range l.others(kir.R(which), kir.R(v), m) {
		unless(t)
	}
	for _, back := range l.backs() {
		if back.Neg {
			unless(l.x.adjacent(back, kir.R(v), m))
		}
	}
	for _, at := range l.levels {
		for _, t := range l.x.levelChecks(at, m.with(at, kir.R(v))) {
			unless(t)
		}
	}
	f.Body = append(f.Body, &kir.Return{X: kir.True})
	return f
}

// others tests the positive backward neighbours but the one whose list v is of.
// Where all are of one adjacency the vertex to test is chosen and not the test:
// lanes whose pivots differ take the same steps.
func (l merged) others(which, v kir.Expr, m vertices) (out []kir.Expr) {
	backs := l.positive()
	alike := !slices.ContainsFunc(backs, func(b plan.Back) bool { return b.Adj != backs[0].Adj })
	for i, b := range backs {
		at := kir.C(uint32(i))
		switch {
		case !alike:
			out = append(out, kir.Any(kir.Op2(kir.Eq, which, at), l.x.adjacent(b, v, m)))
		case i+1 < len(backs):
			u := kir.Select{If: kir.Op2(kir.Le, which, at), Then: m(backs[i+1].Level), Else: m(b.Level)}
			out = append(out, l.x.isIn(b.Adj, u, v))
		}
	}
	return out
}

// alone are the tests that need no list: distinct vertices, further ranges,
// predicates, degrees.
func (l merged) alone(v kir.Expr, m vertices) (out []kir.Expr) {
	var apart []int
	for _, at := range l.levels {
		for _, j := range l.x.p.Levels[at].Distinct {
			if j < l.end && !slices.Contains(apart, j) {
				apart = append(apart, j)
				out = append(out, kir.Op2(kir.Ne, v, m(j)))
			}
		}
	}
	_, further := l.bounds()
	for _, b := range further {
		out = append(out, b.holds(v, m)...)
	}
	for _, at := range l.levels {
		out = append(out, l.x.alone(at, v)...)
	}
	return out
}
