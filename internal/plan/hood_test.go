package plan_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestHood: what plans for the local method ask of neighbourhoods, before and after their
// restrictions are turned round.
func TestHood(t *testing.T) {
	g := graph.FromEdges(5, [][2]uint32{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {3, 4}}, false)
	for _, c := range []struct {
		pattern  string
		outside  bool
		share    int
		sizes    bool
		universe plan.Side
	}{
		{"clique(4)", false, 0, false, plan.LowerSide},
		{"cycle(4)", true, 2, true, plan.LowerSide},
		{"gmatch:P2", false, 0, false, plan.LowerSide},
	} {
		ps, err := pattern.ByName(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		h := p.Hood(len(p.Levels) - p.Tail.K)
		if h.Outside != c.outside || h.Share != c.share || h.SizesOnly != c.sizes || h.Universe != c.universe {
			t.Errorf("%s: %+v", c.pattern, h)
		}
		if turned := p.Turned().Hood(len(p.Levels) - p.Tail.K); turned.Universe != plan.UpperSide || turned.SizesOnly != h.SizesOnly {
			t.Errorf("%s turned: %+v", c.pattern, turned)
		}
		walked := p.Hood(len(p.Levels))
		if walked.SizesOnly {
			t.Errorf("%s, every level walked: %+v", c.pattern, walked)
		}
	}
}
