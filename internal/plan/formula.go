package plan

// Formula is the number of embeddings of a pattern as arithmetic over plans of
// smaller or simpler patterns: decomposition at cut vertices with the merged
// patterns taken off again, and induced counts from edge-induced ones. Engines
// that cannot run formulas run the Plan it was made for.
type Formula struct {
	Terms   []FormulaTerm
	Divisor int64
	// Why says in a sentence what was decomposed where.
	Why string
}

// FormulaTerm adds Coef × value, where the value is the number of embeddings of
// Plan, or, when Dot is not empty, Σ_v Π_i (matches of Dot[i] rooted at v).
type FormulaTerm struct {
	Coef int64
	Plan *Plan
	Dot  []*Plan
}
