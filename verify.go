package weft

import (
	"context"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/verify"
)

// VerifyStep is one recount of Verify.
type VerifyStep struct {
	Name       string        // the count's method
	Embeddings *big.Int      // nil: it did not finish
	Want       *big.Int      // the number that it must be
	OK         bool          // it agrees, or did not finish
	Reference  bool          // it is the count that the others are compared with
	Took       time.Duration //
	Note       string        // the reason why it did not finish
}

// Verification is the result of Verify.
type Verification struct {
	Query  string
	Result Result // the engine's own count, which the others must agree with
	Steps  []VerifyStep
	// Compared is the number of recounts that finished and were compared. If it is 0, nothing
	// is verified.
	Compared int
	OK       bool // no two counts differ
}

// Verify counts q again in other ways and compares the counts. These ways are other matching
// orders, a search without the counting tail, and the oracle, a slow search that shares no code
// with the engines. The oracle runs on the whole graph if budget suffices, else at sampled
// vertices. Each recount gets at most budget, and all vertices together get at most budget.
func (g *Graph) Verify(ctx context.Context, q *Query, budget time.Duration, options ...Option) (out *Verification, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Verify, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &out)
	v, err := verify.Count(ctx, g.s, q.question(s), budget)
	if v == nil {
		return nil, err
	}
	out = &Verification{Query: v.Query, Result: g.result(v.Result), Compared: v.Compared, OK: v.OK}
	for _, step := range v.Steps {
		out.Steps = append(out.Steps, VerifyStep(step))
	}
	return out, err
}
