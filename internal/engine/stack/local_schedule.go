package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// localSchedule counts plans for the local method, but for those that have too
// large neighbourhoods or leave it nothing to walk: a plan for the nest is better
// then. The nest runs the same plan where it was asked for, and where a bound on
// neighbourhoods was too low.
type localSchedule struct{}

func init() { schedules[plan.Local] = localSchedule{} }

func (localSchedule) check(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options) error {
	on, err := localOn(o)
	if err != nil {
		return err
	}
	if !on {
		return nest{}.check(e, g, p, o)
	}
	if _, err := prepareLocal(e, g, p, o); err != nil {
		return err
	}
	// Who asks does not say whether matches are wanted or their number only: the
	// nest must be able to run the plan too.
	return nest{}.check(e, g, p, o)
}

func (localSchedule) run(ctx context.Context, e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, _ engine.Sink) (engine.Result, error) {
	on, err := localOn(o)
	if err != nil {
		return engine.Result{}, err
	}
	if on {
		l, err := prepareLocal(e, g, p, o)
		if err != nil {
			return engine.Result{}, err
		}
		res, err := l.run(ctx, e.s, o)
		if !errors.Is(err, errUniverse) {
			res.Device, res.Threads = e.s.String(), e.s.Workers()
			return res, err
		}
	}
	res, err := nest{}.run(ctx, e, g, p, o, nil)
	res.Notes = append(res.Notes, "counted by the nest")
	return res, err
}

// localOn reads the option stack.local: off runs the plan by the nest. The others
// that begin so are read where they are used.
func localOn(o engine.Options) (bool, error) {
	for key := range o.Opt {
		if strings.HasPrefix(key, "stack.local.") && key != "stack.local.classes" && key != "stack.local.table" && key != "stack.local.help" {
			return false, fmt.Errorf("%w %s: no such option", engine.ErrOption, key)
		}
	}
	switch v := o.Opt["stack.local"]; v {
	case "", "on":
		return true, nil
	case "off":
		return false, nil
	default:
		return false, fmt.Errorf("%w stack.local=%s: want on or off", engine.ErrOption, v)
	}
}

// prepareLocal is newLocal for the engine's devices.
func prepareLocal(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options) (*local, error) {
	infos := e.s.Devices()
	info := infos[0]
	for _, i := range infos[1:] {
		info.SharedPerBlock = min(info.SharedPerBlock, i.SharedPerBlock)
	}
	return newLocal(g, p, info, o.Opt)
}
