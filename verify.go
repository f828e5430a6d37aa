package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
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

// maxOracleEdges bounds the graphs that Verify spreads out for the oracle.
const maxOracleEdges = 3_000_000

// oracleRoots is the number of vertices at which Verify compares the engine with
// the oracle where it cannot compare the whole.
const oracleRoots = 20

// Verify counts q again in other ways and compares: with other matching orders
// and without the counting tail, and with the oracle, a slow search that shares
// no code with the engines: on the whole graph where budget suffices, else at
// sampled vertices. Each recount gets at most budget, and so do all vertices together.
func (g *Graph) Verify(ctx context.Context, q *Query, budget time.Duration, options ...Option) (out *Verification, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &out)
	s, err := g.collect(callVerify, options)
	if err != nil {
		return nil, err
	}
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
	v.add(VerifyStep{Name: fmt.Sprintf("engine %s, order %s, method %s", r.Engine, j.plan.OrderName, r.Method), Embeddings: r.Embeddings, Took: r.Search, Reference: true})
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
	if s.Embeddings != nil && !s.Reference {
		v.out.Compared++
	}
}

// recount counts with another plan.
func (v *verifier) recount(ctx context.Context, name string, change func(*plan.Options)) {
	ctx, cancel := context.WithTimeoutCause(ctx, v.budget, errBudget)
	defer cancel()
	step := VerifyStep{Name: name}
	start := time.Now()
	j, err := v.g.prepare(ctx, v.q, v.s, change)
	if err == nil {
		err = ctx.Err() // short runs end without looking
	}
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

// errBudget is why a recount ended that took longer than it may.
var errBudget = errors.New("the budget is spent")

func (v *verifier) why(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return ""
	case context.Cause(ctx) == errBudget:
		return fmt.Sprintf("not finished within %s", v.budget)
	case ctx.Err() != nil: // all of it was cut short
		return "interrupted"
	}
	return err.Error()
}

// oracle recounts everything, or where that takes too long at sampled vertices.
func (v *verifier) oracle(ctx context.Context, j *job) {
	p := j.plan.Pattern
	start := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, v.budget, errBudget)
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
	v.sample(ctx, world, p)
}

// sample compares counts at random vertices, those with the least around them first:
// each has its share of the time that is left, so that a hub among them cannot take the
// others'.
func (v *verifier) sample(ctx context.Context, world *oracle.World, p *pattern.Pattern) {
	end := time.Now().Add(v.budget)
	roots := v.roots()
	unfinished := 0
	for i, c := range roots {
		share := max(time.Until(end)/time.Duration(len(roots)-i), 0)
		if !v.at(ctx, world, p, c, share) {
			unfinished++
		}
		if ctx.Err() != nil {
			return
		}
	}
	if unfinished > 0 {
		v.add(VerifyStep{
			Name: fmt.Sprintf("oracle at %d sampled vertices", unfinished),
			Note: fmt.Sprintf("not finished within their shares of %s", v.budget),
		})
	}
}

// roots are random vertices that have neighbours, by the number of edges at these.
func (v *verifier) roots() []uint32 {
	adj := v.g.g.Any()
	random := rand.New(rand.NewPCG(v.s.seed, 1))
	around := map[uint32]int{}
	for range 20 * oracleRoots {
		c := uint32(random.IntN(v.g.NumVertices()))
		if _, known := around[c]; known || adj.Degree(c) == 0 {
			continue
		}
		edges := 0
		for _, u := range adj.List(c) {
			edges += adj.Degree(u)
		}
		if around[c] = edges; len(around) == oracleRoots {
			break
		}
	}
	return slices.SortedFunc(maps.Keys(around), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(around[a], around[b]), cmp.Compare(a, b))
	})
}

// at compares the engine, asked for the matches whose first vertex is c, with the oracle;
// it reports whether both were done in time.
func (v *verifier) at(ctx context.Context, world *oracle.World, p *pattern.Pattern, c uint32, share time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	start := time.Now()
	ids := &v.g.g.IDs
	step := VerifyStep{Name: fmt.Sprintf("oracle where %s is %s", p.VertexName(0), ids.String(c)), Want: new(big.Int)}
	id := pattern.Lit{Value: ids.String(c)}
	if ids.Numeric() {
		id.Value = ids.Int(c)
	}
	fixed := *v.q.q
	fixed.Pattern = fixed.Pattern.Clone()
	fixed.Pattern.Where = append(fixed.Pattern.Where, pattern.Binary{Op: pattern.OpEq, X: pattern.ID{Vertex: 0}, Y: id})
	j, err := v.g.prepare(ctx, &Query{&fixed}, v.s, nil)
	n := int64(0)
	if err == nil {
		var r Result
		if r, err = j.run(ctx, nil); err == nil {
			step.Want = r.Embeddings
			err = oracle.EmbeddingsAt(ctx, world, p, 0, c, func(oracle.Match) bool { n++; return true })
		}
	}
	switch {
	case err == nil:
		step.Embeddings = big.NewInt(n)
	case ctx.Err() != nil:
		return false
	default:
		step.Note = err.Error()
	}
	step.Took = time.Since(start)
	v.add(step)
	return true
}
