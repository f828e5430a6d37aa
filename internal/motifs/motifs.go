// Package motifs counts every connected pattern of k vertices, and chooses the method. Motifs are counted all in
// one pass, by formulas over shared smaller counts, by one generated program, or one by one.
//
// It knows searches and the methods. It must not know the types of the API.
package motifs

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/host/census"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/formula"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// family is the motifs of k vertices, to be counted in a graph.
type family struct {
	g  *search.Graph
	k  int
	s  *setting.Settings
	qs []search.Question
	ps []*pattern.Pattern // under the settings
}

// Count counts the motifs of k vertices, 3 ≤ k ≤ 5: induced where s does not say. Those of a
// directed graph are directed ones.
func Count(ctx context.Context, g *search.Graph, k int, s *setting.Settings) ([]search.Result, error) {
	directed := g.Data.Directed && !s.Undirected
	f, err := newFamily(g, k, directed, s)
	if err != nil {
		return nil, err
	}
	if directed {
		if oneByOne(s) {
			return f.apart(ctx)
		}
		return f.census(ctx, func(ctx context.Context, ps []*pattern.Pattern, o engine.Options, progress func(done, total uint64)) ([]*big.Int, error) {
			return census.DirectedMotifs(ctx, g.Data, ps, o, progress)
		})
	}
	if device, ok := f.oneProgram(ctx); ok {
		return f.program(ctx, device)
	}
	if gpuCensus(s) && k == 3 {
		return f.gpuThree(ctx)
	}
	if gpuCensus(s) {
		out, err := f.gpuCensus(ctx)
		var no *errNoCensus
		if !errors.As(err, &no) {
			return out, err
		}
		return noted(no.why)(f.apart(ctx))
	}
	if oneByOne(s) {
		return f.apart(ctx)
	}
	if lists := g.Data.Flat(g.Data.Any()); census.Suits(lists, k, s.Workers()) {
		return f.census(ctx, func(ctx context.Context, ps []*pattern.Pattern, o engine.Options, progress func(done, total uint64)) ([]*big.Int, error) {
			return census.Motifs(ctx, lists, ps, o, progress)
		})
	}
	return f.formulas(ctx)
}

// newFamily is the motifs of k vertices: induced where s does not say.
func newFamily(g *search.Graph, k int, directed bool, s *setting.Settings) (*family, error) {
	name := "motifs"
	switch {
	case k < 3 || k > 5:
		return nil, kind.With(kind.Usage, fmt.Errorf("motifs of %d vertices: want 3, 4 or 5", k))
	case directed && k == 5:
		return nil, kind.With(kind.Usage, errors.New("motifs of 5 vertices of a directed graph are 9364: want 3 or 4, or leave the directions out (--no-directions, WithDirections(false))"))
	case directed:
		name = "directed_motifs"
	}
	if s.Induced == nil {
		induced := true
		s.Induced = &induced
	}
	qs, err := gql.ByName(fmt.Sprintf("%s(%d)", name, k))
	if err != nil {
		return nil, kind.With(kind.Query, err)
	}
	f := &family{g: g, k: k, s: s}
	for _, q := range qs {
		a := search.Question{Query: q, Settings: s}
		p, err := a.Pattern()
		if err != nil {
			return nil, err
		}
		f.qs, f.ps = append(f.qs, a), append(f.ps, p)
	}
	return f, nil
}

// oneByOne reports whether each motif is to be counted for itself: something was asked
// for that counting all of them at once does not know.
func oneByOne(s *setting.Settings) bool {
	other := s.Engine != "" && s.Engine != "auto" && s.Engine != "host"
	return other || len(s.Switches) > 0 || s.Limit > 0 || s.Ordered() || runtime.OnGPU(s.Device) || s.Mode != nil && *s.Mode != pattern.Iso
}

// noted adds a note to the first of some results.
func noted(note string) func([]search.Result, error) ([]search.Result, error) {
	return func(out []search.Result, err error) ([]search.Result, error) {
		if len(out) > 0 {
			out[0].Notes = append(out[0].Notes, note)
		}
		return out, err
	}
}

// census counts all motifs in one pass, of whose time each has its share.
func (f *family) census(ctx context.Context, count func(context.Context, []*pattern.Pattern, engine.Options, func(done, total uint64)) ([]*big.Int, error)) (out []search.Result, err error) {
	ctx, stop := memory.Watch(ctx, f.s.Memory)
	defer stop()
	start := time.Now()
	counts, err := count(ctx, f.ps, f.g.EngineOptions(f.s), f.s.Searching())
	took := time.Since(start) / time.Duration(len(f.qs))
	if cause := memory.Cause(ctx); cause != nil {
		return nil, cause
	}
	peak := search.PeakMemory()
	for i, p := range f.ps {
		var n *big.Int
		if err == nil {
			n = counts[i].Mul(counts[i], p.Automorphisms().Order())
		}
		r := f.result(i, n)
		r.Method, r.Reason = "census", "one pass counts all motifs"
		r.Search, r.Total, r.PeakMemory = took, took, peak
		out = append(out, r)
	}
	return out, search.Classify(err)
}

// apart counts each of the motifs for itself, up to the first error.
func (f *family) apart(ctx context.Context) (out []search.Result, err error) {
	var qs []*gql.Query
	for _, a := range f.qs {
		qs = append(qs, a.Query)
	}
	for r, err := range f.g.CountEach(ctx, qs, f.s) {
		if r.Embeddings != nil { // it ran
			out = append(out, r)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// formulas counts by formulas over shared smaller counts.
func (f *family) formulas(ctx context.Context) (out []search.Result, err error) {
	ctx, stop := memory.Watch(ctx, f.s.Memory)
	defer stop()
	decomposer := planner.NewDecomposer(f.g.Data, plan.Options{Root: plan.NoRoot, Seed: f.s.Seed, Threads: f.s.Workers(), Context: ctx})
	counts := host.NewFormulas(f.g.Data, f.g.EngineOptions(f.s), f.s.Searching())
	if err := f.pay(ctx, decomposer); err != nil {
		return nil, err
	}
	for i, p := range f.ps {
		start := time.Now()
		sum, err := decomposer.Formula(p)
		if err != nil && ctx.Err() == nil {
			return out, search.Classify(err)
		}
		planned := time.Now()
		var n *big.Int
		if err == nil {
			n, err = counts.Embeddings(ctx, sum)
		}
		r := f.result(i, n)
		r.PeakMemory = search.PeakMemory()
		r.Plan, r.Search, r.Total = planned.Sub(start), time.Since(planned), time.Since(start)
		out = append(out, r)
		if cause := memory.Cause(ctx); cause != nil {
			return out, cause
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// pay plans the edge-induced counts of all the motifs: an induced count is arithmetic over those,
// so that all of them together cost little more than one.
func (f *family) pay(ctx context.Context, d *formula.Decomposer) error {
	for _, p := range f.ps {
		if p.Induced {
			p = p.Clone()
			p.Induced = false
		}
		sum, err := d.Formula(p)
		if ctx.Err() != nil {
			return nil // the counts will see it
		}
		if err != nil {
			return search.Classify(err)
		}
		d.Pay(sum)
	}
	return nil
}

// result is the result of n embeddings of motif i; n is nil where the count was cut short.
func (f *family) result(i int, n *big.Int) search.Result {
	p, aut := f.ps[i], f.ps[i].Automorphisms().Order()
	r := search.Result{
		Query: f.qs[i].Name(), Semantics: p.Mode.String(), Induced: p.Induced,
		Automorphisms: aut, Complete: n != nil, Engine: host.New().Name(), Device: "cpu", Method: plan.Decomposed.String(),
		Reason: "motifs share the counts of smaller patterns",
	}
	if n == nil {
		n = new(big.Int)
	}
	r.Embeddings, r.Subgraphs = n, new(big.Int).Quo(n, aut)
	return r
}
