package weft

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/plan"
)

// VerifyStep is one recount of Verify.
type VerifyStep struct {
	Name       string        // what was counted and how
	Embeddings *big.Int      // nil: it was not finished
	Want       *big.Int      // what it must be
	OK         bool          // agrees, or was not finished
	Took       time.Duration //
	Note       string        // why it was not finished
}

// Verification is what Verify did.
type Verification struct {
	Query  string
	Result Result // of the engine's own choice, which the others must agree with
	Steps  []VerifyStep
	OK     bool
}

// maxOracleEdges bounds the graphs that Verify spreads out for the oracle.
const maxOracleEdges = 3_000_000

// oracleRoots is the number of vertices at which Verify compares the engine with
// the oracle where it cannot compare the whole.
const oracleRoots = 20

// Verify counts q again in other ways and compares: with other matching orders
// and without the counting tail, and with the oracle, a slow search that shares
// no code with the engines: on the whole graph where budget suffices, else at
// sampled vertices. Each recount gets at most budget.
func (g *Graph) Verify(ctx context.Context, q *Query, budget time.Duration, options ...Option) (*Verification, error) {
	s := collect(options)
	s.limit = 0
	j, err := g.prepare(ctx, q, s, nil)
	if err != nil {
		return nil, err
	}
	v := &verifier{g: g, q: q, s: s, budget: budget, out: &Verification{Query: q.Name(), OK: true}}
	r, err := j.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	v.want, v.out.Result = r.Embeddings, r
	v.add(VerifyStep{Name: fmt.Sprintf("engine %s, order %s, method %s", r.Engine, j.plan.OrderName, r.Method), Embeddings: r.Embeddings, Took: r.Search})
	for _, order := range []string{"ri", "gsi", "geneva"} {
		v.recount(ctx, "order "+order+", every level enumerated", func(o *plan.Options) {
			o.Order, o.Given, o.Method, o.NoTail = order, nil, "nest", true
		})
	}
	v.recount(ctx, "every embedding, symmetries not broken", func(o *plan.Options) { o.Embeddings = true })
	if g.NumEdges() > maxOracleEdges {
		v.add(VerifyStep{Name: "oracle", Note: fmt.Sprintf("not run: the graph has more than %d edges", maxOracleEdges)})
	} else {
		v.oracle(ctx, j)
	}
	return v.out, ctx.Err()
}

type verifier struct {
	g      *Graph
	q      *Query
	s      *settings
	budget time.Duration
	want   *big.Int
	out    *Verification
}

func (v *verifier) add(s VerifyStep) {
	if s.Want == nil {
		s.Want = v.want
	}
	s.OK = s.Embeddings == nil || s.Embeddings.Cmp(s.Want) == 0
	v.out.OK = v.out.OK && s.OK
	v.out.Steps = append(v.out.Steps, s)
}

// recount counts with another plan.
func (v *verifier) recount(ctx context.Context, name string, change func(*plan.Options)) {
	ctx, cancel := context.WithTimeout(ctx, v.budget)
	defer cancel()
	step := VerifyStep{Name: name}
	start := time.Now()
	j, err := v.g.prepare(ctx, v.q, v.s, change)
	if err == nil {
		var r Result
		if r, err = j.run(ctx, nil); err == nil {
			step.Embeddings = r.Embeddings
		}
	}
	step.Took = time.Since(start)
	step.Note = v.why(ctx, err)
	v.add(step)
}

func (v *verifier) why(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return fmt.Sprintf("not finished within %s", v.budget)
	}
	return err.Error()
}

// oracle recounts everything, or where that takes too long at sampled vertices.
func (v *verifier) oracle(ctx context.Context, j *job) {
	p := j.plan.Pattern
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, v.budget)
	defer cancel()
	world := oracle.NewWorld(limited, v.g.g)
	if err := limited.Err(); err != nil {
		v.add(VerifyStep{Name: "oracle", Note: v.why(limited, err), Took: time.Since(start)})
		return
	}
	total := new(big.Int)
	one := big.NewInt(1)
	var err error
	for c := range uint32(v.g.NumVertices()) {
		if err = oracle.EmbeddingsAt(limited, world, p, 0, c, func(oracle.Match) bool { total.Add(total, one); return true }); err != nil {
			break
		}
	}
	if err == nil {
		v.add(VerifyStep{Name: "oracle", Embeddings: total, Took: time.Since(start)})
		return
	}
	v.add(VerifyStep{Name: "oracle", Note: v.why(limited, err), Took: time.Since(start)})
	v.sample(ctx, world, p.VertexName(0))
}

// sample compares counts at random vertices.
func (v *verifier) sample(ctx context.Context, world *oracle.World, name string) {
	ctx, cancel := context.WithTimeout(ctx, v.budget)
	defer cancel()
	j, err := v.g.prepare(ctx, v.q, v.s, func(o *plan.Options) { o.Root = 0 })
	counts := make([]engine.Uint128, v.g.NumVertices())
	if err == nil {
		j.opt.PerRoot = counts
		_, err = j.run(ctx, nil)
	}
	if err != nil {
		v.add(VerifyStep{Name: "oracle at sampled vertices", Note: v.why(ctx, err)})
		return
	}
	random := rand.New(rand.NewPCG(v.s.seed, 1))
	for range oracleRoots {
		if ctx.Err() != nil {
			return
		}
		c := uint32(random.IntN(v.g.NumVertices()))
		start := time.Now()
		n := int64(0)
		err := oracle.EmbeddingsAt(ctx, world, j.plan.Pattern, 0, c, func(oracle.Match) bool { n++; return true })
		step := VerifyStep{
			Name: fmt.Sprintf("oracle where %s is %s", name, v.g.g.IDs.String(c)),
			Want: new(big.Int).Mul(counts[c].Big(), j.plan.RootSymmetry()),
			Note: v.why(ctx, err), Took: time.Since(start),
		}
		if err == nil {
			step.Embeddings = big.NewInt(n)
		}
		v.add(step)
	}
}
