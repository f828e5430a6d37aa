package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// checksView writes Level<l>::pivot and valid: candidates are the shortest list
// of a positive backward neighbour, and everything else is tested of each.
func (x *lowering) checksView() {
	for l := 1; l < len(x.p.Levels); l++ {
		backs := positive(x.p.Levels[l].Back)
		x.owner("Level", l, x.levelDoc(l), kir.Define{Name: "pivots", Value: uint64(len(backs))})
		x.member("Level", l, x.pivotFunc(l, backs))
		x.member("Level", l, x.validFunc(l, backs))
	}
}

// matched is the parameter that holds the partial match.
func matched() (v *kir.Var, m vertices) {
	v = &kir.Var{Name: "m", T: kir.ArrayOf(kir.U32, 0)}
	return v, func(l int) kir.Expr { return kir.Elem{X: kir.R(v), I: kir.C(uint32(l))} }
}

// pivotFunc finds the shortest list at run time and says which it was.
func (x *lowering) pivotFunc(l int, backs []plan.Back) *kir.Func {
	p, m := matched()
	which := &kir.Var{Name: "which", T: kir.T(kir.U32), Out: true}
	f := &kir.Func{Name: "pivot", Params: []*kir.Var{p, which}, Result: kir.T(kir.Set)}
	b := x.levelBounds(l, l)
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

// validFunc is everything that a vertex of the pivot's list must pass.
func (x *lowering) validFunc(l int, backs []plan.Back) *kir.Func {
	p, m := matched()
	which := &kir.Var{Name: "which", T: kir.T(kir.U32)}
	v := &kir.Var{Name: "v", T: kir.T(kir.U32)}
	f := &kir.Func{Name: "valid", Params: []*kir.Var{p, which, v}, Result: kir.T(kir.Bool)}
	unless := func(pass kir.Expr) {
		f.Body = append(f.Body, &kir.If{Cond: negated(pass), Then: []kir.Stmt{&kir.Return{X: kir.False}}})
	}
	for _, t := range append(x.distinct(l, kir.R(v), m), x.alone(l, kir.R(v))...) {
		unless(t)
	}
	i := 0
	for _, back := range x.p.Levels[l].Back {
		t := x.adjacent(back, kir.R(v), m)
		if !back.Neg {
			if len(backs) == 1 {
				continue
			}
			t = kir.Any(kir.Op2(kir.Eq, kir.R(which), kir.C(uint32(i))), t)
			i++
		}
		unless(t)
	}
	f.Body = append(f.Body, &kir.Return{X: kir.True})
	return f
}

// negated is the negation of a test.
func negated(x kir.Expr) kir.Expr {
	switch x := x.(type) {
	case kir.Unary:
		if x.Op == kir.Not {
			return x.X
		}
	case kir.Binary:
		for _, pair := range [][2]kir.Op{{kir.Eq, kir.Ne}, {kir.Lt, kir.Ge}, {kir.Le, kir.Gt}} {
			switch x.Op {
			case pair[0]:
				return kir.Op2(pair[1], x.X, x.Y)
			case pair[1]:
				return kir.Op2(pair[0], x.X, x.Y)
			}
		}
	}
	return kir.NotX(x)
}
