package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// localSchedule counts plans for the local method; where a neighbourhood is too
// large for it, or the plan leaves it nothing to walk, the nest runs the same
// plan.
type localSchedule struct{}

func init() { schedules[plan.Local] = localSchedule{} }

func (localSchedule) check(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options) error {
	l, err := prepareLocal(e, g, p, o)
	if err != nil || l != nil {
		return err
	}
	return nest{}.check(e, g, p, withoutLocal(o))
}

func (localSchedule) run(ctx context.Context, e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, _ engine.Sink) (engine.Result, error) {
	l, err := prepareLocal(e, g, p, o)
	if err != nil {
		return engine.Result{}, err
	}
	if l != nil {
		res, err := l.run(ctx, e.s, o)
		if !errors.Is(err, errUniverse) {
			res.Device, res.Threads = e.devices(), e.s.Workers()
			return res, err
		}
	}
	res, err := nest{}.run(ctx, e, g, p, withoutLocal(o), nil)
	res.Notes = append(res.Notes, "counted by the nest: the plan or a neighbourhood does not suit bit matrices")
	return res, err
}

// prepareLocal is newLocal for the engine's devices; nil: the nest is to run p.
func prepareLocal(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options) (*local, error) {
	switch v := o.Opt["stack.local"]; v {
	case "", "on":
	case "off":
		return nil, nil
	default:
		return nil, fmt.Errorf("%w stack.local=%s: want on or off", engine.ErrOption, v)
	}
	infos := e.s.Devices()
	info := infos[0]
	for _, i := range infos[1:] {
		info.SharedPerBlock = min(info.SharedPerBlock, i.SharedPerBlock)
	}
	l, err := newLocal(g, p, info, o.Opt)
	if errors.Is(err, errUniverse) || errors.Is(err, errShape) {
		return nil, nil
	}
	return l, err
}

// withoutLocal drops the options that only this schedule has.
func withoutLocal(o engine.Options) engine.Options {
	o.Opt = maps.Clone(o.Opt)
	maps.DeleteFunc(o.Opt, func(k, _ string) bool { return strings.HasPrefix(k, "stack.local") })
	return o
}
