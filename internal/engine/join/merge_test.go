package join_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// sparse draws patterns of up to nine vertices with few labels: trees with some further edges, some of them directed or excluded. Rows of theirs
// become equal, and vertices with equal labels bar each other.
func sparse(s *nodiff.Spec, _ int) *rapid.Generator[*pattern.Pattern] {
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		n := rapid.IntRange(4, 9).Draw(t, "vertices")
		label := rapid.SampledFrom([]string{"", "", ":A", ":B"})
		arrow := rapid.SampledFrom([]string{"-->", "<--", "--", "--"})
		name := func(v int) string { return fmt.Sprintf("v%d", v) }
		parts := []string{"(v0" + label.Draw(t, "label") + ")"}
		for v := 1; v < n; v++ {
			to := rapid.IntRange(max(0, v-3), v-1).Draw(t, "neighbour")
			parts = append(parts, "("+name(to)+")"+arrow.Draw(t, "arrow")+"("+name(v)+label.Draw(t, "label")+")")
		}
		for range rapid.IntRange(0, 2).Draw(t, "further") {
			u := rapid.IntRange(0, n-2).Draw(t, "u")
			parts = append(parts, "("+name(u)+")"+arrow.Draw(t, "arrow")+"("+name(rapid.IntRange(u+1, n-1).Draw(t, "v"))+")")
		}
		mode := rapid.SampledFrom([]string{"", "", "REPEATABLE ELEMENTS ", "INDUCED "}).Draw(t, "mode")
		q, err := gql.Parse("MATCH " + mode + strings.Join(parts, ", "))
		if err != nil {
			t.Fatal(err)
		}
		return q.Pattern
	})
}

// merging is the technique: each phase but the first and the last may have a merge behind it.
func merging() nodiff.Technique {
	x := nodiff.Technique{MaxPattern: 9, Columns: func(w *nodiff.Columns) { w.Labels = true }, Patterns: sparse}
	return x.With("merges", "join.merge", "on").Said("merge")
}

// TestMergeNoDiff: counts by weights of merged rows, in tables that are full and others, against the oracle.
func TestMergeNoDiff(t *testing.T) {
	c := config()
	c.Opt = map[string]string{"join.extend": "multi|single", "join.batch": "1|3", "join.filter": "off"}
	c.Techniques = []nodiff.Technique{merging()}
	nodiff.Check(t, c)
}

// TestGPUMergeNoDiff is the same on devices.
func TestGPUMergeNoDiff(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Opt = map[string]string{"join.extend": "multi|single", "join.batch": "3|50", "join.filter": "off"}
		c.Techniques = []nodiff.Technique{merging()}
		compare(t, c, e, nodiff.Suite{Plans: 200, Graphs: 4}, nodiff.Suite{Plans: 30, Graphs: 2})
	})
}

var _ = join.Name
