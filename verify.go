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
	Name       string        // what was counted and how
	Embeddings *big.Int      // nil: it was not finished
	Want       *big.Int      // what it must be
	OK         bool          // agrees, or was not finished
	Reference  bool          // it is the count that the others are compared with
	Took       time.Duration //
	Note       string        // why it was not finished
}

// Verification is what Verify did.
type Verification struct {
	Query  string
	Result Result // of the engine's own choice, which the others must agree with
	Steps  []VerifyStep
	// Compared is how many recounts were finished, and so compared: where there is none,
	// nothing is verified.
	Compared int
	OK       bool // no two counts differ
}

// Verify counts q again in other ways and compares: with other matching orders
// and without the counting tail, and with the oracle, a slow search that shares
// no code with the engines: on the whole graph where budget suffices, else at
// sampled vertices. Each recount gets at most budget, and so do all vertices together.
func (g *Graph) Verify(ctx context.Context, q *Query, budget time.Duration, options ...Option) (out *Verification, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Verify, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &out)
	v, err := verify.Count(ctx, g.s, q.asked(s), budget)
	if v == nil {
		return nil, err
	}
	out = &Verification{Query: v.Query, Result: g.result(v.Result), Compared: v.Compared, OK: v.OK}
	for _, step := range v.Steps {
		out.Steps = append(out.Steps, VerifyStep(step))
	}
	return out, err
}
