package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
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
	on, err := neighbourhood.On(e.Name(), o.Opt)
	if err != nil {
		return err
	}
	if on {
		if _, err := neighbourhood.New(e.Name(), e.s, g, p, o.Opt); err != nil {
			return err
		}
	}
	// Who asks does not say whether matches are wanted or their number only: the
	// nest must be able to run the plan too.
	return nest{}.check(e, g, p, o)
}

func (localSchedule) run(ctx context.Context, e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, _ engine.Sink) (engine.Result, error) {
	on, err := neighbourhood.On(e.Name(), o.Opt)
	if err != nil {
		return engine.Result{}, err
	}
	if on {
		l, err := neighbourhood.New(e.Name(), e.s, g, p, o.Opt)
		if err != nil {
			return engine.Result{}, err
		}
		res, err := l.Run(ctx, o)
		if !errors.Is(err, neighbourhood.ErrUniverse) {
			if without := ofNest(o); len(without) > 0 {
				res.Notes = append(res.Notes, fmt.Sprintf("no effect on the local method: %s; stack.local=off plans a nest", strings.Join(without, ", ")))
			}
			return res, err
		}
	}
	res, err := nest{}.run(ctx, e, g, p, o, nil)
	res.Notes = append(res.Notes, "counted by the nest")
	return res, err
}

// ofNest are the options that switch something of the nest alone, by name.
func ofNest(o engine.Options) (out []string) {
	for key := range o.Opt {
		if name, ok := strings.CutPrefix(key, "stack."); ok && name != "code-motion" && name != "local" && !strings.HasPrefix(name, "local.") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
