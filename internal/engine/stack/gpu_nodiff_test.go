package stack_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestGPUNoDiff compares with the oracle as TestNoDiff does, at length where a GPU
// is required, and both schedules: about half of the patterns are for the local
// one.
func TestGPUNoDiff(t *testing.T) {
	opt := map[string]string{"stack.local.classes": "512", "stack.local.table": "3"}
	for k, v := range switches {
		opt[k] = v
	}
	patterns := func(s *nodiff.Spec, most int) *rapid.Generator[*pattern.Pattern] {
		return rapid.OneOf(nodiff.Patterns(s, most), nodiff.Hubs(s, most))
	}
	c := nodiff.Config{Compile: localPlan, Patterns: patterns, MaxVertices: 12, Opt: opt, Techniques: []nodiff.Technique{nodiff.Local, nodiff.LocalOutside}}
	nodiff.OnDevices(t, c, func(s *session.Session) engine.Engine {
		if s.Devices()[0].Emulated {
			return tiny{Engine: stack.New(s)}
		}
		return stack.New(s)
	})
}
