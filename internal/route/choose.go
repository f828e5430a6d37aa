// Package route is the registry of engines. It makes the choice of --engine auto, and gives the
// reason in a sentence.
//
// It knows every engine's name, needs and prices. It must not know how an engine works.
package route

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime"
)

// Errors of Pick; test with errors.Is.
var (
	// ErrName: no engine or device is called so.
	ErrName = runtime.ErrName
	// ErrDevice: the device was asked for and this build cannot use it.
	ErrDevice = runtime.ErrDevice
	// ErrRefused: no engine of those asked for can run the plan. Each gave a plan.Refusal.
	ErrRefused = errors.New("engine refused")
)

// hostEngine is an engine that runs on the processor.
type hostEngine struct {
	make    func() engine.Engine
	meaning string
}

// onHost are the engines of the processor by name, the one that auto takes
// first.
var onHost = []hostEngine{
	{host.New, "all cores of this machine"},
	{join.New, "all cores of this machine, breadth first: one vertex or several in each phase (GSI, GENEVA)"},
	{func() engine.Engine { return oracle.New() }, "slow and obvious; to check the others; never chosen by auto"},
}

// Description is an engine's name and its meaning.
type Description struct{ Name, Meaning string }

// Engines lists the engines of this build.
func Engines() []Description {
	var out []Description
	for _, e := range onHost {
		out = append(out, Description{e.make().Name(), e.meaning})
	}
	for _, e := range onGPU {
		if i := slices.IndexFunc(out, func(d Description) bool { return d.Name == e.name }); i >= 0 {
			out[i].Meaning += "; GPUs: with --device gpu:0,1,…"
			continue
		}
		d := Description{e.name, "GPUs: " + e.meaning + "; with --device gpu:0,1,…"}
		if e.name == Codegen {
			d.Meaning += "; all cores, by the machine's C compiler: with --device cpu"
		}
		out = append(out, d)
	}
	return out
}

// Options are the switches of the engines of this build.
func Options() option.Table {
	return slices.Concat(host.Options, join.Options, gpu.Options, stack.Options, fine.Options, codegen.Options, partition.Options)
}

// Codegen is the name of the engine that runs generated code.
const Codegen = "codegen"

// CodegenDevice returns the device on which generated code runs: cpu, the GPUs asked for or, if
// the name leaves it open, the first GPU. If ctx ends before that is known, it is cpu.
func CodegenDevice(ctx context.Context, rt *runtime.Runtime, device string) string {
	if runtime.OnGPU(device) {
		return device
	}
	if device != "cpu" {
		if n, err := rt.CountFor(ctx, []int{0}, nil); err == nil && n > 0 {
			return "gpu:0"
		}
	}
	return "cpu"
}

// onlyGPU reports whether an engine of that name runs on GPUs alone.
func onlyGPU(name string) bool { return NeedsGPU(name) && name != Codegen }

// Request says which query to run, and on which device.
type Request struct {
	Runtime        *runtime.Runtime
	Engine, Device string // "" and auto: Pick chooses
	Graph          *graph.Graph
	Options        engine.Options
	Listing        bool   // matches are wanted, not only their number
	Method         string // of counting, as plan.Options.Method; "": Pick chooses
	GPUMemory      int64  // bytes that may be used on each GPU; 0: all free memory
	// Compile plans the query for a method; order is the engine's own rule for a
	// matching order, where the user names none ("": the planner's choice).
	Compile func(method, order string) (*plan.Plan, error)

	waits *runtime.Waits // of Pick
}

// Choice is an engine with a plan that is ready to run, and why it was chosen.
type Choice struct {
	Engine  engine.Engine
	Plan    *plan.Plan
	Reason  string
	Notes   []string // for the user: wishes that could not be fulfilled
	Workers int      // that may hand over matches at once, beyond Options.Threads

	ready   engine.Prepared
	graph   *graph.Graph
	o       engine.Options
	outside *outside // nil on the processor
	less    *less    // nil: no other engine may take its place
	// host is the choice to run if a GPU that auto chose fails; nil: none.
	host *Choice
	// session has the GPUs, nil on the processor. device and memory are the request that it was
	// opened for.
	session *session.Session
	device  string
	memory  int64
	runtime *runtime.Runtime
	// Waits is how long Pick stood still for GPUs.
	Waits runtime.Waits
}

// Result is the result of running a choice, and the plan that gave it.
type Result struct {
	engine.Result
	Plan   *plan.Plan // that was run: the choice's, or the processor's after a GPU failed
	Reason string
}

// failed returns one error for those of Prepare. It wraps ErrRefused if all of them are refusals.
func failed(errs ...error) error {
	all := errors.Join(errs...)
	for _, err := range errs {
		if refusal := new(plan.Refusal); !errors.As(err, &refusal) {
			return all
		}
	}
	return fmt.Errorf("%w: %w", ErrRefused, all)
}

// choice prepares p on an engine. An error is a plan.Refusal, or a failure.
func (r *Request) choice(ctx context.Context, e engine.Engine, p *plan.Plan, reason string) (Choice, error) {
	o := r.Options
	o.Listing = r.Listing
	c := Choice{Engine: e, Plan: p, Reason: reason, graph: r.Graph, o: o}
	var err error
	c.ready, err = e.Prepare(ctx, r.Graph, p, o)
	return c, err
}

// Stale reports whether the chosen GPUs are gone: they were lost, or a later choice opened
// others. A caller that waited for them must choose again.
func (c *Choice) Stale() bool {
	return c.session != nil && !c.runtime.Has(c.session)
}

// Compiles reports whether the engine has kernels that Compile compiles.
func (c *Choice) Compiles() bool { return c.ready.Traits().Compiles }

// Phases says in words what the engine will do one after the other; nil: it is the plan's nest.
func (c *Choice) Phases() []string { return c.ready.Traits().Phases }

// Memory says how a run for the goal would use the memory of a GPU; nil: it uses none, or the engine does not say. Where
// memory is bounded or short, the run is prepared on the GPU for that. It blocks until other runs have ended.
//
// If the engine needs more memory than there is, and was not asked for by name, c becomes another one that does with what there is.
func (c *Choice) Memory(ctx context.Context, goal engine.Goal) (*engine.Memory, error) {
	m, short, err := c.rehearse(ctx, goal)
	if err == nil && short != nil {
		if other := c.less.take(ctx, goal, short); other != nil {
			now := *other
			now.Waits, now.Notes = c.Waits, append(slices.Clone(c.Notes), now.Notes...)
			*c = now
			m, _, err = c.rehearse(ctx, goal)
		}
	}
	return m, err
}

// rehearse is Memory. short is the error of a run that would have too little memory of the GPU, with all that it can do without
// in host memory.
func (c *Choice) rehearse(ctx context.Context, goal engine.Goal) (m *engine.Memory, short, err error) {
	t := c.ready.Traits()
	if !t.Rehearses || c.memory == 0 && t.Host == 0 {
		return t.Memory, nil, nil
	}
	m = &engine.Memory{}
	goal.Memory = m
	_, err = c.ready.Run(ctx, goal)
	if errors.Is(err, session.ErrShort) {
		if outside := c.outside.prepare(ctx, *c, err); outside != nil {
			_, err = outside.ready.Run(ctx, goal)
		}
	}
	if errors.Is(err, session.ErrShort) {
		m := *t.Memory
		m.Least = session.LeastOf(err)
		return &m, err, nil
	}
	return m, nil, err
}

// Compile starts compiling the kernels with which Run will run the plan, and returns at once:
// see engine.Prepared.
func (c *Choice) Compile(ctx context.Context) { c.ready.Compile(ctx) }

// Run has the engine run the plan. Runs may be concurrent. Where a GPU that was asked for by name
// has too little memory, and the place of neighbour lists is open, this run has them in host memory.
// So have all later ones, until the GPU has more free memory than it had then.
//
// If the engine needs more memory even then, and was not asked for by name, another one runs the query that does with what there is.
func (c *Choice) Run(ctx context.Context, goal engine.Goal) (Result, error) {
	if other := c.less.kept(); other != nil {
		return other.noted(ctx, goal)
	}
	now := *c
	outside := c.outside.get(ctx)
	var res engine.Result
	var err error
	if outside == nil {
		res, err = now.run(ctx, goal)
		switch {
		case now.session == nil:
		case err == nil:
			c.outside.set(nil, 0)
		case errors.Is(err, session.ErrShort):
			outside = c.outside.prepare(ctx, now, err)
		}
	}
	if outside != nil {
		moved := *outside
		if res, err = moved.run(ctx, goal); err == nil {
			res.Notes = append(res.Notes, "the search has too little memory of the GPU besides the graph, so neighbour lists were read in host memory")
		}
		c.outside.set(&moved, moved.free(ctx))
	}
	if err != nil && c.host != nil {
		return c.onHost(ctx, goal, res, err)
	}
	if errors.Is(err, session.ErrShort) {
		if other := c.less.take(ctx, goal, err); other != nil {
			return other.noted(ctx, goal)
		}
	}
	return Result{res, c.Plan, c.Reason}, err
}

// noted is Run with the notes of the choice.
func (c *Choice) noted(ctx context.Context, goal engine.Goal) (Result, error) {
	res, err := c.Run(ctx, goal)
	res.Notes = append(res.Notes, c.Notes...)
	return res, err
}

// run runs the plan. If another query closed the GPUs while this one waited, this one has not
// begun: c gets them opened again.
func (c *Choice) run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	res, err := c.ready.Run(ctx, goal)
	for errors.Is(err, cuda.ErrClosed) && ctx.Err() == nil && c.Stale() {
		if err = c.reopen(ctx); err == nil {
			res, err = c.ready.Run(ctx, goal)
		}
	}
	return res, err
}

// outside is a choice with its neighbour lists in host memory, prepared by the first run that
// finds too little memory on a GPU. All copies of the choice share it.
type outside struct {
	mu    sync.Mutex
	ready *Choice // is not written to; nil: no run has needed it
	taken bool    // the GPU's memory was taken, by another process perhaps
	free  int64   // the GPU's free bytes after the last run of ready
}

// get returns the choice to run; nil: there is none yet, or the GPU's memory may do again.
func (o *outside) get(ctx context.Context) *Choice {
	if o == nil { // of a choice for the processor
		return nil
	}
	o.mu.Lock()
	ready, taken, before := o.ready, o.taken, o.free
	o.mu.Unlock()
	if ready != nil && taken && ready.free(ctx) > before {
		return nil
	}
	return ready
}

// set keeps the choice that has run, which may be over other GPUs than the one before. free is how much
// memory of the GPUs was free after the run. A nil c means that the run needed no such choice.
func (o *outside) set(c *Choice, free int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready, o.free = c, free
}

// free returns how many bytes of the GPUs' memory are free; 0: they do not say.
func (c *Choice) free(ctx context.Context) int64 {
	if c.session == nil {
		return 0
	}
	n, err := c.session.Free(ctx)
	if err != nil {
		return 0
	}
	return n
}

// prepare has c prepared with its lists in host memory, once; nil: their place was asked for, or
// the engine cannot run the plan so. short is the error of c.
func (o *outside) prepare(ctx context.Context, c Choice, short error) *Choice {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken = errors.Is(short, session.ErrTaken)
	if room, err := gpu.ReadRoom(c.o); o.ready != nil || err != nil || !room.Auto() {
		return o.ready
	}
	c.o = gpu.Placed(c.o, "cached")
	var err error
	if c.ready, err = c.Engine.Prepare(ctx, c.graph, c.Plan, c.o); err == nil {
		o.ready = &c
	}
	return o.ready
}

// reopen prepares the plan over the GPUs that it was chosen for, opened again.
func (c *Choice) reopen(ctx context.Context) (err error) {
	if c.session, err = c.runtime.Session(ctx, c.device, c.memory, nil); err != nil {
		return err
	}
	i := slices.IndexFunc(onGPU, func(e gpuEngine) bool { return e.name == c.Engine.Name() })
	c.Engine = onGPU[i].make(c.session)
	c.ready, err = c.Engine.Prepare(ctx, c.graph, c.Plan, c.o)
	return err
}

// CheckNames says whether an engine and a device of these names exist in this
// build; "" is auto. The GPU driver may have to start for that: when ctx ends first, the
// error is its cause.
func CheckNames(ctx context.Context, rt *runtime.Runtime, name, device string) error {
	var w runtime.Waits
	defer func() { rt.Waited(w) }()
	if err := rt.CheckDevice(ctx, device, &w); err != nil {
		return err
	}
	if name == "" || name == "auto" {
		return nil
	}
	_, err := byName(name)
	if err == nil && onlyGPU(name) && !runtime.OnGPU(device) {
		if device == "cpu" {
			return fmt.Errorf("%w: engine %s runs on GPUs, not on cpu", ErrName, name)
		}
		return checkFirst(ctx, rt, name, &w)
	}
	return err
}

// checkFirst says whether there is a GPU for an engine that runs on GPUs alone, which was
// asked for without a device.
func checkFirst(ctx context.Context, rt *runtime.Runtime, engine string, w *runtime.Waits) error {
	if _, err := rt.CountFor(ctx, []int{0}, w); err != nil {
		return fmt.Errorf("%w: engine %s runs on GPUs: %w", ErrDevice, engine, err)
	}
	return nil
}

// names returns the names of all engines.
func names() []string {
	var out []string
	for _, e := range Engines() {
		out = append(out, e.Name)
	}
	return out
}

func byName(name string) (engine.Engine, error) {
	for _, e := range onHost {
		if eng := e.make(); eng.Name() == name {
			return eng, nil
		}
	}
	if GPUEngine(name) {
		return nil, nil
	}
	msg := fmt.Sprintf("engine %q: want auto, %s", name, strings.Join(names(), ", "))
	if s := pattern.Suggest(name, names()); s != "" {
		msg += "; did you mean " + s + "?"
	}
	return nil, fmt.Errorf("%w: %s", ErrName, msg)
}

// Pick returns the engine and the plan for a request: the engine asked for or, with "" and
// auto, the best that can run it. Errors of Compile are returned unchanged. Pick blocks while
// another query uses GPUs other than the request's. If ctx ends first, the error is its cause.
func Pick(ctx context.Context, r Request) (Choice, error) {
	var w runtime.Waits
	r.waits = &w
	c, err := pick(ctx, r)
	c.Waits, c.runtime = w, r.Runtime
	if ctx.Err() != nil {
		return Choice{}, context.Cause(ctx)
	}
	return c, err
}

func pick(ctx context.Context, r Request) (Choice, error) {
	if err := r.Runtime.CheckDevice(ctx, r.Device, r.waits); err != nil {
		return Choice{}, err
	}
	if runtime.OnGPU(r.Device) {
		return pickGPU(ctx, r)
	}
	eng, reason := onHost[0].make(), "the processor was asked for by name"
	auto := r.Engine == "" || r.Engine == "auto"
	if !auto {
		var err error
		if eng, err = byName(r.Engine); err != nil {
			return Choice{}, err
		}
		if r.Engine == Codegen && !runtime.OnGPU(CodegenDevice(ctx, r.Runtime, r.Device)) {
			eng = codegen.CPU{Objects: r.Runtime.Objects}
			if r.Method == "" {
				r.Method = plan.Nest.String()
			}
		}
		if eng == nil {
			if r.Device == "cpu" {
				return Choice{}, fmt.Errorf("%w: engine %s runs on GPUs, not on cpu", ErrName, r.Engine)
			}
			r.Device = "gpu:0"
			if err := checkFirst(ctx, r.Runtime, r.Engine, r.waits); err != nil {
				return Choice{}, err
			}
			return pickGPU(ctx, r)
		}
		reason = "asked for by name"
	}
	order := ""
	switch {
	case auto:
		order = plan.EitherOrder
	case eng.Name() == join.Name:
		if order = join.Order(r.Options.Opt); r.Method == "" {
			r.Method = plan.Nest.String()
		}
	}
	p, err := r.Compile(r.Method, order)
	if err != nil {
		return Choice{}, err
	}
	switch {
	case !auto:
	case p.OnHost != nil:
		if reason = becauseFaster(p); joinPays(p) {
			eng = join.New()
		}
	case p.Empty == nil && r.Device == "cpu":
		reason += "; " + becauseNoJoin(p)
	case p.Empty == nil:
		reason = becauseNoJoin(p)
	}
	c, err := r.choice(ctx, eng, p, reason)
	if err != nil {
		return Choice{}, failed(fmt.Errorf("%s: %w", eng.Name(), err))
	}
	if auto && r.Device != "cpu" {
		c = orGPU(ctx, r, c)
	}
	return c, nil
}

// joinPays reports whether engine join is expected to run a plan faster than the nest.
func joinPays(p *plan.Plan) bool { return p.OnHost != nil && p.OnHost.Join < p.OnHost.Nest }

// becauseNoJoin says why engine join was not compared with loops for a plan.
func becauseNoJoin(p *plan.Plan) string {
	if p.NoJoin == "" {
		return "no join: a matching order was asked for"
	}
	return "no join: " + p.NoJoin
}

// becauseFaster says why a plan of reduced candidates is for the nest, or for engine join.
func becauseFaster(p *plan.Plan) string {
	nest, join := shortly(p.OnHost.Nest), shortly(p.OnHost.Join)
	if joinPays(p) {
		return fmt.Sprintf("%s; a join is expected to take a core %s, and nested loops %s", becauseSmall(p), join, nest)
	}
	return fmt.Sprintf("%s; nested loops are expected to take a core %s, and a join %s", becauseSmall(p), nest, join)
}

// shortly is a duration with two digits.
func shortly(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// becauseSmall says how few candidates are left.
func becauseSmall(p *plan.Plan) string {
	least := 0
	for v := range p.Reduction.After {
		if p.Reduction.After[v] < p.Reduction.After[least] {
			least = v
		}
	}
	if p.Reduction.After[least] == 0 {
		return fmt.Sprintf("%s leave no candidate of %s", p.Reduction.By(), p.Pattern.VertexName(least))
	}
	return fmt.Sprintf("%s leave %d of %d candidates of %s", p.Reduction.By(),
		p.Reduction.After[least], p.Reduction.Before[least], p.Pattern.VertexName(least))
}
