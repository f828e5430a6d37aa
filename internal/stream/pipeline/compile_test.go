package pipeline

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
)

// The kernels of this package are for GPUs too.
func TestCompilesForGPUs(t *testing.T) {
	for name, text := range map[string]string{"probe.cu": probeText, "pipeline.cu": searchText, "hash.cu": hashText + searchText, "blocks.cu": poolText} {
		t.Run(name, func(t *testing.T) { check.CompileCheck(t, cuda.Source{Name: name, Text: text}) })
	}
}
