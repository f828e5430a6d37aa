package route

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
)

// gpuEngine is an engine that runs on the devices of a session.
type gpuEngine struct {
	name, meaning string
	make          func(*session.Session) engine.Engine
	// local: it counts plans for the local method too, where the pattern suits it.
	local bool
	// order is the engine's rule for matching orders. Orders of plans are for set programs, and
	// do not suit a search that makes no sets.
	order string
	// orderBy is order where it depends on the engine's options.
	orderBy func(opt map[string]string) string
	// named: auto does not take it.
	named bool
}

// orderOfFine is the order of fine's plans: by tests of candidates, not by sets.
const orderOfFine = "tests"

// orderOfLookups is the order of nests whose sets are made by tests as well.
const orderOfLookups = orderOfFine

// onGPU are the engines of GPUs.
var onGPU = []gpuEngine{
	{"stack", "depth-first search with a stack a warp, neighbourhoods as bit matrices (STMatch)",
		func(s *session.Session) engine.Engine { return stack.New(s) }, true, "", nil, false},
	{"fine", "a thread a candidate, stacks of constant size (gMatch)",
		func(s *session.Session) engine.Engine { return fine.New(s) }, false, orderOfFine, nil, false},
	{"codegen", "a plan compiled whole: its loop nest in one kernel, or neighbourhoods as bit matrices",
		func(s *session.Session) engine.Engine { return codegen.New(s) }, true, "", nil, false},
	{join.Name, "breadth first, a warp a row (GSI, GENEVA); no compilation for each pattern",
		func(s *session.Session) engine.Engine { return join.NewGPU(s) }, false, "", join.OrderOnGPU, true},
	{partition.Name, "graphs larger than a GPU's memory: part by part, and then across the parts (PBE)",
		func(s *session.Session) engine.Engine { return partition.New(s, inCore) }, false, "", nil, true},
}

// inCore are the engines that search one part of a graph, the fastest first.
func inCore(s *session.Session) []engine.Engine {
	return []engine.Engine{stack.New(s), fine.New(s), codegen.New(s), join.NewGPU(s)}
}

// GPUEngine reports whether an engine of GPUs is called so.
func GPUEngine(name string) bool {
	return slices.ContainsFunc(onGPU, func(e gpuEngine) bool { return e.name == name })
}

// NeedsGPU reports whether an engine of that name runs on GPUs where no device is named.
func NeedsGPU(name string) bool {
	return GPUEngine(name) && !slices.ContainsFunc(onHost, func(e hostEngine) bool { return e.make().Name() == name })
}

// pickGPU is Pick for GPUs asked for by name. No other device is tried in their
// place.
func pickGPU(ctx context.Context, r Request) (Choice, error) {
	auto := r.Engine == "" || r.Engine == "auto"
	var try []gpuEngine
	if !auto {
		if _, err := byName(r.Engine); err != nil {
			return Choice{}, err
		}
		i := slices.IndexFunc(onGPU, func(e gpuEngine) bool { return e.name == r.Engine })
		if i < 0 {
			return Choice{}, fmt.Errorf("%w: engine %s does not run on GPUs", ErrName, r.Engine)
		}
		try = onGPU[i : i+1]
	} else {
		try = slices.DeleteFunc(slices.Clone(onGPU), func(e gpuEngine) bool { return e.named })
	}
	labelled := auto && r.Method == "" && len(r.Graph.Classes) > 1
	r.Compile = remembering(r.Compile)
	// Work that needs no device is done while the devices open.
	r.Runtime.Begin(r.Device, r.GPUMemory)
	if labelled {
		_, _ = r.Compile(plan.Nest.String(), "ri")
	}
	small, few := r.small(auto)
	if !labelled && !few {
		_, _ = try[0].compile(r, try[0].methods(r)[0])
	}
	s, err := r.Runtime.Session(ctx, r.Device, r.GPUMemory, r.waits)
	if err != nil {
		return Choice{}, err
	}
	t := trial{Request: r, auto: auto, session: s}
	if c, ok := t.inParts(ctx); ok {
		return c, nil
	}
	if labelled {
		if c, ok := t.merged(ctx); ok {
			return c, nil
		}
		if c, ok := t.filtered(ctx); ok {
			return c, nil
		}
	}
	if few {
		if c, err := t.joined(ctx, small, try); err == nil || ctx.Err() != nil {
			return c, err
		}
	}
	c, err := t.best(ctx, try)
	if err == nil {
		c.less = t.lessThan(&c)
	}
	return c, err
}

// best returns the first of some engines that can run the query, with a plan for it, or another
// engine where that is faster.
func (t *trial) best(ctx context.Context, try []gpuEngine) (Choice, error) {
	r := t.Request
	var refused []error
	for _, e := range try {
		for _, method := range e.methods(r) {
			p, err := e.compile(r, method)
			if err != nil {
				if method == plan.Local.String() && r.Method == "" {
					continue // the pattern does not suit it
				}
				return Choice{}, err
			}
			reason := "asked for by name"
			if t.auto {
				reason = e.why(p, refused)
			}
			if c, ok := t.preferred(ctx, e.name, p, reason); ok {
				return c, nil
			}
			c, err := t.choice(ctx, e.make(t.session), p, reason)
			if err == nil {
				return c, nil
			}
			if errors.Is(err, engine.ErrOption) {
				return Choice{}, err
			}
			refused = append(refused, fmt.Errorf("%s: %w", e.name, err))
		}
	}
	return Choice{}, failed(refused...)
}

// trial is a request to GPUs that are open. A plan is prepared only where it is expected to
// be taken: the checks before that cost next to nothing.
type trial struct {
	Request
	auto    bool
	session *session.Session
}

// choice is a choice over the session's GPUs.
func (t *trial) choice(ctx context.Context, e engine.Engine, p *plan.Plan, reason string) (Choice, error) {
	c, err := t.Request.choice(ctx, e, p, reason)
	if err == nil {
		if n := c.ready.Traits().Host; n > 0 {
			c.Reason += fmt.Sprintf("; %s of the graph's arrays stay in host memory", memory.Text(uint64(n)))
		}
	}
	c.outside, c.less = &outside{}, nil
	c.Workers, c.session, c.device, c.memory = t.session.Workers(), t.session, t.Device, t.GPUMemory
	return c, err
}

// filtered is fine for a large labelled pattern: the order of its plan says little yet, and
// only fine makes one of its own.
func (t *trial) filtered(ctx context.Context) (Choice, bool) {
	o := t.Options
	o.Listing = t.Listing
	f := fine.New(t.session)
	p, err := t.Compile(plan.Nest.String(), "ri")
	if err != nil || !f.Indexes(p, o) {
		return Choice{}, false
	}
	c, err := t.choice(ctx, f, p, "a large labelled pattern: candidates are filtered before the search")
	return c, err == nil
}

// Where a count of a large labelled pattern goes to engine join: it has surelyMerged vertices, for which estimates are too low by factors
// of hundreds, or it is expected to make mergedLess times as many rows without merges as with them, and so many that they would take longer
// than to make fine's candidate graph, 7 to 8 ms (docs/notes/2026-11-21-gpu-labelled.md).
const (
	surelyMerged = 8
	mergedLess   = 4
	manyRows     = 1e7
)

// merged is engine join for a large labelled pattern whose matches are many, and whose rows few if they are merged. fine takes each match
// by itself, except those that the last vertices close by arithmetic.
func (t *trial) merged(ctx context.Context) (Choice, bool) {
	if t.Listing {
		return Choice{}, false
	}
	p, err := t.Compile(plan.Nest.String(), join.OrderOnGPU(t.Options.Opt))
	if err != nil || p.Empty != nil {
		return Choice{}, false
	}
	rows, merged := p.Rows(), p.MergedRows()
	if merged == 0 || len(p.Levels) < surelyMerged && (rows < manyRows || rows < mergedLess*merged) {
		return Choice{}, false
	}
	c, err := t.choice(ctx, join.NewGPU(t.session), p, "a large labelled pattern: a join merges rows that nothing later tells apart")
	// A join out of core merges no rows.
	return c, err == nil && c.ready.Traits().Memory == nil
}

// preferred returns a choice that is faster than the engine of that name with its plan p, if
// there is one: another engine, or another order that the same reason supports.
func (t *trial) preferred(ctx context.Context, engine string, p *plan.Plan, reason string) (Choice, bool) {
	if t.auto && !t.Listing && suitsFine(p, t.Method) {
		if c, ok := t.byBits(ctx); ok {
			return c, true
		}
	}
	if p.Method == plan.Nest && (engine == Codegen || t.auto && !t.Listing) {
		return t.byLookups(ctx, engine, p, reason)
	}
	return Choice{}, false
}

// largeInduced is how many vertices a vertex-induced pattern has for which fine is
// faster than bit matrices, if one of them lies outside the root's neighbourhood.
const largeInduced = 7

// suitsFine reports whether fine may be faster than stack with a plan of this kind. That is a
// loop nest, or a bit matrix with a row for every outside vertex and a pattern so large that
// few partial matches survive its missing edges. asked is the method asked for by name, if any.
func suitsFine(p *plan.Plan, asked string) bool {
	if p.Method != plan.Local || asked != "" {
		return p.Method == plan.Nest
	}
	inside := slices.ContainsFunc(p.Levels[1].Back, func(b plan.Back) bool { return b.Level == 0 && !b.Neg })
	return p.Induced && !inside && len(p.Levels) >= largeInduced
}

// byBits returns fine for a plan that suits it and is counted, if fine looks neighbours up in
// rows of bits.
//
// Why: on an H200, over graphs that small, fine was 2 to 5 times as fast as stack at six of
// eight nests, and as fast at two. At the four vertex-induced patterns of STMatch's that have
// seven vertices and one outside, on wiki-vote with every match visited, it was 2 to 9 times as
// fast (docs/gpu.md).
func (t *trial) byBits(ctx context.Context) (Choice, bool) {
	f := fine.New(t.session)
	p, err := t.Compile(plan.Nest.String(), orderOfFine)
	if err != nil || !f.LooksUpBits(p, t.Options) {
		return Choice{}, false
	}
	c, err := t.choice(ctx, f, p,
		"the fastest where there is room for neighbours as rows of bits and no neighbourhood has a whole match: a lane a candidate")
	return c, err == nil
}

// byLookups is codegen in an order by tests, for a nest that looks elements up in hash
// tables; where codegen was asked for by name, in rows of bits too.
func (t *trial) byLookups(ctx context.Context, engine string, p *plan.Plan, reason string) (Choice, bool) {
	named := engine == Codegen
	if !named && engine != "stack" {
		return Choice{}, false
	}
	e := codegen.New(t.session)
	how := e.Lookup(p, t.Options)
	if how != membership.Hash && !(named && how == membership.Bits) {
		return Choice{}, false
	}
	p, err := t.Compile(plan.Nest.String(), orderOfLookups)
	if err != nil {
		return Choice{}, false
	}
	if named {
		reason += "; neighbours are looked up in " + map[membership.Lookup]string{membership.Hash: "hash tables", membership.Bits: "rows of bits"}[how]
	} else {
		reason = "the fastest where no neighbourhood has a whole match and lists are long: a nest in one kernel, neighbours looked up in hash tables"
	}
	c, err := t.choice(ctx, e, p, reason)
	if err != nil {
		return c, false
	}
	traits := c.ready.Traits()
	return c, traits.Hashes && (named || traits.Fits) || named && traits.BitRows
}

// remembering is compile that plans no query twice for the same method and order.
func remembering(compile func(method, order string) (*plan.Plan, error)) func(method, order string) (*plan.Plan, error) {
	type outcome struct {
		p   *plan.Plan
		err error
	}
	made := map[[2]string]outcome{}
	return func(method, order string) (*plan.Plan, error) {
		key := [2]string{method, order}
		o, ok := made[key]
		if !ok {
			o.p, o.err = compile(method, order)
			made[key] = o
		}
		return o.p, o.err
	}
}

// why gives the reason for the engine with a plan in a sentence, after others were refused.
func (e gpuEngine) why(p *plan.Plan, refused []error) string {
	switch {
	case p.Method == plan.Local:
		return "the fastest where a match lies in one neighbourhood, which becomes a bit matrix"
	case len(refused) > 0:
		return fmt.Sprintf("the best that can: %v", errors.Join(refused...))
	}
	return "the fastest where no neighbourhood has a whole match: candidate sets on a stack a warp"
}

// A plan for bit matrices that costs more than this, in steps, is compared with a nest; for
// less, planning takes longer than a GPU. The nest is taken if the bit matrices are expected to
// cost this many times as much: a step of the nest is slower on GPUs, and both are estimates.
// Patterns of the papers stay below 6 times on wiki-vote.
const (
	worthNest = 1e11
	muchMore  = 16
)

// compile plans the query for a method of the engine. If the engine chose bit matrices itself
// and a nest is expected to cost much less, it plans for the nest. Why: the work below a root
// may be all pairs of its neighbours.
func (e gpuEngine) compile(r Request, method string) (*plan.Plan, error) {
	order := e.order
	if e.orderBy != nil {
		order = e.orderBy(r.Options.Opt)
	}
	p, err := r.Compile(method, order)
	if err != nil || r.Method != "" || p.Method != plan.Local || p.Work() < worthNest {
		return p, err
	}
	if nest, err := r.Compile(plan.Nest.String(), order); err == nil && muchMore*nest.Work() <= p.Work() {
		return nest, nil
	}
	return p, nil
}

// localOn reports whether the local method is not switched off.
func (e gpuEngine) localOn(r Request) bool {
	v, err := Options().Of(e.name).Read(r.Options.Opt)
	return err != nil || v.On(e.name+".local") // Prepare reports the error
}

// methods are the ways of counting that the engine is to try, the best first.
func (e gpuEngine) methods(r Request) []string {
	switch {
	case r.Method != "":
		return []string{r.Method}
	case e.local && e.localOn(r) && !r.Listing && !r.Options.Levels:
		return []string{plan.Local.String(), plan.Nest.String()}
	}
	return []string{plan.Nest.String()}
}
