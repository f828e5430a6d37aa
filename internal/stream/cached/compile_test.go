package cached

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
)

// The kernel of this package is for GPUs too.
func TestCompilesForGPUs(t *testing.T) {
	check.CompileCheck(t, cuda.Source{Name: "nest.cu", Text: searchText})
}
