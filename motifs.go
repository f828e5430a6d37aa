package weft

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/host/census"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/schedule"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/formula"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
)

func cliqueQuery(k int) (*Query, error) {
	return PatternByName(fmt.Sprintf("clique(%d)", k))
}

// Motifs counts every connected pattern of k vertices, 3 ≤ k ≤ 5: induced, so
// that each connected set of k vertices is counted in one motif, unless
// WithInduced(false) asks for all subgraphs. The motifs share their work; the engine
// codegen counts them by one generated program, unless counts may pass 64 bits.
//
// In a directed graph these are the directed motifs, 13 of three vertices and 199 of
// four; those of five are an error of kind ErrUsage. WithDirections(false) counts as if
// the edges had no directions. Labels are not looked at.
func (g *Graph) Motifs(ctx context.Context, k int, options ...Option) (out []Result, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &out)
	s, err := g.collect(callMotifs, options)
	if err != nil {
		return nil, err
	}
	directed := g.g.Directed && !s.noDirections
	qs, err := motifQueries(k, directed, s)
	if err != nil {
		return nil, err
	}
	if directed {
		return g.directedMotifs(ctx, qs, s)
	}
	if device, ok := g.oneProgram(ctx, k, s); ok {
		return g.motifProgram(ctx, k, qs, s, device)
	}
	if s.oneByOne() {
		return g.apart(ctx, qs, s)
	}
	if census.Suits(g.g.Any(), k, s.workers()) {
		return g.census(ctx, qs, s, func(ctx context.Context, ps []*pattern.Pattern, o engine.Options, progress func(done, total uint64)) ([]*big.Int, error) {
			return census.Motifs(ctx, g.g.Any(), ps, o, progress)
		})
	}
	return g.motifFormulas(ctx, qs, s)
}

// directedMotifs counts the motifs of a directed graph.
func (g *Graph) directedMotifs(ctx context.Context, qs []*Query, s *settings) ([]Result, error) {
	if s.oneByOne() {
		return g.apart(ctx, qs, s)
	}
	return g.census(ctx, qs, s, func(ctx context.Context, ps []*pattern.Pattern, o engine.Options, progress func(done, total uint64)) ([]*big.Int, error) {
		return census.DirectedMotifs(ctx, g.g, ps, o, progress)
	})
}

// oneByOne reports whether each motif is to be counted for itself: something was asked
// for that counting all of them at once does not know.
func (s *settings) oneByOne() bool {
	other := s.engine != "" && s.engine != "auto" && s.engine != "host"
	return other || len(s.opts) > 0 || s.limit > 0 || s.ordered() || runtime.OnGPU(s.device) || s.mode != nil && *s.mode != pattern.Iso
}

// ordered reports whether the matching order is to be made in a certain way.
func (s *settings) ordered() bool { return s.order != "" && s.order != "auto" }

// motifQueries are the motifs of k vertices: induced where s does not say.
func motifQueries(k int, directed bool, s *settings) ([]*Query, error) {
	family := "motifs"
	switch {
	case k < 3 || k > 5:
		return nil, withKind(ErrUsage, fmt.Errorf("motifs of %d vertices: want 3, 4 or 5", k))
	case directed && k == 5:
		return nil, withKind(ErrUsage, errors.New("motifs of 5 vertices of a directed graph are 9364: want 3 or 4, or leave the directions out (--no-directions, WithDirections(false))"))
	case directed:
		family = "directed_motifs"
	}
	if s.induced == nil {
		induced := true
		s.induced = &induced
	}
	return PatternsByName(fmt.Sprintf("%s(%d)", family, k))
}

// census counts all motifs in one pass, of whose time each has its share.
func (g *Graph) census(ctx context.Context, qs []*Query, s *settings, count func(context.Context, []*pattern.Pattern, engine.Options, func(done, total uint64)) ([]*big.Int, error)) (out []Result, err error) {
	ctx, stop := watchMemory(ctx, s.memory)
	defer stop()
	ps := make([]*pattern.Pattern, len(qs))
	for i, q := range qs {
		if ps[i], err = q.pattern(s); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	counts, err := count(ctx, ps, g.engineOptions(s), s.searching())
	took := time.Since(start) / time.Duration(len(qs))
	if cause := memoryCause(ctx); cause != nil {
		return nil, cause
	}
	memory := peakMemory()
	for i, p := range ps {
		aut := p.Automorphisms().Order()
		var n *big.Int
		if err == nil {
			n = counts[i].Mul(counts[i], aut)
		}
		r := g.formulaResult(qs[i], p, aut, n)
		r.Method, r.Reason = "census", "one pass counts all motifs"
		r.Search, r.Total, r.PeakMemory = took, g.load+took, memory
		out = append(out, r)
	}
	return out, classify(err)
}

// apart counts each of the queries for itself, up to the first error.
func (g *Graph) apart(ctx context.Context, qs []*Query, s *settings) ([]Result, error) {
	var out []Result
	for r, err := range g.each(ctx, qs, s) {
		if r.Embeddings != nil { // it ran
			out = append(out, r)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// motifFormulas counts by formulas over shared smaller counts.
func (g *Graph) motifFormulas(ctx context.Context, qs []*Query, s *settings) ([]Result, error) {
	ctx, stop := watchMemory(ctx, s.memory)
	defer stop()
	decomposer := planner.NewDecomposer(g.g, plan.Options{Root: plan.NoRoot, Seed: s.seed, Threads: s.workers(), Context: ctx})
	formulas := host.NewFormulas(g.g, g.engineOptions(s), s.searching())
	if err := payForAll(ctx, decomposer, qs, s); err != nil {
		return nil, err
	}
	var out []Result
	for _, q := range qs {
		start := time.Now()
		p, err := q.pattern(s)
		if err != nil {
			return out, err
		}
		f, err := decomposer.Formula(p)
		if err != nil && ctx.Err() == nil {
			return out, classify(err)
		}
		planned := time.Now()
		var n *big.Int
		if err == nil {
			n, err = formulas.Embeddings(ctx, f)
		}
		r := g.formulaResult(q, p, p.Automorphisms().Order(), n)
		r.PeakMemory = peakMemory()
		r.Plan, r.Search = planned.Sub(start), time.Since(planned)
		r.Total = g.load + time.Since(start)
		out = append(out, r)
		if cause := memoryCause(ctx); cause != nil {
			return out, cause
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// formulaResult is the result of n embeddings, nil where the count was cut short.
func (g *Graph) formulaResult(q *Query, p *pattern.Pattern, aut, n *big.Int) Result {
	r := Result{
		Query: q.Name(), Semantics: p.Mode.String(), Induced: p.Induced,
		Automorphisms: aut, Complete: n != nil, Engine: host.New().Name(), Device: "cpu",
		Graph: g.Summary(), Load: g.load - g.check, Check: g.check, Method: plan.Decomposed.String(),
		Reason: "motifs share the counts of smaller patterns",
	}
	if n == nil {
		n = new(big.Int)
	}
	r.Embeddings, r.Subgraphs = n, new(big.Int).Quo(n, aut)
	return r
}

// payForAll plans the edge-induced counts of all the patterns: an induced count
// is arithmetic over those, so that all of them together cost little more than
// one.
func payForAll(ctx context.Context, d *formula.Decomposer, qs []*Query, s *settings) error {
	for _, q := range qs {
		p, err := q.pattern(s)
		if err != nil {
			return err
		}
		if p.Induced {
			p = p.Clone()
			p.Induced = false
		}
		f, err := d.Formula(p)
		if ctx.Err() != nil {
			return nil // the counts will see it
		}
		if err != nil {
			return classify(err)
		}
		d.Pay(f)
	}
	return nil
}

// oneProgram says whether the motifs of k vertices are to be counted by one
// generated program, and where: codegen was asked for, with nothing that programs
// of Matcha do not know, and no number in the program passes 64 bits. On a GPU
// motifs of five vertices are counted one by one, each by a plan of its own: that
// took a third of the program's time, compilation of all 21 included (docs/gpu.md).
func (g *Graph) oneProgram(ctx context.Context, k int, s *settings) (device string, ok bool) {
	if s.engine != route.Codegen || len(s.opts) > 0 || s.limit > 0 || s.mode != nil && *s.mode != pattern.Iso {
		return "", false
	}
	device = route.CodegenDevice(ctx, g.rt.r, s.device)
	gpus := runtime.GPUs(device)
	return device, (gpus == 0 || gpus == 1 && k < 5) && library.StarMaps(g.g, k) < 1<<62
}

// motifProgram counts all motifs of k vertices by one Matcha program, of whose time
// each has its share: those of four vertices by their parts, unless there is no
// memory for a number of each vertex on each worker, others in one pass.
func (g *Graph) motifProgram(ctx context.Context, k int, qs []*Query, s *settings, device string) (out []Result, err error) {
	if err := route.CheckNames(ctx, g.rt.r, s.engine, s.device); err != nil {
		return nil, classify(err)
	}
	start := time.Now()
	early := g.rt.r.Early()
	var waits runtime.Waits
	byParts := k == 4 && !s.ordered()
	var m *Matcha
	if byParts {
		var text string
		if text, err = library.MotifsByParts(g.g.Directed); err == nil {
			m, err = g.rt.ParseMatcha("", text)
		}
	} else {
		m, err = g.motifsMatcha(ctx, k, qs, s)
	}
	if err != nil {
		return nil, err
	}
	planned := time.Since(start)
	target := schedule.C
	on := "cpu"
	if runtime.OnGPU(device) {
		target = schedule.CUDA
		session, err := g.rt.r.Session(ctx, device, s.gpuMemory, &waits)
		if err != nil {
			return nil, classify(err)
		}
		on = session.String()
	}
	there := *s
	there.target, there.device = string(target), device
	run := func() (MatchaResult, error) {
		return m.run(ctx, g.rt, map[string]any{m.Inputs()[0].Name: g}, nil, &there)
	}
	ran, err := run()
	if byParts && errors.Is(err, ErrMemory) {
		byParts = false
		if m, err = g.motifsMatcha(ctx, k, qs, s); err != nil {
			return nil, err
		}
		ran, err = run()
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	share := func(d time.Duration) time.Duration { return d / time.Duration(len(qs)) }
	total := share(early + time.Since(start))
	memory := peakMemory()
	var counts []*big.Int
	for _, v := range ran.Values {
		counts = append(counts, big.NewInt(v.(int64)))
	}
	if byParts && ran.Complete && !*s.induced {
		counts = library.AllSubgraphs(counts)
	}
	for i, q := range qs {
		p, err := q.pattern(s)
		if err != nil {
			return nil, err
		}
		aut := p.Automorphisms().Order()
		var n *big.Int
		if ran.Complete {
			n = new(big.Int).Mul(counts[i], aut)
		}
		r := g.formulaResult(q, p, aut, n)
		r.Engine, r.Device, r.Method, r.Reason = route.Codegen, on, "program", "asked for by name; one program counts all motifs"
		r.Open, r.Plan = early+waits.Driver+waits.Devices, share(planned+ran.Times.FrontEnd)
		r.Prepare, r.Search = share(ran.Times.Prepare+ran.Times.Compile), share(ran.Times.Search)
		r.Total, r.PeakMemory = g.load+total, memory
		out = append(out, r)
	}
	return out, err
}
