package fine

import (
	"testing"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestPlanTail: a candidate graph closes levels by arithmetic, in an order of its own, unless
// the plan says that none is to be.
func TestPlanTail(t *testing.T) {
	ps, err := pattern.ByName("gmatch:P8")
	if err != nil {
		t.Fatal(err)
	}
	g := rungs().Build()
	for _, method := range []string{"nest", "large"} {
		for _, walked := range []bool{false, true} {
			p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method, NoTail: walked})
			if err != nil {
				t.Fatal(err)
			}
			q, err := queryOf(p, options{}, true, false)
			if err != nil || q.tail == walked {
				t.Errorf("%s, every level walked %v: levels may be closed: %v, %v", method, walked, q != nil && q.tail, err)
			}
		}
	}
}
