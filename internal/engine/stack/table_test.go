package stack_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestTable runs random plans as tables, with and without memory for all sets, and
// compares them with the oracle.
func TestTable(t *testing.T) {
	onDevice(t, func(t *testing.T, e tiny) {
		e.opt = map[string]string{"stack.program": "table"}
		nodiff.Check(t, nodiff.Config{
			Engine: e, Compile: nestPlan, MaxVertices: 12,
			Opt: map[string]string{"stack.slot": "2", "stack.unroll": "1", "stack.roots": "edge", "stack.code-motion": "off"},
		})
	})
}
