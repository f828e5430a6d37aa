package census

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/kir"
)

// TestCensusCompilesForGPUs compiles all kernels.
func TestCensusCompilesForGPUs(t *testing.T) {
	j := job(5, false, &kir.Program{})
	src := j.Source
	for _, text := range j.Parts {
		src.Text += text
	}
	check.CompileCheck(t, src)
}
