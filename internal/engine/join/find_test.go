package join

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestOperations: naive set operations give the sets of those by size.
func TestOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 200 {
		var sets [2][]uint32
		for i := range sets {
			for v := range uint32(1 + r.IntN(200)) {
				if r.IntN(1+r.IntN(9)) == 0 {
					sets[i] = append(sets[i], v)
				}
			}
		}
		var got [2][]uint32
		var sizes [2]int
		for naive := range got {
			o := operations{naive == 1}
			both, without := make([]uint32, len(sets[0])+16), make([]uint32, len(sets[0])+16)
			n, m := o.both(both, sets[0], sets[1]), o.without(without, sets[0], sets[1])
			if n+m != len(sets[0]) {
				t.Fatalf("%+v: %d of %d elements are in both sets, and %d in the first alone", o, n, len(sets[0]), m)
			}
			got[naive], sizes[naive] = slices.Concat(both[:n], without[:m]), o.common(sets[0], sets[1])
		}
		if !slices.Equal(got[0], got[1]) || sizes[0] != sizes[1] {
			t.Fatalf("%v and %v: by size %v and %d, naive %v and %d", sets[0], sets[1], got[0], sizes[0], got[1], sizes[1])
		}
	}
}

// TestSetsOption: join.sets chooses the operations of a run.
func TestSetsOption(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 30, M: 90, Seed: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := pattern.Named("triangle", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q[0], plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	for how, naive := range map[string]bool{"size": false, "naive": true} {
		x, err := New().Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"join.sets": how}})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorker(newSearch(x.(*prepared), engine.Goal{}), 0)
		if w.naive != naive {
			t.Errorf("join.sets=%s: naive operations: %v", how, w.naive)
		}
	}
}
