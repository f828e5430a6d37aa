// Package route is the registry of engines, the choice that --engine auto
// makes, and its reason in a sentence.
package route

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Errors of Pick; test with errors.Is.
var (
	// ErrName: no engine or device is called so.
	ErrName = errors.New("unknown name")
	// ErrDevice: the device was asked for and this build cannot use it.
	ErrDevice = errors.New("device not available")
	// ErrRefused: the engine cannot run the plan.
	ErrRefused = errors.New("engine refused")
)

// onHost are the engines of the processor by name, the one that auto takes
// first.
var onHost = []struct {
	make    func() engine.Engine
	meaning string
}{
	{host.New, "all cores of this machine"},
	{func() engine.Engine { return oracle.New() }, "slow and obvious; to check the others; never chosen by auto"},
}

// Description is an engine's name and what it is.
type Description struct{ Name, Meaning string }

// Engines lists the engines of this build.
func Engines() []Description {
	var out []Description
	for _, e := range onHost {
		out = append(out, Description{e.make().Name(), e.meaning})
	}
	for _, e := range onGPU {
		d := Description{e.name, "GPUs: " + e.meaning + "; with --device gpu:0,1,…"}
		if e.name == Codegen {
			d.Meaning += "; all cores, by the machine's C compiler: with --device cpu"
		}
		out = append(out, d)
	}
	return out
}

// onBoth is the engine of the processor that has the name of one of GPUs: which
// of the two runs is the device's to say, or a GPU's if there is one.
var onBoth engine.Engine = codegen.CPU{}

// Codegen is the name of the engine that runs generated code.
const Codegen = "codegen"

// CodegenDevice is where generated code runs for the name of a device: cpu, or the
// GPUs asked for, or the first one, if there is one, where the name leaves it open. When
// ctx ends before that is known, it is cpu.
func CodegenDevice(ctx context.Context, device string) string {
	if OnGPU(device) {
		return device
	}
	if device != "cpu" {
		narrow([]int{0})
		if n, err := countWithin(ctx); err == nil && n > 0 {
			return "gpu:0"
		}
	}
	return "cpu"
}

// onlyGPU reports whether an engine of that name runs on GPUs alone.
func onlyGPU(name string) bool { return GPUEngine(name) && name != Codegen }

// Request is what is to be run, and on what.
type Request struct {
	Engine, Device string // "" and auto: Pick chooses
	Graph          *graph.Graph
	Options        engine.Options
	Listing        bool   // matches are wanted, not only their number
	Method         string // of counting, as plan.Options.Method; "": Pick chooses
	GPUMemory      int64  // bytes that may be used on each GPU; 0: what is free
	// Compile plans the query for a method; order is the engine's own rule for a
	// matching order, where the user names none ("": the planner's choice).
	Compile func(method, order string) (*plan.Plan, error)
}

// Choice is an engine with the plan that it is to run, and why it was chosen.
type Choice struct {
	Engine  engine.Engine
	Plan    *plan.Plan
	Reason  string
	Notes   []string // for the user: what could not be had
	Workers int      // that may hand over matches at once, beyond Options.Threads
	// ahead is Engine over a session of GPUs that only compiles, and session that
	// session; nil on the processor.
	ahead   engine.Engine
	session *session.Session
	// device and memory are what the session was asked for by.
	device string
	memory int64
}

// Stale reports whether the GPUs that were chosen are no longer there for the engine:
// they were lost, or a later choice opened others. Who waited is to choose again.
func (c Choice) Stale() bool {
	return c.session != nil && !open.has(c.session)
}

// Compiles reports whether the engine has kernels that Expect compiles.
func (c Choice) Compiles() bool { return c.ahead != nil }

// Expect begins to compile the kernels with which Run will count the plan, on a GPU,
// and returns at once. While a run of another goroutine has these GPUs, nothing is
// compiled. What has not begun when ctx ends is not compiled. The engine makes their text as for Run, so that it is the same. What goes wrong is for Run to
// say, which meets it too.
func (c Choice) Expect(ctx context.Context, g *graph.Graph, o engine.Options) {
	if c.ahead != nil {
		_, _ = c.ahead.Run(ctx, g, c.Plan, o, nil)
	}
}

// Run has the engine run the plan.
func (c Choice) Run(ctx context.Context, g *graph.Graph, o engine.Options, s engine.Sink) (engine.Result, error) {
	res, err := c.Engine.Run(ctx, g, c.Plan, o, s)
	// Who waited for GPUs which others closed for theirs has not begun.
	for errors.Is(err, cuda.ErrClosed) && ctx.Err() == nil && c.Stale() {
		if c, err = c.reopened(ctx); err != nil {
			return engine.Result{}, err
		}
		res, err = c.Engine.Run(ctx, g, c.Plan, o, s)
	}
	return res, err
}

// reopened is the choice over the GPUs that it was made for, opened again.
func (c Choice) reopened(ctx context.Context) (Choice, error) {
	s, err := sessionOn(ctx, c.device, c.memory)
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(onGPU, func(e gpuEngine) bool { return e.name == c.Engine.Name() })
	c.session, c.ahead = s, onGPU[i].make(s.Ahead())
	if auto, ok := c.Engine.(orHost); ok {
		c.Engine = orHost{onGPU[i].make(s), auto.host}
	} else {
		c.Engine = onGPU[i].make(s)
	}
	return c, nil
}

// CheckNames says whether an engine and a device of these names exist in this
// build; "" is auto. The GPU driver may have to start for that: when ctx ends first, the
// error is its cause.
func CheckNames(ctx context.Context, name, device string) error {
	if err := checkDevice(ctx, device); err != nil {
		return err
	}
	if name == "" || name == "auto" {
		return nil
	}
	_, err := byName(name)
	if err == nil && onlyGPU(name) && !OnGPU(device) {
		if device == "cpu" {
			return fmt.Errorf("%w: engine %s runs on GPUs, not on cpu", ErrName, name)
		}
		return checkFirst(ctx, name)
	}
	return err
}

// checkDevice says whether a device of that name, "" for auto, exists here.
func checkDevice(ctx context.Context, device string) error {
	list, err := ordinals(device)
	if err != nil || len(list) == 0 {
		return err
	}
	n, err := countFor(ctx, list)
	if err != nil {
		return fmt.Errorf("%w: %s was asked for: %w", ErrDevice, device, err)
	}
	if most := slices.Max(list); most >= n {
		return fmt.Errorf("%w: gpu:%d was asked for, and the GPUs here are 0 … %d", ErrDevice, most, n-1)
	}
	return nil
}

// checkFirst says whether there is a GPU for an engine that runs on GPUs alone, which was
// asked for without a device.
func checkFirst(ctx context.Context, engine string) error {
	if _, err := countFor(ctx, []int{0}); err != nil {
		return fmt.Errorf("%w: engine %s runs on GPUs: %w", ErrDevice, engine, err)
	}
	return nil
}

// countFor counts the GPUs for who will open those of list.
func countFor(ctx context.Context, list []int) (int, error) {
	narrow(list)
	defer waiting(&waited.driver, time.Now())
	return countWithin(ctx)
}

// countWithin is gpus for a caller that waits until ctx ends.
func countWithin(ctx context.Context) (n int, err error) {
	done, count := make(chan struct{}), gpus
	go func() {
		defer close(done)
		n, err = count()
	}()
	select {
	case <-done:
		return n, err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// names are those of all engines.
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

// Pick returns the engine and the plan for a request: the engine asked for, or
// with "" and auto the best that can. Errors of Compile come back as they are. Pick
// waits for GPUs that another query uses where they are not those of the request. When
// ctx ends first, the error is its cause.
func Pick(ctx context.Context, r Request) (Choice, error) {
	c, err := pick(ctx, r)
	if ctx.Err() != nil {
		return Choice{}, context.Cause(ctx)
	}
	return c, err
}

func pick(ctx context.Context, r Request) (Choice, error) {
	if err := checkDevice(ctx, r.Device); err != nil {
		return Choice{}, err
	}
	if OnGPU(r.Device) {
		return pickGPU(ctx, r)
	}
	eng, reason := onHost[0].make(), "the processor was asked for by name"
	auto := r.Engine == "" || r.Engine == "auto"
	if !auto {
		var err error
		if eng, err = byName(r.Engine); err != nil {
			return Choice{}, err
		}
		if r.Engine == Codegen && !OnGPU(CodegenDevice(ctx, r.Device)) {
			eng = onBoth
			if r.Method == "" {
				r.Method = plan.Nest.String()
			}
		}
		if eng == nil {
			if r.Device == "cpu" {
				return Choice{}, fmt.Errorf("%w: engine %s runs on GPUs, not on cpu", ErrName, r.Engine)
			}
			r.Device = "gpu:0"
			if err := checkFirst(ctx, r.Engine); err != nil {
				return Choice{}, err
			}
			return pickGPU(ctx, r)
		}
		reason = "asked for by name"
	}
	p, err := r.Compile(r.Method, "")
	if err != nil {
		return Choice{}, err
	}
	if err := eng.Check(r.Graph, p, r.Options); err != nil {
		return Choice{}, fmt.Errorf("%w: %s: %w", ErrRefused, eng.Name(), err)
	}
	c := Choice{Engine: eng, Plan: p, Reason: reason}
	if auto && r.Device != "cpu" {
		c = orGPU(ctx, r, c)
	}
	return c, nil
}
