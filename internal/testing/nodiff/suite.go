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

// Suite is how much Run compares: so many plans, each on so many graphs. The
// plans and graphs are those of the numbers from Seed on, in every run.
type Suite struct {
	Plans, Graphs int
	Seed          int
}

// trial is one plan for graphs that have the same columns.
type trial struct {
	pattern *pattern.Pattern
	plan    plan.Options
	engine  engine.Options
	graphs  []*Spec
}

// Run compares an engine with the oracle as Check does, but one plan on many
// graphs: where the text of a plan is compiled, that is done once or twice, and
// then used. The plans are spread over engines, which run side by side, and their
// compilers too. It fails where fewer plans than asked for were taken by the
// engine.
func (s Suite) Run(t *testing.T, c Config, engines []engine.Engine) {
	t.Helper()
	c = c.withDefaults()
	draw := rapid.Custom(func(t *rapid.T) *trial {
		g := c.graphs().Draw(t, "graph")
		x := &trial{pattern: c.Patterns(g, c.MaxPattern).Draw(t, "pattern")}
		x.plan, x.engine = c.planOptions(t, x.pattern), c.options(t)
		for range s.Graphs {
			x.graphs = append(x.graphs, g.Like(c.MaxVertices).Draw(t, "graph"))
		}
		return x
	})
	var mu sync.Mutex
	seed, plans, refused := s.Seed, 0, map[string]int{}
	var all tally
	next := func() (at int, more bool) {
		mu.Lock()
		defer mu.Unlock()
		seed++
		return seed - 1, plans < s.Plans && seed-s.Seed <= 20*s.Plans && !t.Failed()
	}
	var wg sync.WaitGroup
	for _, e := range engines {
		c := c
		c.Engine = e
		wg.Go(func() {
			for at, more := next(); more; at, more = next() {
				n, err := c.try(draw.Example(at))
				if err != nil {
					t.Errorf("plan %d: %v", at, err)
				}
				mu.Lock()
				if n.runs > 0 {
					plans++
				} else {
					refused[n.refused]++
				}
				all.runs += n.runs
				all.matched += n.matched
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d plans, %d runs compared, %d of them with matches; refused: %v", plans, all.runs, all.matched, refused)
	if plans < s.Plans && !t.Failed() {
		t.Errorf("%d plans were compared, not %d", plans, s.Plans)
	}
}

// tally is what came of a trial.
type tally struct {
	runs, matched int    // that were compared, and of these with a match
	refused       string // why a graph's plan was not run
}

// try runs a trial. The matching order is that of the first graph, so that all
// graphs have the same plan.
func (c Config) try(x *trial) (n tally, err error) {
	for i, s := range x.graphs {
		g := s.Build()
		o := x.plan
		pl, err := c.Compile(g, x.pattern, o)
		switch {
		case err != nil && o.Method != "":
			n.refused = err.Error()
			continue
		case err != nil:
			return n, fmt.Errorf("compile: %w\n%s", err, describe(s, x.pattern, o))
		}
		if err := c.Engine.Check(g, pl, x.engine); err != nil {
			n.refused = err.Error()
			if i == 0 {
				return n, nil
			}
			continue
		}
		if i == 0 {
			x.plan.Order, x.plan.Given = "given", pl.Order
		}
		embeddings, err := c.comparePlan(g, pl, o, x.engine)
		if err != nil {
			return n, fmt.Errorf("graph %d: %w\n%s\nengine options %v", i, err, describe(s, x.pattern, o), x.engine)
		}
		n.runs++
		if embeddings > 0 {
			n.matched++
		}
	}
	return n, nil
}
