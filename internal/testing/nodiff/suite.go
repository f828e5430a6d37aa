package nodiff

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Suite is the extent of Run: the number of plans, and the number of graphs for each. The plans
// and graphs are those of the numbers from Seed on, in every run.
type Suite struct {
	Plans, Graphs int
	Seed          int
}

// trial is one plan for graphs that have the same columns; the pattern has a match
// in each.
type trial struct {
	pattern *pattern.Pattern
	plan    plan.Options
	engine  engine.Options
	graphs  []*Spec // none: no configuration was accepted
}

// trials draws trials for a technique, or with nil for nothing in particular.
func (c Config) trials(s Suite, tech *Technique, all *tally) *rapid.Generator[*trial] {
	return rapid.Custom(func(t *rapid.T) *trial {
		x, err := c.configure(t, tech, c.planted(t, tech), all)
		if err != nil {
			panic(err)
		}
		if x == nil {
			return &trial{}
		}
		for len(x.graphs) < s.Graphs {
			g := x.graphs[0].Like(c.MaxVertices).Draw(t, "graph")
			x.graphs = append(x.graphs, plantAgain(t, g, x.pattern, x.graphs[0]))
		}
		return x
	})
}

// Run compares an engine with the oracle as Check does, but runs each plan on many graphs. A
// plan's text that needs a compiler is compiled once or twice, and then used for all of them.
// The plans are spread over engines, which run side by side, as do their compilers. Run fails
// if the engine took fewer plans than asked for. It also fails if a technique has not run
// although there were enough plans to try each.
func (s Suite) Run(t *testing.T, c Config, engines []engine.Engine) {
	t.Helper()
	c = c.withDefaults()
	all := newTally()
	var mu sync.Mutex
	seed, plans := s.Seed, 0
	next := func() (at int, more bool) {
		mu.Lock()
		defer mu.Unlock()
		seed++
		return seed - 1, (plans < s.Plans || all.unsettled(c)) && seed-s.Seed <= 20*s.Plans && !t.Failed()
	}
	var wg sync.WaitGroup
	for _, e := range engines {
		c := c
		c.Engine = e
		wg.Go(func() {
			for at, more := next(); more; at, more = next() {
				var tech *Technique
				if i := (at - s.Seed) % (len(c.Techniques) + 1); i > 0 {
					tech = &c.Techniques[i-1]
				}
				ran, err := c.try(c.trials(s, tech, all).Example(at), tech, all)
				if err != nil {
					t.Errorf("plan %d: %v", at, err)
				}
				if ran {
					mu.Lock()
					plans++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if s.Plans <= 2*len(c.Techniques) {
		c.Techniques = nil // too few plans for all of them
	}
	all.report(t, c)
	if plans < s.Plans && !t.Failed() {
		t.Errorf("%d plans were compared, not %d", plans, s.Plans)
	}
}

// try runs a trial, and reports whether any graph was searched. The matching order
// is that of the first graph, so that all graphs have the same plan.
func (c Config) try(x *trial, tech *Technique, all *tally) (ran bool, err error) {
	for i, s := range x.graphs {
		o := x.plan
		p, refused, err := c.again(s, x)
		if refused != "" {
			all.refuse(tech, refused)
			continue
		}
		if i == 0 && err == nil {
			x.plan.Order, x.plan.Given = "given", p.plan.Order
			if p.plan.Method == plan.Local {
				x.plan.Method = plan.Local.String() // its order need not be connected
			}
		}
		n, r := 0, engine.Result{}
		if err == nil {
			n, r, err = p.compare(o)
		}
		if err != nil {
			return ran, fmt.Errorf("graph %d: %w\n%s\nengine options %v", i, err, describe(s, x.pattern, o), x.engine)
		}
		ran = true
		all.ran(tech, r, n)
	}
	return ran, nil
}

// again plans a trial on one of its graphs.
func (c Config) again(s *Spec, x *trial) (p *prepared, refused string, err error) {
	return c.accept(s.Build(), x.pattern, x.plan, x.engine)
}
