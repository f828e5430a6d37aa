package host

import (
	"context"
	"fmt"
	"math/big"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
)

// Formulas are evaluated plan by plan. Each different plan is counted once, even if it occurs
// in several terms and formulas.

// Formulas evaluates formulas over one graph and keeps the counts, so that many patterns (all
// motifs of a size, for example) share the work.
type Formulas struct {
	g      *graph.Graph
	o      engine.Options
	counts map[*plan.Plan]*big.Int
	roots  map[*plan.Plan][]engine.Uint128

	progress func(done, total uint64)
}

// NewFormulas returns an evaluator for g, which tells progress how far each count is.
func NewFormulas(g *graph.Graph, o engine.Options, progress func(done, total uint64)) *Formulas {
	o.Levels = false
	return &Formulas{g: g, o: o, progress: progress, counts: map[*plan.Plan]*big.Int{}, roots: map[*plan.Plan][]engine.Uint128{}}
}

// Embeddings evaluates f. The error is the context's if it was cut short; a formula has no
// partial value.
func (f *Formulas) Embeddings(ctx context.Context, fm *plan.Formula) (*big.Int, error) {
	sum := new(big.Int)
	for _, t := range fm.Terms {
		var v *big.Int
		var err error
		if len(t.Dot) > 0 {
			v, err = f.dot(ctx, t.Dot)
		} else {
			v, err = f.count(ctx, t.Plan)
		}
		if err != nil {
			return nil, err
		}
		sum.Add(sum, new(big.Int).Mul(v, big.NewInt(t.Coef)))
	}
	if sum.Sign() < 0 {
		return nil, fmt.Errorf("host: a formula gave a negative count: %v", sum)
	}
	return sum, nil
}

func (f *Formulas) count(ctx context.Context, p *plan.Plan) (*big.Int, error) {
	if v := f.counts[p]; v != nil {
		return v, nil
	}
	r, err := engine.Once(ctx, Host{}, f.g, p, f.o, engine.Goal{Progress: f.progress})
	if err != nil {
		return nil, err
	}
	v := r.Matches.Big()
	if p.Restricted {
		v.Mul(v, p.Aut)
	}
	f.counts[p] = v
	return v, nil
}

// dot is Σ_v Π_i of the counts rooted at v.
func (f *Formulas) dot(ctx context.Context, ps []*plan.Plan) (*big.Int, error) {
	vecs := make([][]engine.Uint128, len(ps))
	scale := big.NewInt(1)
	for i, p := range ps {
		v := f.roots[p]
		if v == nil {
			if err := memory.ShareOf(ctx).Take("counts by vertex", 16*int64(f.g.NumVertices())); err != nil {
				return nil, err
			}
			v = make([]engine.Uint128, f.g.NumVertices())
			if _, err := engine.Once(ctx, Host{}, f.g, p, f.o, engine.Goal{PerRoot: v, Progress: f.progress}); err != nil {
				return nil, err
			}
			f.roots[p] = v
		}
		vecs[i] = v
		scale.Mul(scale, p.RootSymmetry())
	}
	sum := new(big.Int)
	var part engine.Uint128 // flushed into sum before it can overflow
	for v := range vecs[0] {
		x := vecs[0][v]
		small := x.Hi == 0
		for _, vec := range vecs[1:] {
			small = small && vec[v].Hi == 0
		}
		if small && len(vecs) == 2 {
			next := part.Add(engine.U64(x.Lo).Mul64(vecs[1][v].Lo))
			if next.Cmp(part) < 0 {
				sum.Add(sum, part.Big())
				next = engine.U64(x.Lo).Mul64(vecs[1][v].Lo)
			}
			part = next
			continue
		}
		b := x.Big()
		for _, vec := range vecs[1:] {
			b.Mul(b, vec[v].Big())
		}
		sum.Add(sum, b)
	}
	sum.Add(sum, part.Big())
	return sum.Mul(sum, scale), nil
}

// runFormula counts a plan by its formula.
func runFormula(ctx context.Context, g *graph.Graph, p *plan.Plan, o job) (engine.Result, error) {
	v, err := NewFormulas(g, o.Options, o.Progress).Embeddings(ctx, p.Formula)
	if err != nil {
		return engine.Result{}, err
	}
	if p.Restricted {
		q, r := new(big.Int).QuoRem(v, p.Aut, new(big.Int))
		if r.Sign() != 0 {
			return engine.Result{}, fmt.Errorf("host: %v embeddings are not a multiple of %v automorphisms", v, p.Aut)
		}
		v = q
	}
	m, err := engine.FromBig(v)
	if err != nil {
		return engine.Result{}, err
	}
	return engine.Result{Matches: m, Complete: true}, nil
}
