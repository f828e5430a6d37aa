package codegen_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
)

// TestLimitStopsCount: a count that is wanted up to a limit only ends there, long
// before all is searched.
func TestLimitStopsCount(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 60_000, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	qs, err := gql.ByName("clique(4)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, qs[0].Pattern, plan.Options{Root: 0})
	if err != nil {
		t.Fatal(err)
	}
	sum := func(e engine.Engine, limit int64) (engine.Result, uint64) {
		per := make([]engine.Uint128, g.NumVertices())
		r, err := engine.Once(t.Context(), e, g, p, engine.Options{Threads: 1}, engine.Goal{PerRoot: per, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		for _, x := range per {
			n += x.Lo
		}
		return r, n
	}
	_, all := sum(host.New(), 0)
	on(t, func(t *testing.T, e engine.Engine) {
		r, found := sum(e, 100)
		// A GPU is done before anybody could stop it.
		late := found > all/2 && !strings.HasPrefix(r.Device, "GPU")
		if r.Matches != engine.U64(100) || r.Complete || found < 100 || late {
			t.Errorf("%v matches, complete %v, after %d of %d", r.Matches, r.Complete, found, all)
		}
	})
}
