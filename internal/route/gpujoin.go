package route

import (
	"context"
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/plan"
)

// Times that auto compares where a join on a GPU has few candidates. They are estimates, which were not fitted to
// measurements of joins.
const (
	stepsOfJoin     = 2e10                   // set elements that a GPU reads in a second as it joins,
	stepsOfCompiled = 1e11                   // and in kernels that are compiled for the pattern
	compilation     = 2 * time.Second        // of these
	shortest        = 500 * time.Microsecond // for which other engines are not looked at
)

// small returns the plan of a query whose relations semijoins make small, if it is one and auto may take the join for it.
func (r *Request) small(auto bool) (*plan.Plan, bool) {
	if !auto || r.Method != "" || len(r.Graph.EdgeLabels) < 2 {
		return nil, false
	}
	p, err := r.Compile("direct", plan.EitherOrder)
	return p, err == nil && p != nil && p.Reduction != nil && p.Method == plan.Nest
}

// joined returns the join of a plan with few candidates, or another engine where that is expected to answer earlier. A join
// needs no compilation for the pattern, and the others need one where none is kept.
func (t *trial) joined(ctx context.Context, p *plan.Plan, try []gpuEngine) (Choice, error) {
	takes := atRate(p, stepsOfJoin)
	c, err := t.choice(ctx, join.NewGPU(t.session), p, becauseSmall(p)+"; a join needs no compilation for the pattern")
	if err != nil || takes < shortest {
		return c, err
	}
	other, err := t.best(ctx, try)
	if err != nil {
		return c, nil
	}
	name, rest := other.Engine.Name(), atRate(other.Plan, stepsOfCompiled)
	if ready, ok := other.ready.(engine.Compiled); ok && ready.Compiled(ctx) {
		if takes <= rest {
			c.Reason += fmt.Sprintf(", and is not expected to take longer than %s, which is compiled", name)
			return c, nil
		}
		other.Reason += fmt.Sprintf("; it is compiled for this pattern, and a join is expected to take %s", roughly(takes))
		return other, nil
	}
	if takes <= rest+compilation {
		c.Reason += fmt.Sprintf(", which %s does, and is expected to take %s", name, roughly(takes))
		return c, nil
	}
	other.Reason += fmt.Sprintf("; worth its compilation, as a join is expected to take %s", roughly(takes))
	return other, nil
}

// atRate is the time of a plan's work at a rate in steps a second.
func atRate(p *plan.Plan, steps float64) time.Duration {
	return time.Duration(min(p.Work()/steps, 1e9) * 1e9)
}
