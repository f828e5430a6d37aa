package codegen_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/testing/faulty"
)

// TestTableFaults lets each call of a device fail in turn, while a nest makes hash tables and looks up
// in them. The run returns an error and no number, and leaves nothing on the device. The next run in the
// session, if the device still works, finds no incomplete table.
func TestTableFaults(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 7, M: 700, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, want := countedNest(t, g, "cycle(5)")
	count := func(s *session.Session) (engine.Result, error) {
		return engine.Once(t.Context(), codegen.New(s), g, p, engine.Options{Opt: map[string]string{"codegen.lookup": "hash"}}, engine.Goal{})
	}
	for what, fault := range faulty.Kinds() {
		t.Run(what, func(t *testing.T) {
			failed := 0
			for n := 1; n <= 40 && faulty.Count(t, fault(n), want, count) != nil; n++ {
				failed++
			}
			if failed < 2 { // the kernel that makes tables, and the search
				t.Errorf("%d calls failed", failed)
			}
		})
	}
}
