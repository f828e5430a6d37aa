package route

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/plan"
)

// less finds an engine that does with less memory of a GPU than the one that was chosen. All copies of the choice share it.
type less struct {
	find func(ctx context.Context, goal engine.Goal, why string) *Choice

	mu    sync.Mutex
	found *Choice // that runs in the choice's place from now on; nil: none does
}

// kept returns the choice that a run has found; nil: no run needed it.
func (l *less) kept() *Choice {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found
}

// take returns a choice that runs after an error that is ErrShort, or nil. It is kept unless another process had the memory.
func (l *less) take(ctx context.Context, goal engine.Goal, short error) *Choice {
	if l == nil || ctx.Err() != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	why := "more memory of the GPU than there is"
	if least := session.LeastOf(short); least > 0 {
		why = fmt.Sprintf("%d bytes of the GPU's memory", least)
	}
	c := l.find(ctx, goal, why)
	if c != nil && !errors.Is(short, session.ErrTaken) {
		l.found = c
	}
	return c
}

// lessThan returns what finds an engine that does with less memory than a choice: nested loops of stack, which have no lists of roots, or
// engine join, which has a segment of the graph there at a time. nil: the engine or the place of lists was asked for.
func (t *trial) lessThan(c *Choice) *less {
	if room, err := gpu.ReadRoom(t.Options); !t.auto || err != nil || !room.Auto() {
		return nil
	}
	name, method, restricted := c.Engine.Name(), c.Plan.Method, c.Plan.Restricted
	return &less{find: func(ctx context.Context, goal engine.Goal, why string) *Choice {
		for _, e := range onGPU {
			if e.name == name && (e.name == join.Name || method == plan.Nest) || e.name != onGPU[0].name && e.name != join.Name {
				continue
			}
			p, err := e.compile(t.Request, plan.Nest.String())
			if err != nil || p.Restricted != restricted {
				continue
			}
			reason := fmt.Sprintf("engine %s by method %v would need %s", name, method, why)
			other, err := t.choice(ctx, e.make(t.session), p, reason)
			if err != nil {
				continue
			}
			other.runtime = t.Runtime
			other.Notes = []string{fmt.Sprintf("engine %s searches by method %v, as %s", e.name, p.Method, reason)}
			if m, short, err := other.rehearse(ctx, goal); err == nil && short == nil && (m == nil || m.Least <= m.Budget) {
				return &other
			}
		}
		return nil
	}}
}
