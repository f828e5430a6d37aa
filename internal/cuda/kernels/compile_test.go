package kernels_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
)

// The kernels of these tests are themselves for GPUs.
func TestCompilesForGPUs(t *testing.T) {
	for name, text := range map[string]string{"primitives.cu": primitives, "setops.cu": setopsText, "measure.cu": measureText, "joinlists.cu": joinListsText, "measurelists.cu": measureListsText, "joinfilter.cu": joinFilterText} {
		t.Run(name, func(t *testing.T) { check.CompileCheck(t, cuda.Source{Name: name, Text: text}) })
	}
}
