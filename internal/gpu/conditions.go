package gpu

import (
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Conditions are those of the plan over several vertices, which kernels that are the same for all plans do not test.
func Conditions(p *plan.Plan) (all []plan.Check) {
	for l := range p.Levels {
		all = append(all, p.Levels[l].Checks...)
	}
	return all
}

// Keep returns, for Run.Keep, whether a row by pattern vertex fulfils the plan's conditions; nil: there are none.
func Keep(p *plan.Plan) func(row []uint32) bool {
	checks := Conditions(p)
	if len(checks) == 0 {
		return nil
	}
	edges := make([]uint64, len(p.Edges)) // which they do not read
	return func(row []uint32) bool {
		var m [pattern.MaxVertices]uint32
		for v, l := range p.LevelOf {
			m[l] = row[v]
		}
		for i := range checks {
			if !checks[i].Eval(m[:], edges) {
				return false
			}
		}
		return true
	}
}
