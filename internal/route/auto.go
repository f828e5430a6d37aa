package route

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime"
)

// Times that auto compares: the expected time of the processor, and the time that a GPU takes
// to begin.
const (
	// stepsOfCore is how many set elements a core reads in a second.
	stepsOfCore = 1e9
	// startOfGPU is a process's first use of a GPU: its context, the graph's way
	// there, and the compilation of a plan that is new.
	startOfGPU = 3 * time.Second
	// severalGPUs is the expected time of the processor from which all GPUs are
	// taken and not the first alone.
	severalGPUs = 10 * time.Minute
)

// expected is how long the processor is expected to take for p.
func expected(p *plan.Plan, o engine.Options) time.Duration {
	if t := p.OnHost; t != nil {
		return min(t.Nest, t.Join) / time.Duration(max(1, o.Threads))
	}
	return time.Duration(min(p.Work()/(stepsOfCore*float64(max(1, o.Threads))), 1e9) * 1e9)
}

// orGPU is the choice of a GPU where that is expected to be worth its start, else
// host, with the reason.
func orGPU(ctx context.Context, r Request, host Choice) Choice {
	because := func(text string) string { // after the reason for one of two engines of the processor
		if host.Plan.Empty == nil {
			return host.Reason + "; " + text
		}
		return text
	}
	if host.Plan.Method == plan.Temporal {
		host.Reason = "edges in windows of time are slices of sorted lists there"
		return host
	}
	takes := expected(host.Plan, r.Options)
	if takes < startOfGPU {
		host.Reason = because("expected to be done before a GPU has begun")
		return host
	}
	about := fmt.Sprintf("expected to take some %s on %d cores", roughly(takes), max(1, r.Options.Threads))
	if r.Listing {
		host.Reason = because(about + ", where rows are written")
		return host
	}
	n, err := r.Runtime.Count(ctx)
	if err != nil {
		host.Reason = because(fmt.Sprintf("%s; no GPU: %v", about, err))
		var e *cuda.Error
		if errors.As(err, &e) && e.Code != 0 { // there is a driver, which does not work
			host.Notes = append(host.Notes, fmt.Sprintf("on the processor, since no GPU can be used: %v", err))
		}
		return host
	}
	c, note, err := pickAmong(r, max(n, 1), takes >= severalGPUs, func(r Request) (Choice, error) { return pickGPU(ctx, r) })
	if err != nil {
		host.Reason = because(about)
		host.Notes = append(host.Notes, note)
		return host
	}
	if note != "" {
		c.Notes = append(c.Notes, note)
	}
	why, faster := outOfCore(ctx, &c, takes)
	if !faster {
		host.Reason = because(about + "; " + why)
		host.Notes = append(host.Notes, "on the processor, since "+why)
		return host
	}
	if why == "" {
		why = "more than a GPU takes to begin"
	}
	c.host, c.Reason = &host, about+", "+why
	return c
}

// pickAmong calls pick for the first of n GPUs or, with several, for all of them. It leaves out
// GPUs whose architecture is too old; note names these, or says why none can be used. The
// driver's visible GPUs were fixed when they were counted: all, because none was asked for.
func pickAmong(r Request, n int, several bool, pick func(Request) (Choice, error)) (c Choice, note string, err error) {
	r.Compile = remembering(r.Compile)
	var whys []string
	for out := make([]bool, n); ; {
		var wanted []string
		for i := range n {
			if !out[i] && (several || len(wanted) == 0) {
				wanted = append(wanted, strconv.Itoa(i))
			}
		}
		if len(wanted) == 0 {
			break
		}
		r.Device = "gpu:" + strings.Join(wanted, ",")
		if c, err = pick(r); err == nil {
			if len(whys) > 0 {
				note = fmt.Sprintf("on %s, since others cannot: %s", r.Device, strings.Join(whys, "; "))
			}
			return c, note, nil
		}
		whys = append(whys, err.Error())
		var old runtime.Outdated
		if !errors.As(err, &old) {
			break
		}
		for _, i := range old.GPUs {
			out[i] = true
		}
	}
	return c, fmt.Sprintf("on the processor, since %s cannot: %s", r.Device, strings.Join(whys, "; ")), err
}

// roughly is a duration as one number of the largest unit of which it has two: 90s, 10m.
func roughly(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= 2*u.unit {
			return fmt.Sprintf("%d%s", d.Round(u.unit)/u.unit, u.name)
		}
	}
	return "millisecond"
}

// onHost runs the query on the processor after a GPU failed with an error. It uses the
// processor's own plan, and says so in a note. Errors that are not the GPU's fault are
// returned, and no match is handed to a sink twice.
func (c *Choice) onHost(ctx context.Context, goal engine.Goal, found engine.Result, failed error) (Result, error) {
	res := Result{found, c.Plan, c.Reason}
	var device *cuda.Error
	var fault *session.Fault
	if goal.Sink != nil || ctx.Err() != nil || !errors.As(failed, &device) && !errors.As(failed, &fault) && !errors.Is(failed, cuda.ErrMemory) {
		return res, failed
	}
	clear(goal.PerRoot)
	host := *c.host
	// Figures of levels, or a number of matches, were asked for with this plan in mind.
	if c.o.Levels || host.Plan.Restricted != c.Plan.Restricted {
		var err error
		if host.ready, err = host.Engine.Prepare(ctx, c.graph, c.Plan, c.o); err != nil {
			return res, err
		}
		host.Plan = c.Plan
	}
	found, err := host.ready.Run(ctx, goal)
	found.Notes = append(found.Notes, fmt.Sprintf("counted on the processor, since the GPU failed: %v", failed))
	return Result{found, host.Plan, "a GPU was chosen, and failed"}, err
}
