package plan

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// Formula expresses the number of embeddings of a pattern by plans of smaller or simpler
// patterns. One kind is decomposition at cut vertices, from which the merged patterns are
// subtracted. Another is induced counts from edge-induced ones. Engines that cannot run
// formulas run the nest of the plan that carries it.
type Formula struct {
	Terms []FormulaTerm
	// Cost is the estimated work of all its plans together.
	Cost float64
	// Why says in a sentence which pattern was decomposed, and at which vertex.
	Why string
}

// FormulaTerm adds Coef × value. The value is the number of embeddings of Plan or, when Dot is
// not empty, Σ_v Π_i (embeddings of Dot[i] rooted at v).
type FormulaTerm struct {
	Coef int64
	Plan *Plan
	Dot  []*Plan
}

// String writes the formula over the patterns of its plans.
func (f *Formula) String() string {
	var b strings.Builder
	for i, x := range f.Terms {
		c := x.Coef
		switch {
		case c < 0 && i == 0:
			b.WriteString("−")
		case c < 0:
			b.WriteString(" − ")
		case i > 0:
			b.WriteString(" + ")
		}
		if c = max(c, -c); c != 1 {
			fmt.Fprintf(&b, "%d·", c)
		}
		if len(x.Dot) == 0 {
			fmt.Fprintf(&b, "#[%s]", edgeText(x.Plan.Pattern))
			continue
		}
		b.WriteString("Σ_v ")
		for j, pl := range x.Dot {
			if j > 0 {
				b.WriteString("·")
			}
			fmt.Fprintf(&b, "#v[%s]", edgeText(pl.Pattern))
		}
	}
	return b.String()
}

// edgeText writes the edges of a pattern as u-v pairs.
func edgeText(p *pattern.Pattern) string {
	var parts []string
	for i := range p.Edges {
		parts = append(parts, fmt.Sprintf("%d-%d", p.Edges[i].From, p.Edges[i].To))
	}
	return strings.Join(parts, " ")
}
