package route

import (
	"context"
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/plan"
)

// Times that auto compares where a join on a GPU is expected to be short, from one NVIDIA H200. A join's own time is the
// plan's.
const (
	// stepsOfCompiled is how many set elements kernels that are compiled for a pattern read in a second: 14 million
	// in 11 ms (docs/notes/2026-11-23-gpu-joins.md, "Orders").
	stepsOfCompiled = 1.3e9
	// compilation is the time of these kernels, with the upload of the graph. The median of nests of stack is 1.87 s on
	// 16 cores (docs/notes/2026-11-22-gpu-compiling.md).
	compilation = 1900 * time.Millisecond
	// shortest is the time of a join for which other engines are not looked at. A plan for them takes 0.19 to 0.44 ms:
	// the whole time of host less its search (docs/results/joins-gpu.jsonl).
	shortest = 440 * time.Microsecond
	// pays is how many times as long as a plan for other engines a join has to take for them to be looked at, unless it
	// takes longer than a compilation: the look then costs a tenth of the time at most. With 52 million edges these plans took
	// up to 60 ms, and the joins 2 to 10 ms (docs/ablation.md).
	pays = 10
)

// small returns the plan of a query whose join on a GPU is expected to be short, if it is one and auto may take the join for it.
func (r *Request) small(auto bool) (*plan.Plan, bool) {
	if !auto || r.Method != "" || len(r.Graph.EdgeLabels) < 2 {
		return nil, false
	}
	p, err := r.Compile("direct", plan.EitherOnGPU)
	return p, err == nil && p != nil && p.JoinTime > 0 && p.Method == plan.Nest
}

// joined returns the join of a plan with few candidates, or another engine where that is expected to answer earlier. A join
// needs no compilation for the pattern, and the others need one where none is kept.
func (t *trial) joined(ctx context.Context, p *plan.Plan, try []gpuEngine) (Choice, error) {
	takes, because := p.JoinTime, "semijoins would take longer than they save"
	if p.Reduction != nil {
		because = becauseSmall(p)
	}
	c, err := t.choice(ctx, join.NewGPU(t.session), p, because+"; a join needs no compilation for the pattern")
	if look := max(shortest, pays*p.SemijoinTime); err != nil || takes < min(look, compilation) {
		return c, err
	}
	other, err := t.best(ctx, try)
	if err != nil {
		return c, nil
	}
	name, rest := other.Engine.Name(), time.Duration(min(other.Plan.Work()/stepsOfCompiled, 1e9)*1e9)
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
