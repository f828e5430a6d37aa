package codegen_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestParts compares plans over relations in parts, and over sparse ones, with the oracle.
func TestParts(t *testing.T) {
	on(t, func(t *testing.T, e engine.Engine) {
		layouts := parts.Layouts
		if long.Asked() {
			layouts = append(layouts, parts.Sparse) // whose lists this engine reads as dense ones
		}
		for _, l := range layouts {
			x := &parts.Trial{Layout: l}
			x.Compare(t, nodiff.Config{Compile: nest, MaxVertices: 9, Opt: lookups}, parts.Few(3), hashed(e))
		}
	})
}

// TestCPUParts is TestParts on the processor, where sparse lists are read as they are.
func TestCPUParts(t *testing.T) {
	onCPU(t)
	for _, l := range append(slices.Clone(parts.Layouts), parts.Sparse) {
		x := &parts.Trial{Layout: l}
		x.Compare(t, nodiff.Config{Compile: nest, MaxVertices: 12}, parts.Few(3), codegen.CPU{})
	}
}
