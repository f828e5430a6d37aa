package lower

import "github.com/weftgraph/weft/internal/kir"

// checksView writes Level<l>::pivot and valid: candidates are the shortest list
// of a positive backward neighbour, and everything else is tested of each. All
// levels have them, also those that the tail closes.
func (x *lowering) checksView() error {
	for l := 1; l < len(x.p.Levels); l++ {
		one := merged{x: x, levels: []int{l}, end: l}
		x.owner("Level", l, x.levelDoc(l), kir.Define{Name: "pivots", Value: uint64(len(one.positive()))})
		x.member("Level", l, one.pivot())
		x.member("Level", l, one.valid())
	}
	return x.blocksView()
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
