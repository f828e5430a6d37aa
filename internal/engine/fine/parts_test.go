package fine_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestParts compares plans over relations in parts with the oracle.
func TestParts(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for _, l := range parts.Layouts {
			x := &parts.Trial{Layout: l}
			x.Compare(t, nodiff.Config{Compile: nest, MaxVertices: 9, Opt: map[string]string{
				"fine.batch": "off", "fine.steal": "block", "fine.pool": "8", "fine.lookup": "hash|search", "fine.prune": "on", "fine.siblings": "off|on",
			}}, parts.Few(3), hashed(e))
		}
	})
}

// TestSparse compares plans over sparse lists with the oracle.
func TestSparse(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		x := &parts.Trial{Layout: parts.Sparse}
		x.Compare(t, nodiff.Config{Compile: parts.Short(nest), MaxVertices: 9, Opt: map[string]string{
			"fine.pool": "8", "fine.index": "bitmap|hash", "fine.lookup": "bits|hash|search", "fine.prune": "on", "fine.siblings": "off|on", "gpu.adjacency": "host|cached", gpu.Offsets: "on",
		}}, parts.Few(3), hashed(e))
	})
}
