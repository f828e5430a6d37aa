package plan

// Formula is the number of embeddings of a pattern as arithmetic over plans of
// smaller or simpler patterns: decomposition at cut vertices with the merged
// patterns taken off again, and induced counts from edge-induced ones. Engines
// that cannot run formulas run the nest of the plan that carries it.
type Formula struct {
	Terms []FormulaTerm
	// Cost is the estimated work of all its plans together.
	Cost float64
	// Why says in a sentence what was decomposed where.
	Why string
}

// FormulaTerm adds Coef × value, where the value is the number of embeddings of
// Plan, or, when Dot is not empty, Σ_v Π_i (embeddings of Dot[i] rooted at v).
type FormulaTerm struct {
	Coef int64
	Plan *Plan
	Dot  []*Plan
}

// scaled adds f times c to the terms in t.
func (t *FormulaTerms) scaled(f *Formula, c int64) {
	for _, x := range f.Terms {
		t.add(x, c)
	}
}

// FormulaTerms gathers terms, adding up the coefficients of equal ones.
type FormulaTerms struct{ list []FormulaTerm }

func (t *FormulaTerms) add(x FormulaTerm, c int64) {
	for i := range t.list {
		if t.list[i].same(&x) {
			t.list[i].Coef += c * x.Coef
			return
		}
	}
	x.Coef *= c
	t.list = append(t.list, x)
}

func (x *FormulaTerm) same(y *FormulaTerm) bool {
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

// terms drops those that cancelled.
func (t *FormulaTerms) terms() []FormulaTerm {
	var out []FormulaTerm
	for _, x := range t.list {
		if x.Coef != 0 {
			out = append(out, x)
		}
	}
	return out
}
