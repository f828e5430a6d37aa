package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
)

// checksView writes Level<l>::pivot and valid: candidates are the shortest list
// of a positive backward neighbour, and everything else is tested of each. All
// levels have them, also those that the tail closes.
//
// Where lists are stored in parts (ChecksCode.Parts) there are places and place instead of
// pivot: how many entries the candidates are among, and which is entry k, ~0 where it
// is deleted.
func (x *lowering) checksView() error {
	for l := 1; l < len(x.p.Levels); l++ {
		one := merged{x: x, levels: []int{l}, end: l}
		x.owner("Level", l, x.levelDoc(l), kir.Define{Name: "pivots", Value: uint64(len(one.positive()))})
		one.addPivot("Level", l)
		x.member("Level", l, one.valid())
	}
	x.out.Checks.Parts = x.inParts()
	x.siblings()
	return x.blocksView()
}

// siblings writes Siblings<l> of the last level, if three things hold. The level is walked. A
// backward neighbour of it comes before the level before it. Each of its tests compares it with
// one other vertex.
func (x *lowering) siblings() {
	one, ok := x.sibling()
	if !ok || !x.o.Siblings {
		return
	}
	l, before := one.levels[0], one.end
	x.out.Checks.Siblings = true
	x.owner("Siblings", l, fmt.Sprintf("level %d, first without %s and then with it", l, x.names[before]))
	x.member("Siblings", l, one.pivot())
	x.member("Siblings", l, one.valid())
	x.member("Siblings", l, x.together(l, before))
}

// sibling is the last level before the vertex of the level before it is known; ok: the
// plan suits Siblings<l>.
func (x *lowering) sibling() (one merged, ok bool) {
	l := len(x.p.Levels) - 1
	if x.inParts() || l < 2 || x.tail <= l || len(x.p.Edges) > 0 || len(x.p.Levels[l].Checks) > 0 {
		return one, false
	}
	one = merged{x: x, levels: []int{l}, end: l - 1}
	return one, len(one.positive()) > 0
}

// together is the conditions between level l's vertex v and u, the vertex of another level.
func (x *lowering) together(l, other int) *kir.Func {
	u, v := &kir.Var{Name: "u", T: kir.T(kir.U32)}, &kir.Var{Name: "v", T: kir.T(kir.U32)}
	m := func(int) kir.Expr { return kir.R(u) }
	lv := &x.p.Levels[l]
	var tests []kir.Expr
	if slices.Contains(lv.Distinct, other) {
		tests = append(tests, kir.Op2(kir.Ne, kir.R(v), kir.R(u)))
	}
	tests = append(tests, x.levelBounds(l, other+1).without(x.levelBounds(l, other)).holds(kir.R(v), m)...)
	for _, b := range lv.Back {
		if b.Level == other {
			tests = append(tests, x.adjacent(b, kir.R(v), m))
		}
	}
	return &kir.Func{Name: "together", Params: []*kir.Var{u, v}, Result: kir.T(kir.Bool), Body: []kir.Stmt{&kir.Return{X: kir.All(tests...)}}}
}

// matched is the parameter that holds the partial match.
func matched() (v *kir.Var, m vertices) {
	v = &kir.Var{Name: "m", T: kir.ArrayOf(kir.U32, 0)}
	return v, func(l int) kir.Expr { return kir.Elem{X: kir.R(v), I: kir.C(uint32(l))} }
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
