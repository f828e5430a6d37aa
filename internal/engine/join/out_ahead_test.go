package join_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestOutOfCoreAhead: where passes read relations in turns, the first segment of a pass is on its way before it begins, and the count is right.
func TestOutOfCoreAhead(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 200, M: 4000, Directed: true, EdgeLabels: 3, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	early := regexp.MustCompile(`join: [1-9][0-9]* segments were on their way before`)
	engines.WithSession(t, session.Options{Memory: 64 << 10, Ring: 1 << 16}, func(s *session.Session) {
		for _, text := range []string{"MATCH (a)-[:0]->(b)-[:1]->(c), (a)-[:2]->(c)", "MATCH (a)-[:0]->(b)-[:0]->(c)"} {
			q, err := gql.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "gsi"})
			if err != nil {
				t.Fatal(err)
			}
			right, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil || right.Matches.IsZero() {
				t.Fatal(right.Matches, err)
			}
			o := engine.Options{Opt: map[string]string{"join.segments": "4", "join.held": "2", "join.batch": "200", "join.filter": "off"}}
			got, err := engine.Once(t.Context(), join.NewGPU(s), g, p, o, engine.Goal{})
			stats := strings.Join(got.Stats, "\n")
			if err != nil || got.Matches != right.Matches || !early.MatchString(stats) {
				t.Errorf("%s: %v matches, want %v: %v\n%s", text, got.Matches, right.Matches, err, stats)
			}
		}
	}, device.Emulated(t, emu.Options{Seed: device.Seed()}))
}
