package formula

import "github.com/weftgraph/weft/internal/plan"

// scaled adds f times c to the terms in t.
func (t *terms) scaled(f *plan.Formula, c int64) {
	for _, x := range f.Terms {
		t.add(x, c)
	}
}

// terms gathers terms, adding up the coefficients of equal ones.
type terms struct{ list []plan.FormulaTerm }

func (t *terms) add(x plan.FormulaTerm, c int64) {
	for i := range t.list {
		if same(&t.list[i], &x) {
			t.list[i].Coef += c * x.Coef
			return
		}
	}
	x.Coef *= c
	t.list = append(t.list, x)
}

func same(x, y *plan.FormulaTerm) bool {
	if x.Plan != y.Plan || len(x.Dot) != len(y.Dot) {
		return false
	}
	for i := range x.Dot {
		if x.Dot[i] != y.Dot[i] {
			return false
		}
	}
	return true
}

// left drops those that cancelled.
func (t *terms) left() []plan.FormulaTerm {
	var out []plan.FormulaTerm
	for _, x := range t.list {
		if x.Coef != 0 {
			out = append(out, x)
		}
	}
	return out
}
