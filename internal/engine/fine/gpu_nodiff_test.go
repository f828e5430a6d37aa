package fine_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestGPUNoDiff compares with the oracle as TestAgreesWithOracle does, at length
// where a GPU is required.
func TestGPUNoDiff(t *testing.T) {
	c := nodiff.Config{Compile: nest, MaxVertices: 12, Opt: map[string]string{
		"fine.batch": "off", "fine.tail": "off", "fine.steal": "block|off", "fine.pool": "8|0", "fine.prune": "on",
		"fine.index": "bitmap|hash|none", "fine.lookup": "hash|search", "fine.siblings": "off|on",
	}}
	nodiff.OnDevices(t, c, func(s *session.Session) engine.Engine { return fine.New(s) })
}
