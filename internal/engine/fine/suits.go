package fine

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
)

// Indexes reports whether a run of p makes a candidate graph, as it does by
// itself for large labelled patterns.
func (f *Fine) Indexes(p *plan.Plan, o engine.Options, counting bool) bool {
	opt, err := optionsOf(o)
	if err != nil {
		return false
	}
	q, err := f.indexed(p, o, opt, counting)
	return err == nil && q != nil
}
