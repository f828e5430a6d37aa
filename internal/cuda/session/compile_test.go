package session_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// The kernels of these tests are themselves for GPUs.
func TestCompilesForGPUs(t *testing.T) {
	graph := kircuda.Text(newWorld(10, 2).program())
	for name, text := range map[string]string{"edges.cu": edgesText, "fault.cu": faultText, "overflow.cu": overflowText, "endless.cu": endlessText, "steal.cu": stealText} {
		t.Run(name, func(t *testing.T) { check.CompileCheck(t, cuda.Source{Name: name, Text: graph + text}) })
	}
}
