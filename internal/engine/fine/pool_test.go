package fine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestPoolOfHub: in a wheel, whose hub's list is many ranges of tasks, the
// breadth-first start finds as many partial matches of each level as the search
// does, whatever it begins with.
func TestPoolOfHub(t *testing.T) {
	const rim = 600
	var pairs [][2]uint32
	for v := uint32(1); v <= rim; v++ {
		pairs = append(pairs, [2]uint32{0, v}, [2]uint32{v, v%rim + 1})
	}
	g := graph.FromEdges(rim+1, pairs, false)
	ps, err := pattern.ByName("diamond")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot, NoTail: true, Order: "ri"})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		var want []engine.LevelStat
		for _, pool := range []string{"0", "700", "1500", "1000000"} {
			r, err := engine.Once(t.Context(), e, g, p, engine.Options{Levels: true, Opt: map[string]string{"fine.pool": pool}}, engine.Goal{})
			if err != nil || r.Matches != engine.U64(rim) || !r.Complete {
				t.Fatalf("a pool of %s: %v matches, complete %v, %v", pool, r.Matches, r.Complete, err)
			}
			if begun := strings.Contains(fmt.Sprint(r.Stats), "a pool of"); begun != (pool != "0") {
				t.Errorf("a pool of %s: %v", pool, r.Stats)
			}
			if want == nil {
				want = r.Levels
			}
			for l := range want {
				if r.Levels[l].Matches != want[l].Matches {
					t.Errorf("a pool of %s: %v partial matches at level %d, without one %v", pool, r.Levels[l].Matches, l, want[l].Matches)
				}
			}
		}
	})
}
