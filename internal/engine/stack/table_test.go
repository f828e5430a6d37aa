package stack_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// suited are patterns of which most can be a table: without conditions over several vertices, and some with.
func suited(s *nodiff.Spec, most int) *rapid.Generator[*pattern.Pattern] {
	return rapid.OneOf(nodiff.Loose(s, most), nodiff.Labelled(s, most), nodiff.Patterns(s, most))
}

// TestTable runs random plans as tables, with and without memory for all sets, and
// compares them with the oracle.
func TestTable(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		e.opt = map[string]string{"stack.program": "table"}
		nodiff.Check(t, nodiff.Config{
			Engine: e, Compile: nestPlan, MaxVertices: 12, Patterns: suited,
			Opt: map[string]string{"stack.slot": "2", "stack.unroll": "1", "stack.roots": "edge"},
		})
	})
}
