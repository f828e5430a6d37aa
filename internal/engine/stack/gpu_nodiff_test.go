package stack_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestGPUNoDiff compares with the oracle as TestNoDiff does, at length where a GPU
// is required.
func TestGPUNoDiff(t *testing.T) {
	c := nodiff.Config{Compile: nestPlan, MaxVertices: 12, Opt: switches}
	nodiff.OnDevices(t, c, func(s *session.Session) engine.Engine {
		if s.Devices()[0].Emulated {
			return tiny{Engine: stack.New(s)}
		}
		return stack.New(s)
	})
}
