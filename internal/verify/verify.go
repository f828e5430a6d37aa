// Package verify counts a query again in other ways, and compares the counts. The other ways are other plans, and the
// oracle on the whole graph or at sampled vertices.
//
// It knows searches and the oracle. It must not share code with the engines that it checks.
package verify

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
	"github.com/weftgraph/weft/internal/search"
)

// Step is one recount; see VerifyStep of the root package.
type Step struct {
	Name       string
	Embeddings *big.Int // nil: it was not finished
	Want       *big.Int
	OK         bool
	Reference  bool
	Took       time.Duration
	Note       string
}

// Verification is the result of all recounts.
type Verification struct {
	Query    string
	Result   search.Result // of the engine's own choice
	Steps    []Step
	Compared int // recounts that were finished
	OK       bool
}

// maxOracleEdges bounds the graphs that are spread out for the oracle.
const maxOracleEdges = 3_000_000

// oracleRoots is the number of vertices at which the engine is compared with the oracle where it
// cannot be compared on the whole.
const oracleRoots = 20

// Count counts a query as the engine chooses, and again in other ways. Each recount gets at most
// budget, and so do all sampled vertices together.
func Count(ctx context.Context, g *search.Graph, a search.Question, budget time.Duration) (*Verification, error) {
	a.Settings.Limit = 0
	j, err := g.Prepare(ctx, a, nil)
	if err != nil {
		return nil, err
	}
	v := &verifier{g: g, question: a, budget: budget, out: &Verification{Query: a.Name(), OK: true}}
	r, err := j.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	v.want, v.out.Result = r.Embeddings, r
	v.add(Step{Name: fmt.Sprintf("engine %s, order %s, method %s", r.Engine, j.Plan.OrderName, r.Method), Embeddings: r.Embeddings, Took: r.Search, Reference: true})
	for _, order := range []string{"ri", "gsi", "geneva"} {
		v.recount(ctx, "order "+order+", every level enumerated", func(o *plan.Options) {
			o.Order, o.Given, o.Method, o.NoTail = order, nil, "nest", true
		})
	}
	v.recount(ctx, "every embedding, symmetries not broken", func(o *plan.Options) { o.Embeddings = true })
	if g.Data.NumEdges() > maxOracleEdges {
		v.add(Step{Name: "oracle", Note: fmt.Sprintf("not run: the graph has more than %d edges", maxOracleEdges)})
	} else {
		v.oracle(ctx, j)
	}
	return v.out, ctx.Err()
}

// verifier is a verification that goes on.
type verifier struct {
	g        *search.Graph
	question search.Question
	budget   time.Duration
	want     *big.Int
	out      *Verification
}

func (v *verifier) add(s Step) {
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
	step := Step{Name: name}
	start := time.Now()
	j, err := v.g.Prepare(ctx, v.question, change)
	if err == nil {
		err = ctx.Err() // short runs end without looking
	}
	if err == nil {
		var r search.Result
		if r, err = j.Run(ctx, nil); err == nil {
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
func (v *verifier) oracle(ctx context.Context, j *search.Job) {
	p := j.Plan.Pattern
	start := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, v.budget, errBudget)
	defer cancel()
	world := oracle.NewWorld(limited, v.g.Data)
	if err := limited.Err(); err != nil {
		v.add(Step{Name: "oracle", Note: v.why(limited, err), Took: time.Since(start)})
		return
	}
	total := new(big.Int)
	one := big.NewInt(1)
	var err error
	for c := range uint32(v.g.Data.NumVertices()) {
		if err = oracle.EmbeddingsAt(limited, world, p, 0, c, func(oracle.Match) bool { total.Add(total, one); return true }); err != nil {
			break
		}
	}
	if err == nil {
		v.add(Step{Name: "oracle", Embeddings: total, Took: time.Since(start)})
		return
	}
	v.add(Step{Name: "oracle", Note: v.why(limited, err), Took: time.Since(start)})
	v.sample(ctx, world, p)
}

// sample compares counts at random vertices, those with the fewest neighbours first. Each
// vertex has its share of the remaining time, so that a hub among them cannot take the others'.
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
		v.add(Step{
			Name: fmt.Sprintf("oracle at %d sampled vertices", unfinished),
			Note: fmt.Sprintf("not finished within their shares of %s", v.budget),
		})
	}
}

// roots are random vertices that have neighbours, by the number of edges at these.
func (v *verifier) roots() []uint32 {
	adj := v.g.Data.Any()
	random := rand.New(rand.NewPCG(v.question.Settings.Seed, 1))
	around := map[uint32]int{}
	for range 20 * oracleRoots {
		c := uint32(random.IntN(v.g.Data.NumVertices()))
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
	ids := &v.g.Data.IDs
	step := Step{Name: fmt.Sprintf("oracle where %s is %s", p.VertexName(0), ids.String(c)), Want: new(big.Int)}
	id := pattern.Lit{Value: ids.String(c)}
	if ids.Numeric() {
		id.Value = ids.Int(c)
	}
	fixed := *v.question.Query
	fixed.Pattern = fixed.Pattern.Clone()
	fixed.Pattern.Where = append(fixed.Pattern.Where, pattern.Binary{Op: pattern.OpEq, X: pattern.ID{Vertex: 0}, Y: id})
	j, err := v.g.Prepare(ctx, search.Question{Query: &fixed, Settings: v.question.Settings}, nil)
	n := int64(0)
	if err == nil {
		var r search.Result
		if r, err = j.Run(ctx, nil); err == nil {
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
